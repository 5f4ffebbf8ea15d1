/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The tests' interface to the library of refusing_driver.c. */
#pragma once

#include <pi/pi.h>

#include <stddef.h>
#include <stdint.h>

struct pi_refusals {
    int copy;        /* the how manieth cuMemcpyAsync from now on is refused; 0: none */
    int contexts;    /* no primary context is to be had */
    int pools;       /* memory pools that there are */
    int copies;      /* calls of the copies below */
    int fills;       /* and of the fills */
    int code;        /* with which a copy is refused; 0: CUDA_ERROR_OUT_OF_MEMORY */
    unsigned shared; /* bytes of dynamic shared memory that the last launch asked for */
};
extern PI_EXPORT struct pi_refusals pi_refusing_driver;

PI_EXPORT int cuMemcpyAsync(uint64_t dst, uint64_t src, size_t size, void *stream);
PI_EXPORT int cuMemcpy3DAsync_v2(const void *copy, void *stream);
PI_EXPORT int cuMemsetD2D32Async(uint64_t dst, size_t pitch, unsigned value, size_t width,
                                 size_t height, void *stream);
PI_EXPORT int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                             unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                             void *stream, void **parameters, void **extra);
PI_EXPORT int cuDevicePrimaryCtxRetain(void **context, int device);
PI_EXPORT int cuMemPoolCreate(void **pool, const void *properties);
PI_EXPORT int cuMemPoolDestroy(void *pool);
