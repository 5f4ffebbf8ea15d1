// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checks of every descriptor: its header, its chain, its flags and reserved words; then its
// members (check_members).
#pragma once

#include "layers/layers.hpp"
#include "layers/validate/check.hpp"

namespace pi::loader::validate {

/// The flags that a descriptor may have.
template <typename Desc>
inline constexpr uint64_t known_flags = 0;
#define PI_VALIDATE_FLAGS(desc, flags)                                                             \
    template <>                                                                                    \
    inline constexpr uint64_t known_flags<desc> = flags
inline constexpr uint64_t requirement_flags = PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
inline constexpr uint64_t create_flags =
    access_flags | requirement_flags | PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
PI_VALIDATE_FLAGS(pi_native_desc, PI_NATIVE_OWN);
PI_VALIDATE_FLAGS(pi_queue_desc, PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING |
                                     PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH);
PI_VALIDATE_FLAGS(pi_mem_buffer_desc, create_flags);
PI_VALIDATE_FLAGS(pi_mem_image_desc, create_flags);
PI_VALIDATE_FLAGS(pi_mem_partition_desc, access_flags);
PI_VALIDATE_FLAGS(pi_mem_import_desc, access_flags);
PI_VALIDATE_FLAGS(pi_usm_desc, requirement_flags);
PI_VALIDATE_FLAGS(pi_buffer_read_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_buffer_write_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_buffer_copy_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_buffer_fill_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_buffer_map_desc,
                  PI_COMMAND_BLOCKING | PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD);
PI_VALIDATE_FLAGS(pi_unmap_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_image_read_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_image_write_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_image_copy_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_image_fill_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_usm_copy_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_usm_fill_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_usm_prefetch_desc, PI_COMMAND_BLOCKING | PI_USM_PREFETCH_TO_HOST);
PI_VALIDATE_FLAGS(pi_usm_advise_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_usm_alloc_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_usm_free_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_kernel_launch_desc,
                  PI_COMMAND_BLOCKING | PI_LAUNCH_COOPERATIVE | PI_LAUNCH_INDIRECT_USM_HOST |
                      PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED);
PI_VALIDATE_FLAGS(pi_host_function_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_events_wait_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_barrier_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_timestamp_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_device_global_read_desc, PI_COMMAND_BLOCKING);
PI_VALIDATE_FLAGS(pi_device_global_write_desc, PI_COMMAND_BLOCKING);
#undef PI_VALIDATE_FLAGS

/// The type of pi.h that a descriptor may chain.
template <typename Desc>
inline constexpr pi_struct_type chained_type = PI_TYPE_NONE;
template <>
inline constexpr pi_struct_type chained_type<pi_mem_buffer_desc> = PI_TYPE_MEM_LAYOUT_DESC;

/// The argument's name.
template <typename Desc>
inline constexpr const char *argument_name = "desc";
template <>
inline constexpr const char *argument_name<pi_memory_connection_query> = "query";
template <>
inline constexpr const char *argument_name<pi_memory_connection_info> = "out_info";

/// The first two words, of a struct that is not NULL.
void check_header(Check &check, const char *argument, const pi_struct_header &header,
                  pi_struct_type type, std::size_t size) noexcept;
/// The bytes after the known members, and the chain. A type that pi.h does not have may be a
/// vendor's: the plugin checks it.
void check_unknown(Check &check, const char *argument, const pi_struct_header &header,
                   std::size_t size, pi_struct_type chained) noexcept;

template <typename Desc>
void check_descriptor(Check &check, const Place &place, const Desc *desc) noexcept {
    constexpr const char *argument = argument_name<Desc>;
    const auto &header = *reinterpret_cast<const pi_struct_header *>(desc);
    Desc own;
    if (header.struct_size != sizeof(Desc) || header.type != type_of<Desc> ||
        header.next != nullptr) {
        check_header(check, argument, header, type_of<Desc>, sizeof(Desc));
        if (check.failed())
            return;
        check_unknown(check, argument, header, sizeof(Desc), chained_type<Desc>);
        if (header.struct_size < sizeof(Desc)) {
            copy_descriptor(desc, type_of<Desc>, own);
            desc = &own;
        }
    }
    if constexpr (requires { desc->flags; })
        check.flags(desc->flags, known_flags<Desc>, {argument, -1, "->flags"});
    if constexpr (requires { desc->reserved; })
        check.reserved(desc->reserved, {argument, -1, "->reserved"});
    if (!check.failed())
        check_members(check, place, *desc);
}

} // namespace pi::loader::validate
