/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The simulated driver, with calls that can be refused. Other entry points are found in it, since
 * this library is linked with it. */
#include "refusing_driver.h"

#include <dlfcn.h>
#include <stdint.h>

#define CUDA_ERROR_OUT_OF_MEMORY 2
#define CUDA_ERROR_DEVICE_UNAVAILABLE 46

struct pi_refusals pi_refusing_driver;

int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t size, void *stream) {
    int (*next)(uint64_t, uint64_t, size_t, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "cuMemcpyAsync");
    ++pi_refusing_driver.copies;
    if (pi_refusing_driver.copy && --pi_refusing_driver.copy == 0)
        return pi_refusing_driver.code ? pi_refusing_driver.code : CUDA_ERROR_OUT_OF_MEMORY;
    return next(dst, src, size, stream);
}

int cuMemcpy3DAsync_v2(const void *copy, void *stream) {
    int (*next)(const void *, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "cuMemcpy3DAsync_v2");
    ++pi_refusing_driver.copies;
    return next(copy, stream);
}

int cuMemsetD2D32Async(uint64_t dst, size_t pitch, unsigned value, size_t width, size_t height,
                       void *stream) {
    int (*next)(uint64_t, size_t, unsigned, size_t, size_t, void *);
    *(void **)&next = dlsym(RTLD_NEXT, "cuMemsetD2D32Async");
    ++pi_refusing_driver.fills;
    return next(dst, pitch, value, width, height, stream);
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **parameters, void **extra) {
    int (*next)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                void *, void **, void **);
    *(void **)&next = dlsym(RTLD_NEXT, "cuLaunchKernel");
    pi_refusing_driver.shared = shared;
    return next(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                parameters, extra);
}

int cuDevicePrimaryCtxRetain(void **context, int device) {
    int (*next)(void **, int);
    *(void **)&next = dlsym(RTLD_NEXT, "cuDevicePrimaryCtxRetain");
    return pi_refusing_driver.contexts ? CUDA_ERROR_DEVICE_UNAVAILABLE : next(context, device);
}

int cuMemPoolCreate(void **pool, const void *properties) {
    int (*next)(void **, const void *);
    *(void **)&next = dlsym(RTLD_NEXT, "cuMemPoolCreate");
    const int code = next(pool, properties);
    pi_refusing_driver.pools += code == 0;
    return code;
}

int cuMemPoolDestroy(void *pool) {
    int (*next)(void *);
    *(void **)&next = dlsym(RTLD_NEXT, "cuMemPoolDestroy");
    --pi_refusing_driver.pools;
    return next(pool);
}
