/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The ABI of NVRTC, CUDA's compiler for C++ source, as far as PI uses it, complete without the CUDA toolkit.
 * It is written from facts of the ABI, with the ABI's names, so that the vendor's documentation serves it.
 * In C++ all of it is in namespace pi::cuda, so that <nvrtc.h> may be included in the same file.
 *
 * The library is opened at run time and each symbol looked up by its name, as driver_api.h has it. All functions may
 * be called from any thread; of one program from one at a time.
 */
#ifndef PI_CUDA_NVRTC_API_H
#define PI_CUDA_NVRTC_API_H

#include <stddef.h>

#ifdef __cplusplus
namespace pi {
namespace cuda {
#endif

typedef struct _nvrtcProgram *nvrtcProgram;

typedef enum nvrtcResult {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVRTC_ERROR_INVALID_INPUT = 3,
    NVRTC_ERROR_INVALID_PROGRAM = 4,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_INTERNAL_ERROR = 11
} nvrtcResult;

/* PI_NVRTC_FUNCTION(need, result, name, parameters): NEEDED, without which a library is of no use to PI, or OPTIONAL,
 * which came with CUDA 11.2. */
#define PI_NVRTC_FUNCTIONS(PI_NVRTC_FUNCTION)                                                      \
    PI_NVRTC_FUNCTION(NEEDED, const char *, nvrtcGetErrorString, (nvrtcResult))                    \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcVersion, (int *, int *))                           \
    PI_NVRTC_FUNCTION(OPTIONAL, nvrtcResult, nvrtcGetNumSupportedArchs, (int *))                   \
    PI_NVRTC_FUNCTION(OPTIONAL, nvrtcResult, nvrtcGetSupportedArchs, (int *))                      \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcCreateProgram,                                     \
                      (nvrtcProgram *, const char *, const char *, int, const char *const *,       \
                       const char *const *))                                                       \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram *))                  \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcCompileProgram,                                    \
                      (nvrtcProgram, int, const char *const *))                                    \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram, size_t *))              \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcGetPTX, (nvrtcProgram, char *))                    \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram, size_t *))       \
    PI_NVRTC_FUNCTION(NEEDED, nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram, char *))

/* All of them, by name. A null pointer is a function that the library does not have. */
typedef struct pi_nvrtc_functions {
#define PI_NVRTC_MEMBER(need, result, name, parameters) result(*name) parameters;
    PI_NVRTC_FUNCTIONS(PI_NVRTC_MEMBER)
#undef PI_NVRTC_MEMBER
} pi_nvrtc_functions;

#ifdef __cplusplus
} /* namespace cuda */
} /* namespace pi */
#endif

#endif
