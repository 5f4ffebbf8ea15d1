/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The part of CUDA's driver ABI that PI uses: types, numbers and entry points, complete without the
 * CUDA toolkit. It is written from facts of the ABI and uses the ABI's names, so the vendor's
 * documentation applies. In C++ everything is in namespace pi::cuda, so that <cuda.h> may be
 * included in the same file.
 *
 *     driver_codes.def      enumerations: results, attributes, flags
 *     driver_types.h        handles and structs
 *     driver_functions.def  every entry point: symbol, version, need, parameters
 *
 * The library is opened at run time. Each symbol is looked up by dlsym or cuGetProcAddress_v2:
 *
 *     pi_cuda_functions driver; // null pointers at first
 *     for each row of pi_cuda_entries:
 *         // if a NEEDED symbol is missing, PI cannot use the driver
 *         void *address = dlsym(library, row.symbol);
 *         memcpy((char *)&driver + row.offset, &address, sizeof address);
 *     driver.cuInit(0);
 *
 * Nothing here is bound to a thread. Each call follows the rules of CUDA's driver API.
 */
#ifndef PI_CUDA_DRIVER_API_H
#define PI_CUDA_DRIVER_API_H

#include <pi/cuda/driver_types.h>

#ifdef __cplusplus
namespace pi {
namespace cuda {
#endif

/* The type of each entry point: cuMemAlloc_v2_fn is a pointer to a function like cuMemAlloc_v2. */
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    typedef CUresult(*symbol##_fn) parameters;
#include <pi/cuda/driver_functions.def>

/* All entry points, by symbol. A null pointer means that the driver does not have the entry
 * point. */
typedef struct pi_cuda_functions {
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters) symbol##_fn symbol;
#include <pi/cuda/driver_functions.def>
} pi_cuda_functions;

/* A row of the list of entry points, at run time. */
typedef struct pi_cuda_entry {
    const char *name;   /* for cuGetProcAddress_v2, with `since` as the version */
    const char *symbol; /* for dlsym */
    int since;          /* 1000 * major + 10 * minor */
    int needed;         /* 1: PI cannot use a driver without it */
    size_t offset;      /* of the pointer in pi_cuda_functions, in bytes */
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

/* Special stream handles: each context's legacy default stream (null means it, too), and the
 * calling thread's own default stream in the current context. */
#define PI_CUDA_STREAM_LEGACY ((CUstream)1)
#define PI_CUDA_STREAM_PER_THREAD ((CUstream)2)

/* The device "host" of cuMemAdvise and cuMemPrefetchAsync, and an invalid device. */
#define PI_CUDA_DEVICE_CPU ((CUdevice)-1)
#define PI_CUDA_DEVICE_INVALID ((CUdevice)-2)

#ifdef __cplusplus
} /* namespace cuda */
} /* namespace pi */
#endif

#endif
