/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The program with variables (tests/globals.hpp) as a native library. */
#include <pi/pi_native_kernel.h>

enum { table_size = 1024 };

PI_EXPORT uint32_t table[table_size] = {11, 22, 33, 44};
PI_EXPORT uint32_t second_table[table_size] = {0};
PI_EXPORT const uint32_t fixed[4] = {5, 6, 7, 8};
/* Written once, while the library is loaded. */
PI_EXPORT const uint32_t *const fixed_address = fixed;

static void PI_CALL load_table(const pi_native_group *group, void *const *arguments) {
    uint32_t *data = (uint32_t *)arguments[0];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        data[i] = table[i];
}

static void PI_CALL store_table(const pi_native_group *group, void *const *arguments) {
    const uint32_t *data = (const uint32_t *)arguments[0];
    uint64_t i;
    for (i = group->begin[0]; i < group->end[0]; ++i)
        table[i] = data[i];
}

const pi_native_program *PI_CALL piNativeProgram(void) {
    static const pi_native_kernel kernels[] = {{"load_table", load_table, 1, 0},
                                               {"store_table", store_table, 1, 0}};
    static const pi_native_program program = {sizeof program, 2, kernels};
    return &program;
}
