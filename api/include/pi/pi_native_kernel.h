/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Kernels as native functions: the contents of PI_PROGRAM_FORMAT_NATIVE_TABLE and _NATIVE_LIBRARY.
 * The host plugin runs them on the CPU; simulated devices use the same form.
 *
 * A native kernel is called once for each work-group, and loops over the work-items itself:
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

/* The work-group of a call. Axes beyond the dimensions of the launch are one work-item wide. */
typedef struct pi_native_group {
    uint32_t struct_size;
    uint32_t dimensions;
    uint64_t begin[3]; /* global ids of its work-items: begin inclusive, end exclusive */
    uint64_t end[3];
    uint64_t group_id[3];
    uint64_t group_count[3];
    uint64_t global_offset[3];
    uint64_t global_size[3];
    uint64_t local_size[3]; /* of a full group; the last groups may be smaller */
} pi_native_group;

/* The members of a sampler's descriptor. The kernel does the sampling itself. */
typedef struct pi_native_sampler {
    uint32_t struct_size;
    uint32_t normalized_coordinates; /* 0 or 1 */
    pi_addressing_mode addressing;
    pi_filter_mode filter;
} pi_native_sampler;

/* An image. Pixel {x, y, z or layer} begins at data + z * slice_pitch + y * row_pitch + x *
 * pixel_size. Its alignment is that of the storage (USE_HOST_PTR, the offset of a view). */
typedef struct pi_native_image {
    uint32_t struct_size;
    pi_image_type image_type;
    pi_channel_order channel_order;
    pi_channel_type channel_type;
    void *data;
    uint64_t extent[3]; /* {width, height, depth or layers}; 1 for an axis that does not exist */
    uint64_t row_pitch, slice_pitch; /* bytes */
    uint32_t pixel_size;             /* bytes */
    uint32_t reserved;
    const pi_native_sampler *sampler; /* the argument's image_sampler, or NULL */
} pi_native_image;

/* arguments[i] points to the bytes of the i-th argument: a copy of the value, the buffer at the
 * argument's offset, the USM address itself, a pi_native_image, a pi_native_sampler, or scratch
 * memory of this work-group (PI_ARGUMENT_LOCAL, aligned to 64 bytes, not initialised). A null
 * buffer or USM address is NULL. Work-groups run concurrently on several threads. A kernel must not
 * throw. */
typedef void(PI_CALL *pi_native_function)(const pi_native_group *group, void *const *arguments);

typedef struct pi_native_kernel {
    const char *name;
    pi_native_function function;
    uint32_t argument_count;
    uint32_t reserved;
    uint64_t reserved_words[4];
} pi_native_kernel;

typedef struct pi_native_program {
    uint32_t struct_size;
    uint32_t kernel_count;
    const pi_native_kernel *kernels;
} pi_native_program;

/* The symbol exported by a NATIVE_LIBRARY. */
PI_EXPORT const pi_native_program *PI_CALL piNativeProgram(void);

#ifdef __cplusplus
}
#endif

#endif
