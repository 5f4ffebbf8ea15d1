/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Since 1.1. An extension that a plugin may offer: a kernel with which the loader verifies
 * connections (piVerifyMemoryConnection, PI_VERIFY_KERNELS).
 *
 *     const pi_verification_kernel_v1 *table;
 *     piPluginGetExtension(plugin, PI_VERIFICATION_KERNEL_V1, sizeof *table,
 *                          (const void **)&table);
 *     table->get_kernel(device, &kernel);
 *
 * A plugin without it is complete; kernels on its devices are then not verified.
 */
#ifndef PI_PI_VERIFICATION_KERNEL_H
#define PI_PI_VERIFICATION_KERNEL_H

#include <pi/pi.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PI_VERIFICATION_KERNEL_V1 "pi_verification_kernel_v1"

/* A program and one of its kernels. The kernel has two parameters, the addresses of a source and of
 * a destination (PI_ARGUMENT_BUFFER or PI_ARGUMENT_POINTER), aligned to 4 bytes. It is launched in
 * one dimension, with fewer than 2^32 work-items, no offset, and any local size; the work-item with
 * global id i copies the 32-bit word i. All pointers stay valid as long as the plugin lives. */
typedef struct pi_verification_kernel {
    pi_program_format format; /* one of the device's PI_DEVICE_INFO_PROGRAM_FORMATS */
    uint32_t reserved;        /* must be 0 */
    const void *data;         /* as in pi_program_desc */
    uint64_t size;
    const char *name; /* of the kernel */
} pi_verification_kernel;

typedef struct pi_verification_kernel_v1 {
    uint64_t size; /* of this table, in bytes */
    /* The device's kernel. PI_ERROR_UNSUPPORTED_FEATURE, and nothing is written, if it has none.
     * Thread-safe. */
    pi_result(PI_CALL *get_kernel)(pi_device device, pi_verification_kernel *out_kernel);
} pi_verification_kernel_v1;

#ifdef __cplusplus
}
#endif

#endif
