// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traits of the interface's structs: the function of each command, the reference
// functions of each handle.
#pragma once

#include <pi/describe/descriptor.hpp>

namespace pi::suite {

/// Every command: X(descriptor, its function, the capability of its group or 0).
#define PI_SUITE_COMMANDS(X)                                                                       \
    X(pi_buffer_read_desc, piEnqueueMemBufferRead, 0)                                              \
    X(pi_buffer_write_desc, piEnqueueMemBufferWrite, 0)                                            \
    X(pi_buffer_copy_desc, piEnqueueMemBufferCopy, 0)                                              \
    X(pi_buffer_fill_desc, piEnqueueMemBufferFill, 0)                                              \
    X(pi_buffer_map_desc, piEnqueueMemBufferMap, 0)                                                \
    X(pi_unmap_desc, piEnqueueMemUnmap, 0)                                                         \
    X(pi_image_read_desc, piEnqueueMemImageRead, PI_CAPABILITY_IMAGE)                              \
    X(pi_image_write_desc, piEnqueueMemImageWrite, PI_CAPABILITY_IMAGE)                            \
    X(pi_image_copy_desc, piEnqueueMemImageCopy, PI_CAPABILITY_IMAGE)                              \
    X(pi_image_fill_desc, piEnqueueMemImageFill, PI_CAPABILITY_IMAGE)                              \
    X(pi_usm_copy_desc, piEnqueueUsmCopy, PI_CAPABILITY_USM)                                       \
    X(pi_usm_fill_desc, piEnqueueUsmFill, PI_CAPABILITY_USM)                                       \
    X(pi_usm_prefetch_desc, piEnqueueUsmPrefetch, PI_CAPABILITY_USM)                               \
    X(pi_usm_advise_desc, piEnqueueUsmAdvise, PI_CAPABILITY_USM)                                   \
    X(pi_usm_alloc_desc, piEnqueueUsmAlloc, PI_CAPABILITY_USM_ASYNC)                               \
    X(pi_usm_free_desc, piEnqueueUsmFree, PI_CAPABILITY_USM_ASYNC)                                 \
    X(pi_kernel_launch_desc, piEnqueueKernelLaunch, PI_CAPABILITY_PROGRAM)                         \
    X(pi_host_function_desc, piEnqueueHostFunction, PI_CAPABILITY_HOST_FUNCTION)                   \
    X(pi_events_wait_desc, piEnqueueEventsWait, 0)                                                 \
    X(pi_barrier_desc, piEnqueueBarrier, 0)                                                        \
    X(pi_timestamp_desc, piEnqueueTimestamp, PI_CAPABILITY_TIMESTAMP)                              \
    X(pi_device_global_read_desc, piEnqueueDeviceGlobalRead, PI_CAPABILITY_DEVICE_GLOBALS)         \
    X(pi_device_global_write_desc, piEnqueueDeviceGlobalWrite, PI_CAPABILITY_DEVICE_GLOBALS)

/// Of the descriptor of a command: its function, its name, the capability of its group.
template <typename Desc>
struct Description;

#define PI_SUITE_COMMAND(desc, function, group)                                                    \
    template <>                                                                                    \
    struct Description<desc> {                                                                     \
        static constexpr const char *name = #function;                                             \
        static constexpr uint64_t capability = group;                                              \
        static constexpr auto enqueue = &function;                                                 \
    };
PI_SUITE_COMMANDS(PI_SUITE_COMMAND)
#undef PI_SUITE_COMMAND

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
