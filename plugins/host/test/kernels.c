/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A native library: data[i] = data[i] * factor, or * table[i % 4], its variable, or a pixel of 4
 * bytes plus the sampler's filter. */
#include <pi/pi_native_kernel.h>

PI_EXPORT uint32_t table[4] = {1, 2, 3, 4};
PI_EXPORT const uint32_t version[1] = {7};

static void PI_CALL scale(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    const uint32_t factor = *(const uint32_t *)arguments[1];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] *= factor;
}

static void PI_CALL scale_by_table(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] *= table[i % 4];
}

static void PI_CALL read_pixels(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    const pi_native_image *image = (const pi_native_image *)arguments[1];
    const pi_native_sampler *sampler = (const pi_native_sampler *)arguments[2];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] = ((const uint32_t *)image->data)[i] + sampler->filter;
}

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const pi_native_kernel kernels[] = {{"scale", scale, 2, 0},
                                               {"scale_by_table", scale_by_table, 1, 0},
                                               {"read_pixels", read_pixels, 3, 0}};
    static const pi_native_program program = {sizeof program, 3, kernels};
    return &program;
}
