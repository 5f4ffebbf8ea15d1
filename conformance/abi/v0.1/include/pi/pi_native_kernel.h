/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels as native functions: what PI_PROGRAM_FORMAT_NATIVE_TABLE and _NATIVE_LIBRARY hold. The host
 * plugin runs them on the CPU; simulated devices use the same form.
 *
 * A native kernel is called once for each work-group and loops over its work-items itself:
 *
 *     void scale(const pi_native_group *group, void *const *arguments) {
 *         float *data = arguments[0];
 *         float factor = *(const float *)arguments[1];
 *         for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
 *             data[i] *= factor;
 *     }
 */
#ifndef PI_PI_NATIVE_KERNEL_H
#define PI_PI_NATIVE_KERNEL_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The work-group that a call is for. Axes beyond the launch's dimensions are one work-item wide. */
typedef struct pi_native_group {
    uint32_t struct_size;
    uint32_t dimensions;
    uint64_t begin[3]; /* global ids of the work-items: begin inclusive, end exclusive */
    uint64_t end[3];
    uint64_t group_id[3];
    uint64_t group_count[3];
    uint64_t global_offset[3];
    uint64_t global_size[3];
    uint64_t local_size[3]; /* of a full group; groups at the end may be smaller */
} pi_native_group;

/* arguments[i] points to bytes, whatever the kind: a value's copy, a buffer's bytes at the argument's
 * offset, the USM address itself, or scratch memory of this work-group (PI_ARGUMENT_LOCAL, aligned to
 * 64 bytes, not initialised). A null buffer or USM address is NULL. Work-groups run concurrently on
 * several threads. Nothing may be thrown. */
typedef void(PI_CALL *pi_native_function)(const pi_native_group *group, void *const *arguments);

typedef struct pi_native_kernel {
    const char *name;
    pi_native_function function;
    uint32_t argument_count;
    uint32_t reserved;
} pi_native_kernel;

typedef struct pi_native_program {
    uint32_t struct_size;
    uint32_t kernel_count;
    const pi_native_kernel *kernels;
} pi_native_program;

/* The symbol that a NATIVE_LIBRARY exports. */
PI_EXPORT const pi_native_program *PI_CALL piNativeProgram(void);

#ifdef __cplusplus
}
#endif

#endif
