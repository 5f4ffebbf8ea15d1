/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Our header of DLPack's interface in C, before DLPack's own.
 */
#include <pi/runtime/dlpack_abi.h>

#if defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif

uint64_t dlpack_size_in_c(void);
uint64_t dlpack_size_in_c(void) {
    return sizeof(pi_dlpack_managed_tensor) + sizeof(pi_dlpack_managed_tensor_versioned);
}
