// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The type of each descriptor of the interface, and descriptors with their first two members set.
// C++17.
#pragma once

#include <pi/pi.h>

#include <type_traits>

// Of pi_loader.h.
struct pi_loader_desc;
struct pi_memory_verification_desc;

namespace pi {

/// The `type` of a descriptor; PI_TYPE_NONE for other types.
template <class Desc>
inline constexpr pi_struct_type type_of = PI_TYPE_NONE;
#define PI_DESC_TYPE(desc, type)                                                                   \
    template <>                                                                                    \
    inline constexpr pi_struct_type type_of<desc> = type;
PI_DESC_TYPE(pi_loader_desc, PI_TYPE_LOADER_DESC)
PI_DESC_TYPE(pi_context_desc, PI_TYPE_CONTEXT_DESC)
PI_DESC_TYPE(pi_queue_desc, PI_TYPE_QUEUE_DESC)
PI_DESC_TYPE(pi_mem_buffer_desc, PI_TYPE_MEM_BUFFER_DESC)
PI_DESC_TYPE(pi_mem_image_desc, PI_TYPE_MEM_IMAGE_DESC)
PI_DESC_TYPE(pi_mem_partition_desc, PI_TYPE_MEM_PARTITION_DESC)
PI_DESC_TYPE(pi_mem_layout_desc, PI_TYPE_MEM_LAYOUT_DESC)
PI_DESC_TYPE(pi_mem_import_desc, PI_TYPE_MEM_IMPORT_DESC)
PI_DESC_TYPE(pi_mem_export_desc, PI_TYPE_MEM_EXPORT_DESC)
PI_DESC_TYPE(pi_memory_connection_query, PI_TYPE_MEMORY_CONNECTION_QUERY)
PI_DESC_TYPE(pi_memory_connection_info, PI_TYPE_MEMORY_CONNECTION_INFO)
PI_DESC_TYPE(pi_usm_desc, PI_TYPE_USM_DESC)
PI_DESC_TYPE(pi_usm_pool_desc, PI_TYPE_USM_POOL_DESC)
PI_DESC_TYPE(pi_program_desc, PI_TYPE_PROGRAM_DESC)
PI_DESC_TYPE(pi_program_build_desc, PI_TYPE_PROGRAM_BUILD_DESC)
PI_DESC_TYPE(pi_program_link_desc, PI_TYPE_PROGRAM_LINK_DESC)
PI_DESC_TYPE(pi_sampler_desc, PI_TYPE_SAMPLER_DESC)
PI_DESC_TYPE(pi_device_partition_desc, PI_TYPE_DEVICE_PARTITION_DESC)
PI_DESC_TYPE(pi_native_desc, PI_TYPE_NATIVE_DESC)
PI_DESC_TYPE(pi_buffer_read_desc, PI_TYPE_BUFFER_READ_DESC)
PI_DESC_TYPE(pi_buffer_write_desc, PI_TYPE_BUFFER_WRITE_DESC)
PI_DESC_TYPE(pi_buffer_copy_desc, PI_TYPE_BUFFER_COPY_DESC)
PI_DESC_TYPE(pi_buffer_fill_desc, PI_TYPE_BUFFER_FILL_DESC)
PI_DESC_TYPE(pi_buffer_map_desc, PI_TYPE_BUFFER_MAP_DESC)
PI_DESC_TYPE(pi_unmap_desc, PI_TYPE_UNMAP_DESC)
PI_DESC_TYPE(pi_image_read_desc, PI_TYPE_IMAGE_READ_DESC)
PI_DESC_TYPE(pi_image_write_desc, PI_TYPE_IMAGE_WRITE_DESC)
PI_DESC_TYPE(pi_image_copy_desc, PI_TYPE_IMAGE_COPY_DESC)
PI_DESC_TYPE(pi_image_fill_desc, PI_TYPE_IMAGE_FILL_DESC)
PI_DESC_TYPE(pi_usm_copy_desc, PI_TYPE_USM_COPY_DESC)
PI_DESC_TYPE(pi_usm_fill_desc, PI_TYPE_USM_FILL_DESC)
PI_DESC_TYPE(pi_usm_prefetch_desc, PI_TYPE_USM_PREFETCH_DESC)
PI_DESC_TYPE(pi_usm_advise_desc, PI_TYPE_USM_ADVISE_DESC)
PI_DESC_TYPE(pi_usm_alloc_desc, PI_TYPE_USM_ALLOC_DESC)
PI_DESC_TYPE(pi_usm_free_desc, PI_TYPE_USM_FREE_DESC)
PI_DESC_TYPE(pi_kernel_launch_desc, PI_TYPE_KERNEL_LAUNCH_DESC)
PI_DESC_TYPE(pi_host_function_desc, PI_TYPE_HOST_FUNCTION_DESC)
PI_DESC_TYPE(pi_events_wait_desc, PI_TYPE_EVENTS_WAIT_DESC)
PI_DESC_TYPE(pi_barrier_desc, PI_TYPE_BARRIER_DESC)
PI_DESC_TYPE(pi_timestamp_desc, PI_TYPE_TIMESTAMP_DESC)
PI_DESC_TYPE(pi_device_global_read_desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC)
PI_DESC_TYPE(pi_device_global_write_desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC)
PI_DESC_TYPE(pi_kernel_desc, PI_TYPE_KERNEL_DESC)
PI_DESC_TYPE(pi_host_event_desc, PI_TYPE_HOST_EVENT_DESC)
PI_DESC_TYPE(pi_memory_verification_desc, PI_TYPE_MEMORY_VERIFICATION_DESC)
#undef PI_DESC_TYPE

/// Whether the type is that of a handle.
template <class Type>
inline constexpr bool is_handle =
    std::is_same_v<Type, pi_loader> || std::is_same_v<Type, pi_plugin> ||
    std::is_same_v<Type, pi_platform> || std::is_same_v<Type, pi_device> ||
    std::is_same_v<Type, pi_context> || std::is_same_v<Type, pi_queue> ||
    std::is_same_v<Type, pi_mem> || std::is_same_v<Type, pi_event> ||
    std::is_same_v<Type, pi_program> || std::is_same_v<Type, pi_kernel> ||
    std::is_same_v<Type, pi_sampler> || std::is_same_v<Type, pi_usm_pool>;

/// A descriptor with size and type set and all other members zero, which is their default.
template <class Desc>
constexpr Desc desc() noexcept {
    static_assert(type_of<Desc> != PI_TYPE_NONE);
    Desc out{};
    out.struct_size = sizeof(Desc);
    out.type = type_of<Desc>;
    return out;
}

} // namespace pi
