/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The binary interface of DLPack, through which tensor libraries exchange tensors in place: the
 * structures and numbers of its specification, version 1.0 (dmlc/dlpack, include/dlpack/dlpack.h).
 * The layout is DLPack's; the names are ours, so that a program can also include any version of
 * <dlpack/dlpack.h>. Its DLManagedTensor is pi_dlpack_managed_tensor: cast the pointers.
 *
 * Used by pi/runtime/dlpack.hpp. C11 and C++17.
 */
#ifndef PI_RUNTIME_DLPACK_ABI_H
#define PI_RUNTIME_DLPACK_ABI_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PI_DLPACK_MAJOR_VERSION = 1, PI_DLPACK_MINOR_VERSION = 0 };

/* kDLCPU, ... */
enum {
    PI_DLPACK_CPU = 1,
    PI_DLPACK_CUDA = 2,
    PI_DLPACK_CUDA_HOST = 3, /* pinned memory of the host */
    PI_DLPACK_OPENCL = 4,    /* data is a cl_mem */
    PI_DLPACK_VULKAN = 7,
    PI_DLPACK_METAL = 8,
    PI_DLPACK_VPI = 9,
    PI_DLPACK_ROCM = 10,
    PI_DLPACK_ROCM_HOST = 11, /* pinned memory of the host */
    PI_DLPACK_EXT_DEV = 12,
    PI_DLPACK_CUDA_MANAGED = 13,
    PI_DLPACK_ONE_API = 14, /* data is a USM address */
    PI_DLPACK_WEBGPU = 15,
    PI_DLPACK_HEXAGON = 16,
    PI_DLPACK_MAIA = 17
};

/* kDLInt, ... */
enum {
    PI_DLPACK_INT = 0,
    PI_DLPACK_UINT = 1,
    PI_DLPACK_FLOAT = 2,
    PI_DLPACK_OPAQUE_HANDLE = 3,
    PI_DLPACK_BFLOAT = 4,
    PI_DLPACK_COMPLEX = 5,
    PI_DLPACK_BOOL = 6
};

/* DLPACK_FLAG_BITMASK_READ_ONLY, _IS_COPIED: of a versioned tensor. */
enum { PI_DLPACK_READ_ONLY = 1 << 0, PI_DLPACK_IS_COPIED = 1 << 1 };

typedef struct pi_dlpack_version {
    uint32_t major; /* if it differs, use only the deleter */
    uint32_t minor;
} pi_dlpack_version;

typedef struct pi_dlpack_device {
    int32_t device_type; /* PI_DLPACK_CPU, ... */
    int32_t device_id;
} pi_dlpack_device;

typedef struct pi_dlpack_data_type {
    uint8_t code;   /* PI_DLPACK_INT, ... */
    uint8_t bits;   /* of one lane */
    uint16_t lanes; /* 1, unless an element is a vector */
} pi_dlpack_data_type;

typedef struct pi_dlpack_tensor {
    void *data; /* an address, or a handle: see device */
    pi_dlpack_device device;
    int32_t ndim; /* 0: one element */
    pi_dlpack_data_type dtype;
    int64_t *shape;       /* ndim numbers of elements */
    int64_t *strides;     /* ndim, in elements; NULL: dense, the last axis innermost */
    uint64_t byte_offset; /* from data to the first element */
} pi_dlpack_tensor;

typedef struct pi_dlpack_managed_tensor {
    pi_dlpack_tensor dl_tensor;
    void *manager_ctx;
    void (*deleter)(struct pi_dlpack_managed_tensor *self); /* NULL: nothing to do */
} pi_dlpack_managed_tensor;

typedef struct pi_dlpack_managed_tensor_versioned {
    pi_dlpack_version version;
    void *manager_ctx;
    void (*deleter)(struct pi_dlpack_managed_tensor_versioned *self); /* likewise */
    uint64_t flags;                                                   /* PI_DLPACK_READ_ONLY, ... */
    pi_dlpack_tensor dl_tensor;
} pi_dlpack_managed_tensor_versioned;

#ifdef __cplusplus
}
#endif

#endif
