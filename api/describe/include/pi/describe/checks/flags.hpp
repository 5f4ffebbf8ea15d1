// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flags and reserved words of each descriptor.
#pragma once

#include <pi/describe/checks/memory.hpp>

namespace pi::checks {

/// The flags that a descriptor may have.
template <typename Desc>
inline constexpr uint64_t known_flags = 0;
#define PI_KNOWN_FLAGS(desc, flags)                                                                \
    template <>                                                                                    \
    inline constexpr uint64_t known_flags<desc> = flags
PI_KNOWN_FLAGS(pi_native_desc, PI_NATIVE_OWN);
PI_KNOWN_FLAGS(pi_queue_desc, PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                                  PI_QUEUE_PRIORITY_HIGH);
PI_KNOWN_FLAGS(pi_mem_buffer_desc, mem_create_flags);
PI_KNOWN_FLAGS(pi_mem_image_desc, mem_create_flags);
PI_KNOWN_FLAGS(pi_mem_partition_desc, access_flags);
PI_KNOWN_FLAGS(pi_mem_import_desc, access_flags);
PI_KNOWN_FLAGS(pi_usm_desc, requirement_flags);
PI_KNOWN_FLAGS(pi_buffer_read_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_buffer_write_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_buffer_copy_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_buffer_fill_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_buffer_map_desc,
               PI_COMMAND_BLOCKING | PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD);
PI_KNOWN_FLAGS(pi_unmap_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_image_read_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_image_write_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_image_copy_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_image_fill_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_usm_copy_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_usm_fill_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_usm_prefetch_desc, PI_COMMAND_BLOCKING | PI_USM_PREFETCH_TO_HOST);
PI_KNOWN_FLAGS(pi_usm_advise_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_usm_alloc_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_usm_free_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_kernel_launch_desc,
               PI_COMMAND_BLOCKING | PI_LAUNCH_COOPERATIVE | PI_LAUNCH_INDIRECT_USM_HOST |
                   PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED);
PI_KNOWN_FLAGS(pi_host_function_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_events_wait_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_barrier_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_timestamp_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_device_global_read_desc, PI_COMMAND_BLOCKING);
PI_KNOWN_FLAGS(pi_device_global_write_desc, PI_COMMAND_BLOCKING);
#undef PI_KNOWN_FLAGS

/// Flags and the reserved word of a descriptor; `argument`: "desc".
template <typename Desc>
void check_words(Check &check, const Desc &desc, const char *argument) noexcept {
    if constexpr (requires { desc.flags; })
        check.flags(desc.flags, known_flags<Desc>, {argument, -1, "->flags"});
    if constexpr (requires { desc.reserved; })
        check.reserved(desc.reserved, {argument, -1, "->reserved"});
}

} // namespace pi::checks
