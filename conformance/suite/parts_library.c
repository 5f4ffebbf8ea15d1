/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program in two parts (part_texts.hpp) as a native library; each part has its own copy. */
#include <pi/pi_native_kernel.h>

#include <stddef.h>

PI_EXPORT uint32_t factor = 0;
PI_EXPORT uint32_t changed(uint32_t value);
uint32_t changed(uint32_t value) {
    return value * factor + 1;
}

PI_EXPORT uint32_t (*call_changed)(uint32_t value) = NULL;
static void PI_CALL change(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] = call_changed(data[i]);
}

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const pi_native_kernel kernels[] = {{"change", change, 1, 0}};
    static const pi_native_program program = {sizeof program, 1, kernels};
    return &program;
}
