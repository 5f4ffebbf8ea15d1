/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A native library with one kernel: data[i] = data[i] * factor. */
#include <pi/pi_native_kernel.h>

static void PI_CALL scale(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    const uint32_t factor = *(const uint32_t *)arguments[1];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] *= factor;
}

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const pi_native_kernel kernels[] = {{"scale", scale, 2, 0}};
    static const pi_native_program program = {sizeof program, 1, kernels};
    return &program;
}
