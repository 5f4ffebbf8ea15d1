// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traits of the interface's structs: the type of each descriptor, the function of each command, the
// reference functions of each handle.
#pragma once

#include <pi/pi.h>

namespace pi::suite {

/// Every command: X(descriptor, its type, its function, the capability of its group or 0).
#define PI_SUITE_COMMANDS(X)                                                                       \
    X(pi_buffer_read_desc, PI_TYPE_BUFFER_READ_DESC, piEnqueueMemBufferRead, 0)                    \
    X(pi_buffer_write_desc, PI_TYPE_BUFFER_WRITE_DESC, piEnqueueMemBufferWrite, 0)                 \
    X(pi_buffer_copy_desc, PI_TYPE_BUFFER_COPY_DESC, piEnqueueMemBufferCopy, 0)                    \
    X(pi_buffer_fill_desc, PI_TYPE_BUFFER_FILL_DESC, piEnqueueMemBufferFill, 0)                    \
    X(pi_buffer_map_desc, PI_TYPE_BUFFER_MAP_DESC, piEnqueueMemBufferMap, 0)                       \
    X(pi_unmap_desc, PI_TYPE_UNMAP_DESC, piEnqueueMemUnmap, 0)                                     \
    X(pi_image_read_desc, PI_TYPE_IMAGE_READ_DESC, piEnqueueMemImageRead, PI_CAPABILITY_IMAGE)     \
    X(pi_image_write_desc, PI_TYPE_IMAGE_WRITE_DESC, piEnqueueMemImageWrite, PI_CAPABILITY_IMAGE)  \
    X(pi_image_copy_desc, PI_TYPE_IMAGE_COPY_DESC, piEnqueueMemImageCopy, PI_CAPABILITY_IMAGE)     \
    X(pi_image_fill_desc, PI_TYPE_IMAGE_FILL_DESC, piEnqueueMemImageFill, PI_CAPABILITY_IMAGE)     \
    X(pi_usm_copy_desc, PI_TYPE_USM_COPY_DESC, piEnqueueUsmCopy, PI_CAPABILITY_USM)                \
    X(pi_usm_fill_desc, PI_TYPE_USM_FILL_DESC, piEnqueueUsmFill, PI_CAPABILITY_USM)                \
    X(pi_usm_prefetch_desc, PI_TYPE_USM_PREFETCH_DESC, piEnqueueUsmPrefetch, PI_CAPABILITY_USM)    \
    X(pi_usm_advise_desc, PI_TYPE_USM_ADVISE_DESC, piEnqueueUsmAdvise, PI_CAPABILITY_USM)          \
    X(pi_usm_alloc_desc, PI_TYPE_USM_ALLOC_DESC, piEnqueueUsmAlloc, PI_CAPABILITY_USM_ASYNC)       \
    X(pi_usm_free_desc, PI_TYPE_USM_FREE_DESC, piEnqueueUsmFree, PI_CAPABILITY_USM_ASYNC)          \
    X(pi_kernel_launch_desc, PI_TYPE_KERNEL_LAUNCH_DESC, piEnqueueKernelLaunch,                    \
      PI_CAPABILITY_PROGRAM)                                                                       \
    X(pi_host_function_desc, PI_TYPE_HOST_FUNCTION_DESC, piEnqueueHostFunction,                    \
      PI_CAPABILITY_HOST_FUNCTION)                                                                 \
    X(pi_events_wait_desc, PI_TYPE_EVENTS_WAIT_DESC, piEnqueueEventsWait, 0)                       \
    X(pi_barrier_desc, PI_TYPE_BARRIER_DESC, piEnqueueBarrier, 0)                                  \
    X(pi_timestamp_desc, PI_TYPE_TIMESTAMP_DESC, piEnqueueTimestamp, PI_CAPABILITY_TIMESTAMP)      \
    X(pi_device_global_read_desc, PI_TYPE_DEVICE_GLOBAL_READ_DESC, piEnqueueDeviceGlobalRead,      \
      PI_CAPABILITY_DEVICE_GLOBALS)                                                                \
    X(pi_device_global_write_desc, PI_TYPE_DEVICE_GLOBAL_WRITE_DESC, piEnqueueDeviceGlobalWrite,   \
      PI_CAPABILITY_DEVICE_GLOBALS)

/// Every other descriptor: X(descriptor, its type).
#define PI_SUITE_DESCRIPTORS(X)                                                                    \
    X(pi_context_desc, PI_TYPE_CONTEXT_DESC)                                                       \
    X(pi_queue_desc, PI_TYPE_QUEUE_DESC)                                                           \
    X(pi_mem_buffer_desc, PI_TYPE_MEM_BUFFER_DESC)                                                 \
    X(pi_mem_image_desc, PI_TYPE_MEM_IMAGE_DESC)                                                   \
    X(pi_mem_partition_desc, PI_TYPE_MEM_PARTITION_DESC)                                           \
    X(pi_mem_layout_desc, PI_TYPE_MEM_LAYOUT_DESC)                                                 \
    X(pi_mem_import_desc, PI_TYPE_MEM_IMPORT_DESC)                                                 \
    X(pi_mem_export_desc, PI_TYPE_MEM_EXPORT_DESC)                                                 \
    X(pi_memory_connection_query, PI_TYPE_MEMORY_CONNECTION_QUERY)                                 \
    X(pi_memory_connection_info, PI_TYPE_MEMORY_CONNECTION_INFO)                                   \
    X(pi_usm_desc, PI_TYPE_USM_DESC)                                                               \
    X(pi_usm_pool_desc, PI_TYPE_USM_POOL_DESC)                                                     \
    X(pi_program_desc, PI_TYPE_PROGRAM_DESC)                                                       \
    X(pi_program_build_desc, PI_TYPE_PROGRAM_BUILD_DESC)                                           \
    X(pi_program_link_desc, PI_TYPE_PROGRAM_LINK_DESC)                                             \
    X(pi_sampler_desc, PI_TYPE_SAMPLER_DESC)                                                       \
    X(pi_device_partition_desc, PI_TYPE_DEVICE_PARTITION_DESC)                                     \
    X(pi_native_desc, PI_TYPE_NATIVE_DESC)                                                         \
    X(pi_kernel_desc, PI_TYPE_KERNEL_DESC)                                                         \
    X(pi_host_event_desc, PI_TYPE_HOST_EVENT_DESC)

/// Description<D>::type is the PI_TYPE_ of D; of commands, enqueue is the function and name its
/// name.
template <typename Desc>
struct Description;

#define PI_SUITE_COMMAND(desc, code, function, group)                                              \
    template <>                                                                                    \
    struct Description<desc> {                                                                     \
        static constexpr pi_struct_type type = code;                                               \
        static constexpr const char *desc_name = #desc;                                            \
        static constexpr const char *name = #function;                                             \
        static constexpr uint64_t capability = group;                                              \
        static constexpr auto enqueue = &function;                                                 \
    };
PI_SUITE_COMMANDS(PI_SUITE_COMMAND)
#undef PI_SUITE_COMMAND

#define PI_SUITE_DESCRIPTOR(desc, code)                                                            \
    template <>                                                                                    \
    struct Description<desc> {                                                                     \
        static constexpr pi_struct_type type = code;                                               \
        static constexpr const char *desc_name = #desc;                                            \
    };
PI_SUITE_DESCRIPTORS(PI_SUITE_DESCRIPTOR)
#undef PI_SUITE_DESCRIPTOR

/// The flags that a descriptor has: all others are unknown to it, whatever they mean elsewhere.
template <typename Desc>
constexpr uint64_t known_flags = 0;
template <typename Desc>
requires requires {
    Description<Desc>::enqueue;
}
constexpr uint64_t known_flags<Desc> = PI_COMMAND_BLOCKING;
template <>
inline constexpr uint64_t known_flags<pi_buffer_map_desc> =
    PI_COMMAND_BLOCKING | PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD;
template <>
inline constexpr uint64_t known_flags<pi_kernel_launch_desc> =
    PI_COMMAND_BLOCKING | PI_LAUNCH_COOPERATIVE | PI_LAUNCH_INDIRECT_USM_HOST |
    PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED;
template <>
inline constexpr uint64_t known_flags<pi_usm_prefetch_desc> =
    PI_COMMAND_BLOCKING | PI_USM_PREFETCH_TO_HOST;
template <>
inline constexpr uint64_t known_flags<pi_queue_desc> =
    PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH;
template <>
inline constexpr uint64_t known_flags<pi_mem_partition_desc> = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
template <>
inline constexpr uint64_t known_flags<pi_mem_import_desc> = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
template <>
inline constexpr uint64_t known_flags<pi_usm_desc> =
    PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
template <>
inline constexpr uint64_t known_flags<pi_mem_buffer_desc> =
    PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY | PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR |
    PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
template <>
inline constexpr uint64_t known_flags<pi_mem_image_desc> = known_flags<pi_mem_buffer_desc>;
template <>
inline constexpr uint64_t known_flags<pi_native_desc> = PI_NATIVE_OWN;

/// A descriptor with its first two fields filled in and all others zero.
template <typename Desc>
Desc describe() {
    Desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = Description<Desc>::type;
    return desc;
}

/// Every counted object: X(handle, noun, its kind, the error when it is wrong).
#define PI_SUITE_COUNTED(X)                                                                        \
    X(pi_device, Device, PI_KIND_DEVICE, PI_ERROR_INVALID_DEVICE)                                  \
    X(pi_context, Context, PI_KIND_CONTEXT, PI_ERROR_INVALID_CONTEXT)                              \
    X(pi_queue, Queue, PI_KIND_QUEUE, PI_ERROR_INVALID_QUEUE)                                      \
    X(pi_mem, Mem, PI_KIND_MEM, PI_ERROR_INVALID_MEM_OBJECT)                                       \
    X(pi_event, Event, PI_KIND_EVENT, PI_ERROR_INVALID_EVENT)                                      \
    X(pi_program, Program, PI_KIND_PROGRAM, PI_ERROR_INVALID_PROGRAM)                              \
    X(pi_kernel, Kernel, PI_KIND_KERNEL, PI_ERROR_INVALID_KERNEL)                                  \
    X(pi_sampler, Sampler, PI_KIND_SAMPLER, PI_ERROR_INVALID_SAMPLER)                              \
    X(pi_usm_pool, UsmPool, PI_KIND_USM_POOL, PI_ERROR_INVALID_USM_POOL)

/// Counted<H>::retain and ::release are the functions of handle H.
template <typename Handle>
struct Counted;

#define PI_SUITE_COUNTED_HANDLE(handle, noun, code, error)                                         \
    template <>                                                                                    \
    struct Counted<handle> {                                                                       \
        static constexpr pi_kind kind = code;                                                      \
        static constexpr pi_result invalid = error;                                                \
        static constexpr const char *name = #handle;                                               \
        static constexpr auto retain = &pi##noun##Retain;                                          \
        static constexpr auto release = &pi##noun##Release;                                        \
    };
PI_SUITE_COUNTED(PI_SUITE_COUNTED_HANDLE)
#undef PI_SUITE_COUNTED_HANDLE

} // namespace pi::suite
