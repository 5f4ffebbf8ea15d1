/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A kernel that does nothing, for simulated devices of CUDA and Level Zero.
 */
#include <pi/pi_native_kernel.h>

static void PI_CALL nothing(const pi_native_group *group, void *const *arguments) {
    (void)group;
    (void)arguments;
}

static const pi_native_kernel kernels[] = {{"nothing", nothing, 2, 0}};
static const pi_native_program program = {sizeof program, 1, kernels};

const pi_native_program *PI_CALL piNativeProgram(void) {
    return &program;
}
