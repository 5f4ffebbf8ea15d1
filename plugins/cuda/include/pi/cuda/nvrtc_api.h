/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of NVRTC's ABI that PI uses, complete without the CUDA toolkit. NVRTC is CUDA's compiler
 * for C++ source. The header is written from facts of the ABI and uses the ABI's names, so the
 * vendor's documentation applies. In C++ everything is in namespace pi::cuda, so that <nvrtc.h> may
 * be included in the same file.
 *
 * The library is opened at run time, and each symbol is looked up by name, as in driver_api.h. All
 * functions may be called from any thread, but only from one thread at a time for the same program.
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

/* PI_NVRTC_FUNCTION(need, result, name, parameters): PI cannot use a library without the NEEDED
 * functions; the OPTIONAL ones exist since CUDA 11.2. */
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

/* All functions, by name. A null pointer means that the library does not have the function. */
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
