/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * CUDA's driver ABI, as far as PI uses it: types, numbers and entry points, complete without the CUDA toolkit.
 * It is written from facts of the ABI, with the ABI's names, so that the vendor's documentation serves it.
 * In C++ all of it is in namespace pi::cuda, so that <cuda.h> may be included in the same file.
 *
 *     driver_codes.def      enumerations: results, attributes, flags
 *     driver_types.h        handles and structs
 *     driver_functions.def  every entry point: symbol, version, need, parameters
 *
 * The library is opened at run time and each symbol looked up, by dlsym or by cuGetProcAddress_v2:
 *
 *     pi_cuda_functions driver;                      // null pointers at first
 *     for each row of pi_cuda_entries:
 *         void *address = dlsym(library, row.symbol); // a NEEDED one that is missing: no driver for PI
 *         memcpy((char *)&driver + row.offset, &address, sizeof address);
 *     driver.cuInit(0);
 *
 * Nothing here is thread-bound. The rules of each call are those of CUDA's driver API.
 */
#ifndef PI_CUDA_DRIVER_API_H
#define PI_CUDA_DRIVER_API_H

#include <pi/cuda/driver_types.h>

#ifdef __cplusplus
namespace pi {
namespace cuda {
#endif

/* The type of each entry point: cuMemAlloc_v2_fn is a pointer to what the symbol cuMemAlloc_v2 is. */
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    typedef CUresult(*symbol##_fn) parameters;
#include <pi/cuda/driver_functions.def>

/* All of them, by symbol. A null pointer is an entry point that the driver does not have. */
typedef struct pi_cuda_functions {
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters) symbol##_fn symbol;
#include <pi/cuda/driver_functions.def>
} pi_cuda_functions;

/* A row of the list at run time. */
typedef struct pi_cuda_entry {
    const char *name;   /* for cuGetProcAddress_v2, with `since` as the version */
    const char *symbol; /* for dlsym */
    int since;          /* 1000 * major + 10 * minor */
    int needed;         /* 1: a driver without it is of no use to PI */
    size_t offset;      /* of the pointer in pi_cuda_functions */
} pi_cuda_entry;

static const pi_cuda_entry pi_cuda_entries[] = {
#define PI_CUDA_NEEDED 1
#define PI_CUDA_OPTIONAL 0
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    {#name, #symbol, since, PI_CUDA_##need, offsetof(pi_cuda_functions, symbol)},
#include <pi/cuda/driver_functions.def>
#undef PI_CUDA_NEEDED
#undef PI_CUDA_OPTIONAL
};

/* The stream handles that are no stream: each context's legacy default stream, which null means, too, and the
 * calling thread's own default stream in the current context. */
#define PI_CUDA_STREAM_LEGACY ((CUstream)1)
#define PI_CUDA_STREAM_PER_THREAD ((CUstream)2)

/* The device "host" of cuMemAdvise and cuMemPrefetchAsync, and the device that none is. */
#define PI_CUDA_DEVICE_CPU ((CUdevice)-1)
#define PI_CUDA_DEVICE_INVALID ((CUdevice)-2)

#ifdef __cplusplus
} /* namespace cuda */
} /* namespace pi */
#endif

#endif
