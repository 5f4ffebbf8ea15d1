/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of NVML's ABI that PI uses, complete without the CUDA toolkit. NVML comes with the
 * driver and describes links and slots. The header is written from facts of the ABI and uses the
 * ABI's names, so the vendor's documentation (https://docs.nvidia.com/deploy/nvml-api) applies. In
 * C++ everything is in namespace pi::cuda, so that <nvml.h> may be included in the same file.
 *
 * The library is opened at run time, and each symbol is looked up by name. All functions may be
 * called from any thread.
 */
#ifndef PI_CUDA_NVML_API_H
#define PI_CUDA_NVML_API_H

#ifdef __cplusplus
namespace pi {
namespace cuda {
#endif

typedef struct nvmlDevice_st *nvmlDevice_t;

typedef enum nvmlReturn_t {
    NVML_SUCCESS = 0,
    NVML_ERROR_UNINITIALIZED = 1,
    NVML_ERROR_INVALID_ARGUMENT = 2,
    NVML_ERROR_NOT_SUPPORTED = 3,
    NVML_ERROR_NOT_FOUND = 6,
    NVML_ERROR_DRIVER_NOT_LOADED = 9
} nvmlReturn_t;

typedef enum nvmlEnableState_t {
    NVML_FEATURE_DISABLED = 0,
    NVML_FEATURE_ENABLED = 1
} nvmlEnableState_t;

/* The device at the other end of an NVLink. */
typedef enum nvmlIntNvLinkDeviceType_t {
    NVML_NVLINK_DEVICE_TYPE_GPU = 0,
    NVML_NVLINK_DEVICE_TYPE_IBMNPU = 1,
    NVML_NVLINK_DEVICE_TYPE_SWITCH = 2,
    NVML_NVLINK_DEVICE_TYPE_UNKNOWN = 255
} nvmlIntNvLinkDeviceType_t;

typedef enum nvmlGpuP2PCapsIndex_t { NVML_P2P_CAPS_INDEX_NVLINK = 2 } nvmlGpuP2PCapsIndex_t;
typedef enum nvmlGpuP2PStatus_t {
    NVML_P2P_STATUS_OK = 0,
    NVML_P2P_STATUS_NOT_SUPPORTED = 5
} nvmlGpuP2PStatus_t;

typedef enum nvmlValueType_t { NVML_VALUE_TYPE_UNSIGNED_INT = 1 } nvmlValueType_t;

enum {
    NVML_NVLINK_MAX_LINKS = 18,
    /* Of each active link, in one direction: 10^6 bytes per second. */
    NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON = 90
};

typedef struct nvmlPciInfo_t {
    char busIdLegacy[16];
    unsigned int domain, bus, device;
    unsigned int pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

typedef union nvmlValue_t {
    double dVal;
    int siVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
} nvmlValue_t;

typedef struct nvmlFieldValue_t {
    unsigned int fieldId, scopeId; /* the query */
    long long timestamp, latencyUsec;
    nvmlValueType_t valueType;
    nvmlReturn_t nvmlReturn; /* of this value */
    nvmlValue_t value;
} nvmlFieldValue_t;

/* PI_NVML_FUNCTION(need, result, name, parameters): PI cannot use a library without the NEEDED
 * functions; some drivers lack the OPTIONAL ones. */
#define PI_NVML_FUNCTIONS(PI_NVML_FUNCTION)                                                        \
    PI_NVML_FUNCTION(NEEDED, nvmlReturn_t, nvmlInit_v2, (void))                                    \
    PI_NVML_FUNCTION(NEEDED, nvmlReturn_t, nvmlShutdown, (void))                                   \
    PI_NVML_FUNCTION(NEEDED, const char *, nvmlErrorString, (nvmlReturn_t))                        \
    PI_NVML_FUNCTION(NEEDED, nvmlReturn_t, nvmlDeviceGetHandleByPciBusId_v2,                       \
                     (const char *, nvmlDevice_t *))                                               \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetMaxPcieLinkGeneration,                   \
                     (nvmlDevice_t, unsigned int *))                                               \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetMaxPcieLinkWidth,                        \
                     (nvmlDevice_t, unsigned int *))                                               \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetP2PStatus,                               \
                     (nvmlDevice_t, nvmlDevice_t, nvmlGpuP2PCapsIndex_t, nvmlGpuP2PStatus_t *))    \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetNvLinkState,                             \
                     (nvmlDevice_t, unsigned int, nvmlEnableState_t *))                            \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetNvLinkRemoteDeviceType,                  \
                     (nvmlDevice_t, unsigned int, nvmlIntNvLinkDeviceType_t *))                    \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetNvLinkRemotePciInfo_v2,                  \
                     (nvmlDevice_t, unsigned int, nvmlPciInfo_t *))                                \
    PI_NVML_FUNCTION(OPTIONAL, nvmlReturn_t, nvmlDeviceGetFieldValues,                             \
                     (nvmlDevice_t, int, nvmlFieldValue_t *))

/* All functions, by name. A null pointer means that the library does not have the function. */
typedef struct pi_nvml_functions {
#define PI_NVML_MEMBER(need, result, name, parameters) result(*name) parameters;
    PI_NVML_FUNCTIONS(PI_NVML_MEMBER)
#undef PI_NVML_MEMBER
} pi_nvml_functions;

#ifdef __cplusplus
} /* namespace cuda */
} /* namespace pi */
#endif

#endif
