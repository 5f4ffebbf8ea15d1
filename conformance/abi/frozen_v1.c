/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The plugin ABI, version 1.0, frozen: if this file compiles, then what was compiled with these
 * headers before still works. Appending is allowed (slots, enumerators, fields of structs that say
 * their own size); anything else fails here with what it was.
 *
 * Written by `scripts/check-abi --regenerate`, reviewed and committed; see api/README.md. It needs
 * no library: compiling it is the test.
 */
#include <pi/pi.h>
#include <pi/pi_loader.h>
#include <pi/pi_native_kernel.h>
#include <pi/pi_plugin.h>

#include <stddef.h>

_Static_assert(sizeof(void *) == 8, "the layouts are those of 64-bit targets");

/* A typedef and the type that it stands for. */
#define TYPE(name, ...)                                                                            \
    _Static_assert(__builtin_types_compatible_p(name, __VA_ARGS__), #name " was " #__VA_ARGS__)

/* The value of a macro or of an enumerator. */
#define VALUE(name, value) _Static_assert((name) == (value), #name " was " #value)

/* A struct whose size is frozen: it is an element of arrays, part of another struct, or has no
 * struct_size. */
#define FROZEN(structure, size)                                                                    \
    _Static_assert(sizeof(structure) == (size), #structure " had " #size " bytes and may not "     \
                                                                         "grow")

/* A struct that says its own size: fields may be appended. */
#define MAY_GROW(structure, size)                                                                  \
    _Static_assert(sizeof(structure) >= (size), #structure " had " #size " bytes, now fewer")

#define FIELD(structure, field, offset, size, ...)                                                 \
    _Static_assert(offsetof(structure, field) == (offset),                                         \
                   #structure "." #field " was at byte " #offset);                                 \
    _Static_assert(sizeof(((structure *)0)->field) == (size),                                      \
                   #structure "." #field " had " #size " bytes");                                  \
    _Static_assert(__builtin_types_compatible_p(__typeof__(((structure *)0)->field), __VA_ARGS__), \
                   #structure "." #field " was " #__VA_ARGS__)

/* The type of an exported function. The parameters' names are compared by scripts/check-abi. */
#define FUNCTION(name, ...)                                                                        \
    _Static_assert(__builtin_types_compatible_p(__typeof__(name), __VA_ARGS__),                    \
                   #name " was " #__VA_ARGS__)

/* A slot of pi_dispatch: its place, counted from 0, its type (that of the function), its group and
 * the minor version that brought it. */
#define SLOT(index, name, group, since)                                                            \
    _Static_assert(offsetof(pi_dispatch, name) == 8 + 8 * (index), #name " was slot " #index);     \
    _Static_assert(                                                                                \
        __builtin_types_compatible_p(__typeof__(((pi_dispatch *)0)->name), __typeof__(&(name))),   \
        "the slot " #name " has another type than the function");                                  \
    _Static_assert((int)group_of_##name == (int)PI_CAPABILITY_##group, #name " was " #group);      \
    _Static_assert((int)since_of_##name == (since), #name " came with minor version " #since)

/* A function of the loader itself. */
#define LOADER_FUNCTION(name, since)                                                               \
    _Static_assert((int)since_of_##name == (since), #name " came with minor version " #since)

/* The rows of pi_functions.def as constants. Two groups have no capability. */
enum { PI_CAPABILITY_REQUIRED = -1, PI_CAPABILITY_OPTIONAL = -2 };
enum {
#define PI_LOADER_FUNCTION(name, since) since_of_##name = (since),
#define PI_FUNCTION(name, group, needs, since)                                                     \
    group_of_##name = PI_CAPABILITY_##group, since_of_##name = (since),
#include <pi/pi_functions.def>
};

/* ===== pi/pi.h: constants ===================================================================== */

VALUE(PI_VERSION_MAJOR, 1);
VALUE(PI_VENDOR_BIT, 1073741824);
VALUE(PI_TIMEOUT_NEVER, UINT64_C(0xffffffffffffffff));
VALUE(PI_TYPE_MAY_IGNORE_BIT, UINT64_C(0x80000000));
VALUE(PI_DEVICE_TYPE_ALL, UINT64_C(0xffffffff));
VALUE(PI_CONNECTION_MAX_CHANNELS, 8);
_Static_assert(PI_VERSION_MINOR >= 0, "PI_VERSION_MINOR was 0");

/* ===== pi/pi.h: types ========================================================================= */

TYPE(pi_result, int32_t);
TYPE(pi_loader, struct pi_loader_s *);
TYPE(pi_plugin, struct pi_plugin_s *);
TYPE(pi_platform, struct pi_platform_s *);
TYPE(pi_device, struct pi_device_s *);
TYPE(pi_context, struct pi_context_s *);
TYPE(pi_queue, struct pi_queue_s *);
TYPE(pi_mem, struct pi_mem_s *);
TYPE(pi_event, struct pi_event_s *);
TYPE(pi_program, struct pi_program_s *);
TYPE(pi_kernel, struct pi_kernel_s *);
TYPE(pi_sampler, struct pi_sampler_s *);
TYPE(pi_usm_pool, struct pi_usm_pool_s *);
TYPE(pi_kind, uint32_t);
TYPE(pi_struct_type, uint32_t);
TYPE(pi_log_level, uint32_t);
TYPE(pi_native_type, uint32_t);
TYPE(pi_plugin_info, uint32_t);
TYPE(pi_platform_info, uint32_t);
TYPE(pi_device_type, uint32_t);
TYPE(pi_device_info, uint32_t);
TYPE(pi_partition_kind, uint32_t);
TYPE(pi_context_info, uint32_t);
TYPE(pi_memory_connection, uint32_t);
TYPE(pi_memory_kind, uint32_t);
TYPE(pi_coherence, uint32_t);
TYPE(pi_residency, uint32_t);
TYPE(pi_concurrent_writers, uint32_t);
TYPE(pi_copy_path, uint32_t);
TYPE(pi_preferred_queue, uint32_t);
TYPE(pi_link_kind, uint32_t);
TYPE(pi_queue_info, uint32_t);
TYPE(pi_image_type, uint32_t);
TYPE(pi_channel_order, uint32_t);
TYPE(pi_channel_type, uint32_t);
TYPE(pi_external_type, uint32_t);
TYPE(pi_mem_info, uint32_t);
TYPE(pi_usm_kind, uint32_t);
TYPE(pi_usm_info, uint32_t);
TYPE(pi_usm_pool_info, uint32_t);
TYPE(pi_usm_advice, uint32_t);
TYPE(pi_argument_kind, uint32_t);
TYPE(pi_host_function, void (*)(void *));
TYPE(pi_program_format, uint32_t);
TYPE(pi_program_info, uint32_t);
TYPE(pi_program_build_info, uint32_t);
TYPE(pi_kernel_info, uint32_t);
TYPE(pi_kernel_group_info, uint32_t);
TYPE(pi_kernel_sub_group_info, uint32_t);
TYPE(pi_addressing_mode, uint32_t);
TYPE(pi_filter_mode, uint32_t);
TYPE(pi_sampler_info, uint32_t);
TYPE(pi_event_status, uint32_t);
TYPE(pi_event_info, uint32_t);
TYPE(pi_profiling_info, uint32_t);
TYPE(pi_event_callback, void (*)(pi_event, pi_result, void *));

/* ===== pi/pi.h: enumerators =================================================================== */

/* pi_result */
VALUE(PI_SUCCESS, 0);
VALUE(PI_ERROR_INVALID_VALUE, -1);
VALUE(PI_ERROR_INVALID_NULL_POINTER, -2);
VALUE(PI_ERROR_INVALID_SIZE, -3);
VALUE(PI_ERROR_INVALID_ENUMERATION, -4);
VALUE(PI_ERROR_INVALID_DESCRIPTOR, -5);
VALUE(PI_ERROR_MISALIGNED_OFFSET, -6);
VALUE(PI_ERROR_MISALIGNED_POINTER, -7);
VALUE(PI_ERROR_INVALID_ALIGNMENT, -8);
VALUE(PI_ERROR_MEM_COPY_OVERLAP, -9);
VALUE(PI_ERROR_INVALID_WAIT_LIST, -10);
VALUE(PI_ERROR_INVALID_WORK_SIZE, -11);
VALUE(PI_ERROR_INVALID_ARGUMENTS, -12);
VALUE(PI_ERROR_INVALID_NAME, -13);
VALUE(PI_ERROR_INVALID_BINARY, -14);
VALUE(PI_ERROR_INVALID_OPERATION, -15);
VALUE(PI_ERROR_INVALID_NATIVE_HANDLE, -16);
VALUE(PI_ERROR_INVALID_LOADER, -32);
VALUE(PI_ERROR_INVALID_PLUGIN, -33);
VALUE(PI_ERROR_INVALID_PLATFORM, -34);
VALUE(PI_ERROR_INVALID_DEVICE, -35);
VALUE(PI_ERROR_INVALID_CONTEXT, -36);
VALUE(PI_ERROR_INVALID_QUEUE, -37);
VALUE(PI_ERROR_INVALID_MEM_OBJECT, -38);
VALUE(PI_ERROR_INVALID_EVENT, -39);
VALUE(PI_ERROR_INVALID_PROGRAM, -40);
VALUE(PI_ERROR_INVALID_KERNEL, -41);
VALUE(PI_ERROR_INVALID_SAMPLER, -42);
VALUE(PI_ERROR_INVALID_USM_POOL, -43);
VALUE(PI_ERROR_INVALID_USM_POINTER, -44);
VALUE(PI_ERROR_UNSUPPORTED_FEATURE, -64);
VALUE(PI_ERROR_OUT_OF_HOST_MEMORY, -65);
VALUE(PI_ERROR_OUT_OF_DEVICE_MEMORY, -66);
VALUE(PI_ERROR_OUT_OF_RESOURCES, -67);
VALUE(PI_ERROR_DEVICE_LOST, -68);
VALUE(PI_ERROR_UNAVAILABLE, -69);
VALUE(PI_ERROR_BUILD_FAILED, -70);
VALUE(PI_ERROR_DEPENDENCY_FAILED, -71);
VALUE(PI_ERROR_ABANDONED, -72);
VALUE(PI_ERROR_TIMEOUT, -73);
VALUE(PI_ERROR_WOULD_BLOCK, -74);
VALUE(PI_ERROR_PROFILING_UNAVAILABLE, -75);
VALUE(PI_ERROR_BACKEND, -76);
VALUE(PI_ERROR_INTERNAL, -77);

/* pi_kind */
VALUE(PI_KIND_LOADER, 1);
VALUE(PI_KIND_PLUGIN, 2);
VALUE(PI_KIND_PLATFORM, 3);
VALUE(PI_KIND_DEVICE, 4);
VALUE(PI_KIND_CONTEXT, 5);
VALUE(PI_KIND_QUEUE, 6);
VALUE(PI_KIND_MEM, 7);
VALUE(PI_KIND_EVENT, 8);
VALUE(PI_KIND_PROGRAM, 9);
VALUE(PI_KIND_KERNEL, 10);
VALUE(PI_KIND_SAMPLER, 11);
VALUE(PI_KIND_USM_POOL, 12);

/* pi_struct_type */
VALUE(PI_TYPE_NONE, 0);
VALUE(PI_TYPE_LOADER_DESC, 1);
VALUE(PI_TYPE_CONTEXT_DESC, 2);
VALUE(PI_TYPE_QUEUE_DESC, 3);
VALUE(PI_TYPE_MEM_BUFFER_DESC, 4);
VALUE(PI_TYPE_MEM_IMAGE_DESC, 5);
VALUE(PI_TYPE_MEM_PARTITION_DESC, 6);
VALUE(PI_TYPE_MEM_LAYOUT_DESC, 7);
VALUE(PI_TYPE_MEM_IMPORT_DESC, 8);
VALUE(PI_TYPE_MEM_EXPORT_DESC, 9);
VALUE(PI_TYPE_MEMORY_CONNECTION_QUERY, 10);
VALUE(PI_TYPE_MEMORY_CONNECTION_INFO, 11);
VALUE(PI_TYPE_USM_DESC, 12);
VALUE(PI_TYPE_USM_POOL_DESC, 13);
VALUE(PI_TYPE_PROGRAM_DESC, 14);
VALUE(PI_TYPE_PROGRAM_BUILD_DESC, 15);
VALUE(PI_TYPE_PROGRAM_LINK_DESC, 16);
VALUE(PI_TYPE_SAMPLER_DESC, 17);
VALUE(PI_TYPE_DEVICE_PARTITION_DESC, 18);
VALUE(PI_TYPE_NATIVE_DESC, 19);
VALUE(PI_TYPE_BUFFER_READ_DESC, 20);
VALUE(PI_TYPE_BUFFER_WRITE_DESC, 21);
VALUE(PI_TYPE_BUFFER_COPY_DESC, 22);
VALUE(PI_TYPE_BUFFER_FILL_DESC, 23);
VALUE(PI_TYPE_BUFFER_MAP_DESC, 24);
VALUE(PI_TYPE_UNMAP_DESC, 25);
VALUE(PI_TYPE_IMAGE_READ_DESC, 26);
VALUE(PI_TYPE_IMAGE_WRITE_DESC, 27);
VALUE(PI_TYPE_IMAGE_COPY_DESC, 28);
VALUE(PI_TYPE_IMAGE_FILL_DESC, 29);
VALUE(PI_TYPE_USM_COPY_DESC, 30);
VALUE(PI_TYPE_USM_FILL_DESC, 31);
VALUE(PI_TYPE_USM_PREFETCH_DESC, 32);
VALUE(PI_TYPE_USM_ADVISE_DESC, 33);
VALUE(PI_TYPE_USM_ALLOC_DESC, 34);
VALUE(PI_TYPE_USM_FREE_DESC, 35);
VALUE(PI_TYPE_KERNEL_LAUNCH_DESC, 36);
VALUE(PI_TYPE_HOST_FUNCTION_DESC, 37);
VALUE(PI_TYPE_EVENTS_WAIT_DESC, 38);
VALUE(PI_TYPE_BARRIER_DESC, 39);
VALUE(PI_TYPE_TIMESTAMP_DESC, 40);
VALUE(PI_TYPE_DEVICE_GLOBAL_READ_DESC, 41);
VALUE(PI_TYPE_DEVICE_GLOBAL_WRITE_DESC, 42);
VALUE(PI_TYPE_KERNEL_DESC, 43);
VALUE(PI_TYPE_HOST_EVENT_DESC, 44);

/* pi_log_level */
VALUE(PI_LOG_TRACE, 1);
VALUE(PI_LOG_DEBUG, 2);
VALUE(PI_LOG_INFO, 3);
VALUE(PI_LOG_WARNING, 4);
VALUE(PI_LOG_ERROR, 5);
VALUE(PI_LOG_OFF, 6);

/* pi_native_type */
VALUE(PI_NATIVE_NONE, 0);
VALUE(PI_NATIVE_HOST_POINTER, 1);
VALUE(PI_NATIVE_OPENCL, 16);
VALUE(PI_NATIVE_CUDA_DEVICE, 32);
VALUE(PI_NATIVE_CUDA_CONTEXT, 33);
VALUE(PI_NATIVE_CUDA_STREAM, 34);
VALUE(PI_NATIVE_CUDA_EVENT, 35);
VALUE(PI_NATIVE_CUDA_POINTER, 36);
VALUE(PI_NATIVE_CUDA_ARRAY_TEXTURE, 37);
VALUE(PI_NATIVE_CUDA_MODULE, 38);
VALUE(PI_NATIVE_CUDA_FUNCTION, 39);
VALUE(PI_NATIVE_LEVEL_ZERO, 64);
VALUE(PI_NATIVE_LEVEL_ZERO_POINTER, 65);

/* PI_NATIVE_OWN */
VALUE(PI_NATIVE_OWN, 1);

/* pi_plugin_info */
VALUE(PI_PLUGIN_INFO_NAME, 1);
VALUE(PI_PLUGIN_INFO_VERSION, 2);
VALUE(PI_PLUGIN_INFO_CAPABILITIES, 3);

/* PI_CAPABILITY_ */
VALUE(PI_CAPABILITY_BUFFER_COMMANDS, 1);
VALUE(PI_CAPABILITY_MEM_IMPORT, 2);
VALUE(PI_CAPABILITY_MEM_EXPORT, 4);
VALUE(PI_CAPABILITY_MEM_HOST_ACCESS, 8);
VALUE(PI_CAPABILITY_IMAGE, 16);
VALUE(PI_CAPABILITY_USM, 32);
VALUE(PI_CAPABILITY_USM_POOL, 64);
VALUE(PI_CAPABILITY_USM_ASYNC, 128);
VALUE(PI_CAPABILITY_USM_REGISTER, 256);
VALUE(PI_CAPABILITY_PROGRAM, 512);
VALUE(PI_CAPABILITY_PROGRAM_LINK, 1024);
VALUE(PI_CAPABILITY_SPECIALIZATION, 2048);
VALUE(PI_CAPABILITY_DEVICE_GLOBALS, 4096);
VALUE(PI_CAPABILITY_COOPERATIVE, 8192);
VALUE(PI_CAPABILITY_HOST_FUNCTION, 16384);
VALUE(PI_CAPABILITY_TIMESTAMP, 32768);
VALUE(PI_CAPABILITY_PARTITION, 65536);
VALUE(PI_CAPABILITY_VIEW, 131072);
VALUE(PI_CAPABILITY_NATIVE, 262144);

/* pi_platform_info */
VALUE(PI_PLATFORM_INFO_NAME, 1);
VALUE(PI_PLATFORM_INFO_VENDOR, 2);
VALUE(PI_PLATFORM_INFO_VERSION, 3);
VALUE(PI_PLATFORM_INFO_PLUGIN, 4);
VALUE(PI_PLATFORM_INFO_BACKEND, 5);

/* PI_BACKEND_ */
VALUE(PI_BACKEND_HOST, 1);
VALUE(PI_BACKEND_OPENCL, 2);
VALUE(PI_BACKEND_CUDA, 3);
VALUE(PI_BACKEND_LEVEL_ZERO, 4);
VALUE(PI_BACKEND_SIMULATED, 5);
VALUE(PI_BACKEND_OTHER, 6);
VALUE(PI_BACKEND_HIP, 7);
VALUE(PI_BACKEND_VULKAN, 8);
VALUE(PI_BACKEND_METAL, 9);

/* pi_device_type */
VALUE(PI_DEVICE_TYPE_CPU, 1);
VALUE(PI_DEVICE_TYPE_GPU, 2);
VALUE(PI_DEVICE_TYPE_ACCELERATOR, 4);
VALUE(PI_DEVICE_TYPE_OTHER, 8);

/* pi_device_info */
VALUE(PI_DEVICE_INFO_TYPE, 1);
VALUE(PI_DEVICE_INFO_NAME, 2);
VALUE(PI_DEVICE_INFO_VENDOR, 3);
VALUE(PI_DEVICE_INFO_VERSION, 4);
VALUE(PI_DEVICE_INFO_DRIVER_VERSION, 5);
VALUE(PI_DEVICE_INFO_PLATFORM, 6);
VALUE(PI_DEVICE_INFO_PARENT, 7);
VALUE(PI_DEVICE_INFO_REFERENCE_COUNT, 8);
VALUE(PI_DEVICE_INFO_UUID, 16);
VALUE(PI_DEVICE_INFO_LUID, 17);
VALUE(PI_DEVICE_INFO_PCI_ADDRESS, 18);
VALUE(PI_DEVICE_INFO_NUMA_NODE, 19);
VALUE(PI_DEVICE_INFO_COMPUTE_UNITS, 32);
VALUE(PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE, 33);
VALUE(PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES, 34);
VALUE(PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, 35);
VALUE(PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, 36);
VALUE(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, 37);
VALUE(PI_DEVICE_INFO_ADDRESS_BITS, 38);
VALUE(PI_DEVICE_INFO_FP16, 39);
VALUE(PI_DEVICE_INFO_FP64, 40);
VALUE(PI_DEVICE_INFO_IMAGES, 41);
VALUE(PI_DEVICE_INFO_SUB_GROUP_SIZES, 42);
VALUE(PI_DEVICE_INFO_BUFFER_OFFSET_MODE, 48);
VALUE(PI_DEVICE_INFO_HOST_POINTER_IMPORT, 49);
VALUE(PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT, 50);
VALUE(PI_DEVICE_INFO_INTEGRATED, 51);
VALUE(PI_DEVICE_INFO_USM_CAPABILITIES, 52);
VALUE(PI_DEVICE_INFO_PROGRAM_FORMATS, 53);
VALUE(PI_DEVICE_INFO_QUEUE_FLAGS, 54);
VALUE(PI_DEVICE_INFO_TIMER_RESOLUTION, 55);
VALUE(PI_DEVICE_INFO_PARTITION_KINDS, 56);
VALUE(PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, 57);
VALUE(PI_DEVICE_INFO_EXPORT_HANDLE_TYPES, 58);
VALUE(PI_DEVICE_INFO_CAPABILITIES, 59);
VALUE(PI_DEVICE_INFO_LAUNCH_FEATURES, 60);
VALUE(PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE, 61);
VALUE(PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, 62);
VALUE(PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT, 63);
VALUE(PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT, 64);
VALUE(PI_DEVICE_INFO_HOST_READ_SPEED, 65);
VALUE(PI_DEVICE_INFO_HOST_WRITE_SPEED, 66);
VALUE(PI_DEVICE_INFO_MAP_SPEED, 67);
VALUE(PI_DEVICE_INFO_CALLBACK_LATENCY, 68);
VALUE(PI_DEVICE_INFO_HOST_READ_CHANNELS, 69);
VALUE(PI_DEVICE_INFO_HOST_WRITE_CHANNELS, 70);

/* PI_BUFFER_OFFSET_ */
VALUE(PI_BUFFER_OFFSET_POINTER, 1);
VALUE(PI_BUFFER_OFFSET_SUB_BUFFER, 2);

/* PI_LAUNCH_FEATURE_ */
VALUE(PI_LAUNCH_FEATURE_GLOBAL_OFFSET, 1);
VALUE(PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS, 2);
VALUE(PI_LAUNCH_FEATURE_CLUSTERS, 4);

/* pi_partition_kind */
VALUE(PI_PARTITION_EQUALLY, 1);
VALUE(PI_PARTITION_BY_COUNTS, 2);
VALUE(PI_PARTITION_BY_NUMA, 3);
VALUE(PI_PARTITION_BY_HARDWARE, 4);

/* PI_SCOPE_ */
VALUE(PI_SCOPE_HOST_VISIBLE, 1);
VALUE(PI_SCOPE_COHERENT, 2);
VALUE(PI_SCOPE_CONTIGUOUS, 4);
VALUE(PI_SCOPE_PINNED, 8);
VALUE(PI_SCOPE_LAYOUT, 16);
VALUE(PI_SCOPE_POOLABLE, 32);
VALUE(PI_SCOPE_MAPS_IN_PLACE, 64);

/* pi_context_info */
VALUE(PI_CONTEXT_INFO_DEVICES, 1);
VALUE(PI_CONTEXT_INFO_PLATFORM, 2);
VALUE(PI_CONTEXT_INFO_REFERENCE_COUNT, 3);

/* pi_memory_connection */
VALUE(PI_MEMORY_CONNECTION_NONE, 0);
VALUE(PI_MEMORY_CONNECTION_MIGRATABLE, 1);
VALUE(PI_MEMORY_CONNECTION_UNIFIED, 2);

/* pi_memory_kind */
VALUE(PI_MEMORY_KIND_BUFFER, 0);
VALUE(PI_MEMORY_KIND_IMAGE, 1);
VALUE(PI_MEMORY_KIND_USM_HOST, 2);
VALUE(PI_MEMORY_KIND_USM_DEVICE, 3);
VALUE(PI_MEMORY_KIND_USM_SHARED, 4);
VALUE(PI_MEMORY_KIND_IMPORTED, 5);

/* pi_coherence */
VALUE(PI_COHERENCE_UNKNOWN, 0);
VALUE(PI_COHERENCE_COHERENT, 1);
VALUE(PI_COHERENCE_FLUSH_INVALIDATE, 2);
VALUE(PI_COHERENCE_MAP_UNMAP, 3);

/* pi_residency */
VALUE(PI_RESIDENCY_UNKNOWN, 0);
VALUE(PI_RESIDENCY_SAME_MEMORY, 1);
VALUE(PI_RESIDENCY_REMOTE_ACCESS, 2);
VALUE(PI_RESIDENCY_MIGRATES_WHOLE_OBJECT, 3);

/* pi_concurrent_writers */
VALUE(PI_CONCURRENT_WRITERS_NONE, 0);
VALUE(PI_CONCURRENT_WRITERS_DISJOINT_VIEWS, 1);
VALUE(PI_CONCURRENT_WRITERS_DISJOINT_BYTES, 2);

/* pi_copy_path */
VALUE(PI_COPY_PATH_UNKNOWN, 0);
VALUE(PI_COPY_PATH_DIRECT, 1);
VALUE(PI_COPY_PATH_STAGED_BY_DRIVER, 2);
VALUE(PI_COPY_PATH_STAGED_BY_PLUGIN, 3);

/* pi_preferred_queue */
VALUE(PI_PREFERRED_QUEUE_EITHER, 0);
VALUE(PI_PREFERRED_QUEUE_SRC, 1);
VALUE(PI_PREFERRED_QUEUE_DST, 2);

/* pi_link_kind */
VALUE(PI_LINK_UNKNOWN, 0);
VALUE(PI_LINK_SAME_DEVICE, 1);
VALUE(PI_LINK_SYSTEM_MEMORY, 2);
VALUE(PI_LINK_PCIE, 3);
VALUE(PI_LINK_NVLINK, 4);
VALUE(PI_LINK_XE_LINK, 5);
VALUE(PI_LINK_NETWORK, 6);
VALUE(PI_LINK_OTHER, 7);

/* PI_QUEUE_ */
VALUE(PI_QUEUE_OUT_OF_ORDER, 1);
VALUE(PI_QUEUE_PROFILING, 2);
VALUE(PI_QUEUE_PRIORITY_LOW, 4);
VALUE(PI_QUEUE_PRIORITY_HIGH, 8);

/* pi_queue_info */
VALUE(PI_QUEUE_INFO_CONTEXT, 1);
VALUE(PI_QUEUE_INFO_DEVICE, 2);
VALUE(PI_QUEUE_INFO_FLAGS, 3);
VALUE(PI_QUEUE_INFO_REFERENCE_COUNT, 4);

/* PI_MEM_ */
VALUE(PI_MEM_READ_ONLY, 1);
VALUE(PI_MEM_WRITE_ONLY, 2);
VALUE(PI_MEM_COPY_HOST_PTR, 4);
VALUE(PI_MEM_USE_HOST_PTR, 8);
VALUE(PI_MEM_REQUIRE_CONTIGUOUS, 16);
VALUE(PI_MEM_REQUIRE_PINNED, 32);

/* pi_image_type */
VALUE(PI_IMAGE_1D, 1);
VALUE(PI_IMAGE_2D, 2);
VALUE(PI_IMAGE_3D, 3);
VALUE(PI_IMAGE_1D_ARRAY, 4);
VALUE(PI_IMAGE_2D_ARRAY, 5);

/* pi_channel_order */
VALUE(PI_CHANNEL_ORDER_R, 1);
VALUE(PI_CHANNEL_ORDER_RG, 2);
VALUE(PI_CHANNEL_ORDER_RGBA, 3);
VALUE(PI_CHANNEL_ORDER_BGRA, 4);

/* pi_channel_type */
VALUE(PI_CHANNEL_UNORM8, 1);
VALUE(PI_CHANNEL_UNORM16, 2);
VALUE(PI_CHANNEL_SNORM8, 3);
VALUE(PI_CHANNEL_SNORM16, 4);
VALUE(PI_CHANNEL_UINT8, 5);
VALUE(PI_CHANNEL_UINT16, 6);
VALUE(PI_CHANNEL_UINT32, 7);
VALUE(PI_CHANNEL_SINT8, 8);
VALUE(PI_CHANNEL_SINT16, 9);
VALUE(PI_CHANNEL_SINT32, 10);
VALUE(PI_CHANNEL_HALF, 11);
VALUE(PI_CHANNEL_FLOAT, 12);

/* pi_external_type */
VALUE(PI_EXTERNAL_HOST_POINTER, 1);
VALUE(PI_EXTERNAL_DMA_BUF_FD, 2);
VALUE(PI_EXTERNAL_OPAQUE_FD, 3);
VALUE(PI_EXTERNAL_NATIVE, 4);
VALUE(PI_EXTERNAL_CUDA_IPC, 5);
VALUE(PI_EXTERNAL_ZE_IPC, 6);

/* pi_mem_info */
VALUE(PI_MEM_INFO_SIZE, 1);
VALUE(PI_MEM_INFO_CONTEXT, 2);
VALUE(PI_MEM_INFO_DEVICE, 3);
VALUE(PI_MEM_INFO_FLAGS, 4);
VALUE(PI_MEM_INFO_SCOPE, 5);
VALUE(PI_MEM_INFO_ALIGNMENT, 6);
VALUE(PI_MEM_INFO_PARENT, 7);
VALUE(PI_MEM_INFO_OFFSET, 8);
VALUE(PI_MEM_INFO_COHERENCE, 9);
VALUE(PI_MEM_INFO_DEVICE_ADDRESS, 10);
VALUE(PI_MEM_INFO_BUS_ADDRESS, 11);
VALUE(PI_MEM_INFO_PITCHES, 12);
VALUE(PI_MEM_INFO_KIND, 13);
VALUE(PI_MEM_INFO_REFERENCE_COUNT, 14);

/* pi_usm_kind */
VALUE(PI_USM_HOST, 1);
VALUE(PI_USM_DEVICE, 2);
VALUE(PI_USM_SHARED, 3);

/* pi_usm_info */
VALUE(PI_USM_INFO_KIND, 1);
VALUE(PI_USM_INFO_BASE, 2);
VALUE(PI_USM_INFO_SIZE, 3);
VALUE(PI_USM_INFO_DEVICE, 4);
VALUE(PI_USM_INFO_POOL, 5);

/* pi_usm_pool_info */
VALUE(PI_USM_POOL_INFO_CONTEXT, 1);
VALUE(PI_USM_POOL_INFO_RESERVED, 2);
VALUE(PI_USM_POOL_INFO_USED, 3);
VALUE(PI_USM_POOL_INFO_REFERENCE_COUNT, 4);

/* PI_ */
VALUE(PI_COMMAND_BLOCKING, 1);
VALUE(PI_MAP_READ, 256);
VALUE(PI_MAP_WRITE, 512);
VALUE(PI_MAP_WRITE_DISCARD, 1024);
VALUE(PI_LAUNCH_COOPERATIVE, 256);
VALUE(PI_LAUNCH_INDIRECT_USM_HOST, 512);
VALUE(PI_LAUNCH_INDIRECT_USM_DEVICE, 1024);
VALUE(PI_LAUNCH_INDIRECT_USM_SHARED, 2048);
VALUE(PI_USM_PREFETCH_TO_HOST, 256);

/* pi_usm_advice */
VALUE(PI_USM_ADVICE_READ_MOSTLY, 1);
VALUE(PI_USM_ADVICE_PREFER_DEVICE, 2);
VALUE(PI_USM_ADVICE_PREFER_HOST, 3);
VALUE(PI_USM_ADVICE_ACCESSED_BY_DEVICE, 4);
VALUE(PI_USM_ADVICE_RESET, 5);

/* pi_argument_kind */
VALUE(PI_ARGUMENT_VALUE, 1);
VALUE(PI_ARGUMENT_BUFFER, 2);
VALUE(PI_ARGUMENT_IMAGE, 3);
VALUE(PI_ARGUMENT_SAMPLER, 4);
VALUE(PI_ARGUMENT_POINTER, 5);
VALUE(PI_ARGUMENT_LOCAL, 6);

/* pi_program_format */
VALUE(PI_PROGRAM_FORMAT_OPENCL_C, 1);
VALUE(PI_PROGRAM_FORMAT_SPIRV, 2);
VALUE(PI_PROGRAM_FORMAT_CUDA_C, 3);
VALUE(PI_PROGRAM_FORMAT_PTX, 4);
VALUE(PI_PROGRAM_FORMAT_CUBIN, 5);
VALUE(PI_PROGRAM_FORMAT_DEVICE_BINARY, 6);
VALUE(PI_PROGRAM_FORMAT_NATIVE_TABLE, 7);
VALUE(PI_PROGRAM_FORMAT_NATIVE_LIBRARY, 8);

/* pi_program_info */
VALUE(PI_PROGRAM_INFO_CONTEXT, 1);
VALUE(PI_PROGRAM_INFO_DEVICES, 2);
VALUE(PI_PROGRAM_INFO_FORMAT, 3);
VALUE(PI_PROGRAM_INFO_KERNEL_NAMES, 4);
VALUE(PI_PROGRAM_INFO_BINARY_SIZES, 5);
VALUE(PI_PROGRAM_INFO_BINARIES, 6);
VALUE(PI_PROGRAM_INFO_REFERENCE_COUNT, 7);

/* pi_program_build_info */
VALUE(PI_PROGRAM_BUILD_INFO_STATUS, 1);
VALUE(PI_PROGRAM_BUILD_INFO_LOG, 2);
VALUE(PI_PROGRAM_BUILD_INFO_OPTIONS, 3);

/* PI_PROGRAM_ */
VALUE(PI_PROGRAM_NOT_BUILT, 0);
VALUE(PI_PROGRAM_COMPILED, 1);
VALUE(PI_PROGRAM_BUILT, 2);
VALUE(PI_PROGRAM_FAILED, 3);

/* pi_kernel_info */
VALUE(PI_KERNEL_INFO_NAME, 1);
VALUE(PI_KERNEL_INFO_ARGUMENT_COUNT, 2);
VALUE(PI_KERNEL_INFO_PROGRAM, 3);
VALUE(PI_KERNEL_INFO_CONTEXT, 4);
VALUE(PI_KERNEL_INFO_REFERENCE_COUNT, 5);

/* pi_kernel_group_info */
VALUE(PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE, 1);
VALUE(PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE, 2);
VALUE(PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE, 3);
VALUE(PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE, 4);
VALUE(PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE, 5);

/* pi_kernel_sub_group_info */
VALUE(PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, 1);
VALUE(PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT, 2);
VALUE(PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, 3);

/* pi_addressing_mode */
VALUE(PI_ADDRESSING_NONE, 0);
VALUE(PI_ADDRESSING_CLAMP_TO_EDGE, 1);
VALUE(PI_ADDRESSING_CLAMP, 2);
VALUE(PI_ADDRESSING_REPEAT, 3);
VALUE(PI_ADDRESSING_MIRRORED_REPEAT, 4);

/* pi_filter_mode */
VALUE(PI_FILTER_NEAREST, 0);
VALUE(PI_FILTER_LINEAR, 1);

/* pi_sampler_info */
VALUE(PI_SAMPLER_INFO_CONTEXT, 1);
VALUE(PI_SAMPLER_INFO_NORMALIZED_COORDINATES, 2);
VALUE(PI_SAMPLER_INFO_ADDRESSING, 3);
VALUE(PI_SAMPLER_INFO_FILTER, 4);
VALUE(PI_SAMPLER_INFO_REFERENCE_COUNT, 5);

/* pi_event_status */
VALUE(PI_EVENT_QUEUED, 1);
VALUE(PI_EVENT_SUBMITTED, 2);
VALUE(PI_EVENT_RUNNING, 3);
VALUE(PI_EVENT_COMPLETE, 4);

/* pi_event_info */
VALUE(PI_EVENT_INFO_STATUS, 1);
VALUE(PI_EVENT_INFO_RESULT, 2);
VALUE(PI_EVENT_INFO_ERROR_TEXT, 3);
VALUE(PI_EVENT_INFO_CONTEXT, 4);
VALUE(PI_EVENT_INFO_QUEUE, 5);
VALUE(PI_EVENT_INFO_COMMAND, 6);
VALUE(PI_EVENT_INFO_REFERENCE_COUNT, 7);

/* pi_profiling_info */
VALUE(PI_PROFILING_QUEUED, 1);
VALUE(PI_PROFILING_SUBMIT, 2);
VALUE(PI_PROFILING_START, 3);
VALUE(PI_PROFILING_END, 4);

/* ===== pi/pi.h: structs ======================================================================= */

FROZEN(pi_struct_header, 16);
FIELD(pi_struct_header, struct_size, 0, 4, uint32_t);
FIELD(pi_struct_header, type, 4, 4, pi_struct_type);
FIELD(pi_struct_header, next, 8, 8, const void *);

FROZEN(pi_native_handle, 56);
FIELD(pi_native_handle, type, 0, 4, pi_native_type);
FIELD(pi_native_handle, count, 4, 4, uint32_t);
FIELD(pi_native_handle, value, 8, 48, uint64_t[6]);

MAY_GROW(pi_native_desc, 88);
FIELD(pi_native_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_native_desc, type, 4, 4, pi_struct_type);
FIELD(pi_native_desc, next, 8, 8, const void *);
FIELD(pi_native_desc, flags, 16, 8, uint64_t);
FIELD(pi_native_desc, device, 24, 8, pi_device);
FIELD(pi_native_desc, handle, 32, 56, pi_native_handle);

MAY_GROW(pi_device_partition_desc, 32);
FIELD(pi_device_partition_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_device_partition_desc, type, 4, 4, pi_struct_type);
FIELD(pi_device_partition_desc, next, 8, 8, const void *);
FIELD(pi_device_partition_desc, kind, 16, 4, pi_partition_kind);
FIELD(pi_device_partition_desc, count, 20, 4, uint32_t);
FIELD(pi_device_partition_desc, counts, 24, 8, const uint32_t *);

FROZEN(pi_program_binary, 48);
FIELD(pi_program_binary, target, 0, 8, const char *);
FIELD(pi_program_binary, format, 8, 4, uint32_t);
FIELD(pi_program_binary, reserved, 12, 4, uint32_t);
FIELD(pi_program_binary, data, 16, 8, const void *);
FIELD(pi_program_binary, size, 24, 8, uint64_t);
FIELD(pi_program_binary, reserved_words, 32, 16, uint64_t[2]);

FROZEN(pi_memory_scope, 144);
FIELD(pi_memory_scope, name, 0, 64, char[64]);
FIELD(pi_memory_scope, flags, 64, 8, uint64_t);
FIELD(pi_memory_scope, capacity, 72, 8, uint64_t);
FIELD(pi_memory_scope, max_allocation, 80, 8, uint64_t);
FIELD(pi_memory_scope, min_alignment, 88, 8, uint64_t);
FIELD(pi_memory_scope, offset_alignment, 96, 8, uint64_t);
FIELD(pi_memory_scope, flush_atom, 104, 8, uint64_t);
FIELD(pi_memory_scope, reserved, 112, 32, uint64_t[4]);

MAY_GROW(pi_context_desc, 40);
FIELD(pi_context_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_context_desc, type, 4, 4, pi_struct_type);
FIELD(pi_context_desc, next, 8, 8, const void *);
FIELD(pi_context_desc, flags, 16, 8, uint64_t);
FIELD(pi_context_desc, device_count, 24, 4, uint32_t);
FIELD(pi_context_desc, reserved, 28, 4, uint32_t);
FIELD(pi_context_desc, devices, 32, 8, const pi_device *);

MAY_GROW(pi_memory_connection_query, 32);
FIELD(pi_memory_connection_query, struct_size, 0, 4, uint32_t);
FIELD(pi_memory_connection_query, type, 4, 4, pi_struct_type);
FIELD(pi_memory_connection_query, next, 8, 8, const void *);
FIELD(pi_memory_connection_query, kind, 16, 4, pi_memory_kind);
FIELD(pi_memory_connection_query, src_scope, 20, 4, uint32_t);
FIELD(pi_memory_connection_query, dst_scope, 24, 4, uint32_t);
FIELD(pi_memory_connection_query, reserved, 28, 4, uint32_t);

MAY_GROW(pi_memory_connection_info, 392);
FIELD(pi_memory_connection_info, struct_size, 0, 4, uint32_t);
FIELD(pi_memory_connection_info, type, 4, 4, pi_struct_type);
FIELD(pi_memory_connection_info, next, 8, 8, void *);
FIELD(pi_memory_connection_info, connection, 16, 4, pi_memory_connection);
FIELD(pi_memory_connection_info, coherence, 20, 4, pi_coherence);
FIELD(pi_memory_connection_info, atomics, 24, 4, uint32_t);
FIELD(pi_memory_connection_info, residency, 28, 4, pi_residency);
FIELD(pi_memory_connection_info, concurrent_writers, 32, 4, pi_concurrent_writers);
FIELD(pi_memory_connection_info, path, 36, 4, pi_copy_path);
FIELD(pi_memory_connection_info, preferred_queue, 40, 4, pi_preferred_queue);
FIELD(pi_memory_connection_info, link_kind, 44, 4, pi_link_kind);
FIELD(pi_memory_connection_info, bandwidth, 48, 8, uint64_t);
FIELD(pi_memory_connection_info, latency, 56, 8, uint64_t);
FIELD(pi_memory_connection_info, external_handle_types, 64, 4, uint32_t);
FIELD(pi_memory_connection_info, reserved, 68, 4, uint32_t);
FIELD(pi_memory_connection_info, reason, 72, 256, char[256]);
FIELD(pi_memory_connection_info, channels, 328, 64, uint64_t[PI_CONNECTION_MAX_CHANNELS]);

MAY_GROW(pi_queue_desc, 24);
FIELD(pi_queue_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_queue_desc, type, 4, 4, pi_struct_type);
FIELD(pi_queue_desc, next, 8, 8, const void *);
FIELD(pi_queue_desc, flags, 16, 8, uint64_t);

MAY_GROW(pi_mem_buffer_desc, 56);
FIELD(pi_mem_buffer_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_mem_buffer_desc, type, 4, 4, pi_struct_type);
FIELD(pi_mem_buffer_desc, next, 8, 8, const void *);
FIELD(pi_mem_buffer_desc, flags, 16, 8, uint64_t);
FIELD(pi_mem_buffer_desc, size, 24, 8, uint64_t);
FIELD(pi_mem_buffer_desc, alignment, 32, 8, uint64_t);
FIELD(pi_mem_buffer_desc, scope, 40, 4, uint32_t);
FIELD(pi_mem_buffer_desc, export_types, 44, 4, uint32_t);
FIELD(pi_mem_buffer_desc, host_ptr, 48, 8, void *);

MAY_GROW(pi_mem_layout_desc, 48);
FIELD(pi_mem_layout_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_mem_layout_desc, type, 4, 4, pi_struct_type);
FIELD(pi_mem_layout_desc, next, 8, 8, const void *);
FIELD(pi_mem_layout_desc, rank, 16, 4, uint32_t);
FIELD(pi_mem_layout_desc, element_size, 20, 4, uint32_t);
FIELD(pi_mem_layout_desc, extents, 24, 8, const uint64_t *);
FIELD(pi_mem_layout_desc, axis_separator_count, 32, 4, uint32_t);
FIELD(pi_mem_layout_desc, reserved, 36, 4, uint32_t);
FIELD(pi_mem_layout_desc, axis_separators, 40, 8, const uint32_t *);

MAY_GROW(pi_mem_partition_desc, 40);
FIELD(pi_mem_partition_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_mem_partition_desc, type, 4, 4, pi_struct_type);
FIELD(pi_mem_partition_desc, next, 8, 8, const void *);
FIELD(pi_mem_partition_desc, flags, 16, 8, uint64_t);
FIELD(pi_mem_partition_desc, offset, 24, 8, uint64_t);
FIELD(pi_mem_partition_desc, size, 32, 8, uint64_t);

MAY_GROW(pi_mem_image_desc, 112);
FIELD(pi_mem_image_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_mem_image_desc, type, 4, 4, pi_struct_type);
FIELD(pi_mem_image_desc, next, 8, 8, const void *);
FIELD(pi_mem_image_desc, flags, 16, 8, uint64_t);
FIELD(pi_mem_image_desc, image_type, 24, 4, pi_image_type);
FIELD(pi_mem_image_desc, channel_order, 28, 4, pi_channel_order);
FIELD(pi_mem_image_desc, channel_type, 32, 4, pi_channel_type);
FIELD(pi_mem_image_desc, scope, 36, 4, uint32_t);
FIELD(pi_mem_image_desc, width, 40, 8, uint64_t);
FIELD(pi_mem_image_desc, height, 48, 8, uint64_t);
FIELD(pi_mem_image_desc, depth, 56, 8, uint64_t);
FIELD(pi_mem_image_desc, array_size, 64, 8, uint64_t);
FIELD(pi_mem_image_desc, row_pitch, 72, 8, uint64_t);
FIELD(pi_mem_image_desc, slice_pitch, 80, 8, uint64_t);
FIELD(pi_mem_image_desc, offset, 88, 8, uint64_t);
FIELD(pi_mem_image_desc, mip_levels, 96, 4, uint32_t);
FIELD(pi_mem_image_desc, samples, 100, 4, uint32_t);
FIELD(pi_mem_image_desc, host_ptr, 104, 8, void *);

FROZEN(pi_external_handle, 216);
FIELD(pi_external_handle, type, 0, 4, pi_external_type);
FIELD(pi_external_handle, fd, 4, 4, int32_t);
FIELD(pi_external_handle, pointer, 8, 8, void *);
FIELD(pi_external_handle, native, 16, 56, pi_native_handle);
FIELD(pi_external_handle, ipc, 72, 64, uint8_t[64]);
FIELD(pi_external_handle, offset, 136, 8, uint64_t);
FIELD(pi_external_handle, size, 144, 8, uint64_t);
FIELD(pi_external_handle, allocation_size, 152, 8, uint64_t);
FIELD(pi_external_handle, flags, 160, 8, uint64_t);
FIELD(pi_external_handle, reserved, 168, 48, uint64_t[6]);

MAY_GROW(pi_mem_import_desc, 264);
FIELD(pi_mem_import_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_mem_import_desc, type, 4, 4, pi_struct_type);
FIELD(pi_mem_import_desc, next, 8, 8, const void *);
FIELD(pi_mem_import_desc, flags, 16, 8, uint64_t);
FIELD(pi_mem_import_desc, size, 24, 8, uint64_t);
FIELD(pi_mem_import_desc, offset, 32, 8, uint64_t);
FIELD(pi_mem_import_desc, own, 40, 4, uint32_t);
FIELD(pi_mem_import_desc, reserved, 44, 4, uint32_t);
FIELD(pi_mem_import_desc, handle, 48, 216, pi_external_handle);

MAY_GROW(pi_mem_export_desc, 24);
FIELD(pi_mem_export_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_mem_export_desc, type, 4, 4, pi_struct_type);
FIELD(pi_mem_export_desc, next, 8, 8, const void *);
FIELD(pi_mem_export_desc, external_type, 16, 4, pi_external_type);
FIELD(pi_mem_export_desc, reserved, 20, 4, uint32_t);

MAY_GROW(pi_usm_desc, 56);
FIELD(pi_usm_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_desc, next, 8, 8, const void *);
FIELD(pi_usm_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_desc, kind, 24, 4, pi_usm_kind);
FIELD(pi_usm_desc, scope, 28, 4, uint32_t);
FIELD(pi_usm_desc, size, 32, 8, uint64_t);
FIELD(pi_usm_desc, alignment, 40, 8, uint64_t);
FIELD(pi_usm_desc, pool, 48, 8, pi_usm_pool);

MAY_GROW(pi_usm_pool_desc, 48);
FIELD(pi_usm_pool_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_pool_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_pool_desc, next, 8, 8, const void *);
FIELD(pi_usm_pool_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_pool_desc, kind, 24, 4, pi_usm_kind);
FIELD(pi_usm_pool_desc, scope, 28, 4, uint32_t);
FIELD(pi_usm_pool_desc, release_threshold, 32, 8, uint64_t);
FIELD(pi_usm_pool_desc, limit, 40, 8, uint64_t);

FROZEN(pi_region, 80);
FIELD(pi_region, src_offset, 0, 8, uint64_t);
FIELD(pi_region, dst_offset, 8, 8, uint64_t);
FIELD(pi_region, extent, 16, 24, uint64_t[3]);
FIELD(pi_region, src_pitch, 40, 16, uint64_t[2]);
FIELD(pi_region, dst_pitch, 56, 16, uint64_t[2]);
FIELD(pi_region, reserved, 72, 8, uint64_t);

MAY_GROW(pi_buffer_read_desc, 56);
FIELD(pi_buffer_read_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_buffer_read_desc, type, 4, 4, pi_struct_type);
FIELD(pi_buffer_read_desc, next, 8, 8, const void *);
FIELD(pi_buffer_read_desc, flags, 16, 8, uint64_t);
FIELD(pi_buffer_read_desc, mem, 24, 8, pi_mem);
FIELD(pi_buffer_read_desc, host_ptr, 32, 8, void *);
FIELD(pi_buffer_read_desc, region_count, 40, 4, uint32_t);
FIELD(pi_buffer_read_desc, reserved, 44, 4, uint32_t);
FIELD(pi_buffer_read_desc, regions, 48, 8, const pi_region *);

MAY_GROW(pi_buffer_write_desc, 56);
FIELD(pi_buffer_write_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_buffer_write_desc, type, 4, 4, pi_struct_type);
FIELD(pi_buffer_write_desc, next, 8, 8, const void *);
FIELD(pi_buffer_write_desc, flags, 16, 8, uint64_t);
FIELD(pi_buffer_write_desc, mem, 24, 8, pi_mem);
FIELD(pi_buffer_write_desc, host_ptr, 32, 8, const void *);
FIELD(pi_buffer_write_desc, region_count, 40, 4, uint32_t);
FIELD(pi_buffer_write_desc, reserved, 44, 4, uint32_t);
FIELD(pi_buffer_write_desc, regions, 48, 8, const pi_region *);

MAY_GROW(pi_buffer_copy_desc, 56);
FIELD(pi_buffer_copy_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_buffer_copy_desc, type, 4, 4, pi_struct_type);
FIELD(pi_buffer_copy_desc, next, 8, 8, const void *);
FIELD(pi_buffer_copy_desc, flags, 16, 8, uint64_t);
FIELD(pi_buffer_copy_desc, src, 24, 8, pi_mem);
FIELD(pi_buffer_copy_desc, dst, 32, 8, pi_mem);
FIELD(pi_buffer_copy_desc, region_count, 40, 4, uint32_t);
FIELD(pi_buffer_copy_desc, reserved, 44, 4, uint32_t);
FIELD(pi_buffer_copy_desc, regions, 48, 8, const pi_region *);

MAY_GROW(pi_buffer_fill_desc, 64);
FIELD(pi_buffer_fill_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_buffer_fill_desc, type, 4, 4, pi_struct_type);
FIELD(pi_buffer_fill_desc, next, 8, 8, const void *);
FIELD(pi_buffer_fill_desc, flags, 16, 8, uint64_t);
FIELD(pi_buffer_fill_desc, mem, 24, 8, pi_mem);
FIELD(pi_buffer_fill_desc, pattern, 32, 8, const void *);
FIELD(pi_buffer_fill_desc, pattern_size, 40, 8, uint64_t);
FIELD(pi_buffer_fill_desc, offset, 48, 8, uint64_t);
FIELD(pi_buffer_fill_desc, size, 56, 8, uint64_t);

MAY_GROW(pi_buffer_map_desc, 56);
FIELD(pi_buffer_map_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_buffer_map_desc, type, 4, 4, pi_struct_type);
FIELD(pi_buffer_map_desc, next, 8, 8, const void *);
FIELD(pi_buffer_map_desc, flags, 16, 8, uint64_t);
FIELD(pi_buffer_map_desc, mem, 24, 8, pi_mem);
FIELD(pi_buffer_map_desc, offset, 32, 8, uint64_t);
FIELD(pi_buffer_map_desc, size, 40, 8, uint64_t);
FIELD(pi_buffer_map_desc, out_pointer, 48, 8, void **);

MAY_GROW(pi_unmap_desc, 40);
FIELD(pi_unmap_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_unmap_desc, type, 4, 4, pi_struct_type);
FIELD(pi_unmap_desc, next, 8, 8, const void *);
FIELD(pi_unmap_desc, flags, 16, 8, uint64_t);
FIELD(pi_unmap_desc, mem, 24, 8, pi_mem);
FIELD(pi_unmap_desc, pointer, 32, 8, void *);

FROZEN(pi_image_region, 88);
FIELD(pi_image_region, origin, 0, 24, uint64_t[3]);
FIELD(pi_image_region, extent, 24, 24, uint64_t[3]);
FIELD(pi_image_region, row_pitch, 48, 8, uint64_t);
FIELD(pi_image_region, slice_pitch, 56, 8, uint64_t);
FIELD(pi_image_region, offset, 64, 8, uint64_t);
FIELD(pi_image_region, mip_level, 72, 4, uint32_t);
FIELD(pi_image_region, reserved, 76, 12, uint32_t[3]);

MAY_GROW(pi_image_read_desc, 56);
FIELD(pi_image_read_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_image_read_desc, type, 4, 4, pi_struct_type);
FIELD(pi_image_read_desc, next, 8, 8, const void *);
FIELD(pi_image_read_desc, flags, 16, 8, uint64_t);
FIELD(pi_image_read_desc, image, 24, 8, pi_mem);
FIELD(pi_image_read_desc, host_ptr, 32, 8, void *);
FIELD(pi_image_read_desc, region_count, 40, 4, uint32_t);
FIELD(pi_image_read_desc, reserved, 44, 4, uint32_t);
FIELD(pi_image_read_desc, regions, 48, 8, const pi_image_region *);

MAY_GROW(pi_image_write_desc, 56);
FIELD(pi_image_write_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_image_write_desc, type, 4, 4, pi_struct_type);
FIELD(pi_image_write_desc, next, 8, 8, const void *);
FIELD(pi_image_write_desc, flags, 16, 8, uint64_t);
FIELD(pi_image_write_desc, image, 24, 8, pi_mem);
FIELD(pi_image_write_desc, host_ptr, 32, 8, const void *);
FIELD(pi_image_write_desc, region_count, 40, 4, uint32_t);
FIELD(pi_image_write_desc, reserved, 44, 4, uint32_t);
FIELD(pi_image_write_desc, regions, 48, 8, const pi_image_region *);

FROZEN(pi_image_copy_region, 112);
FIELD(pi_image_copy_region, src_origin, 0, 24, uint64_t[3]);
FIELD(pi_image_copy_region, dst_origin, 24, 24, uint64_t[3]);
FIELD(pi_image_copy_region, extent, 48, 24, uint64_t[3]);
FIELD(pi_image_copy_region, buffer_offset, 72, 8, uint64_t);
FIELD(pi_image_copy_region, buffer_row_pitch, 80, 8, uint64_t);
FIELD(pi_image_copy_region, buffer_slice_pitch, 88, 8, uint64_t);
FIELD(pi_image_copy_region, src_mip_level, 96, 4, uint32_t);
FIELD(pi_image_copy_region, dst_mip_level, 100, 4, uint32_t);
FIELD(pi_image_copy_region, reserved, 104, 8, uint64_t);

MAY_GROW(pi_image_copy_desc, 56);
FIELD(pi_image_copy_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_image_copy_desc, type, 4, 4, pi_struct_type);
FIELD(pi_image_copy_desc, next, 8, 8, const void *);
FIELD(pi_image_copy_desc, flags, 16, 8, uint64_t);
FIELD(pi_image_copy_desc, src, 24, 8, pi_mem);
FIELD(pi_image_copy_desc, dst, 32, 8, pi_mem);
FIELD(pi_image_copy_desc, region_count, 40, 4, uint32_t);
FIELD(pi_image_copy_desc, reserved, 44, 4, uint32_t);
FIELD(pi_image_copy_desc, regions, 48, 8, const pi_image_copy_region *);

MAY_GROW(pi_image_fill_desc, 88);
FIELD(pi_image_fill_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_image_fill_desc, type, 4, 4, pi_struct_type);
FIELD(pi_image_fill_desc, next, 8, 8, const void *);
FIELD(pi_image_fill_desc, flags, 16, 8, uint64_t);
FIELD(pi_image_fill_desc, image, 24, 8, pi_mem);
FIELD(pi_image_fill_desc, color, 32, 8, const void *);
FIELD(pi_image_fill_desc, origin, 40, 24, uint64_t[3]);
FIELD(pi_image_fill_desc, extent, 64, 24, uint64_t[3]);

MAY_GROW(pi_usm_copy_desc, 56);
FIELD(pi_usm_copy_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_copy_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_copy_desc, next, 8, 8, const void *);
FIELD(pi_usm_copy_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_copy_desc, src, 24, 8, const void *);
FIELD(pi_usm_copy_desc, dst, 32, 8, void *);
FIELD(pi_usm_copy_desc, region_count, 40, 4, uint32_t);
FIELD(pi_usm_copy_desc, reserved, 44, 4, uint32_t);
FIELD(pi_usm_copy_desc, regions, 48, 8, const pi_region *);

MAY_GROW(pi_usm_fill_desc, 56);
FIELD(pi_usm_fill_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_fill_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_fill_desc, next, 8, 8, const void *);
FIELD(pi_usm_fill_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_fill_desc, pointer, 24, 8, void *);
FIELD(pi_usm_fill_desc, pattern, 32, 8, const void *);
FIELD(pi_usm_fill_desc, pattern_size, 40, 8, uint64_t);
FIELD(pi_usm_fill_desc, size, 48, 8, uint64_t);

MAY_GROW(pi_usm_prefetch_desc, 40);
FIELD(pi_usm_prefetch_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_prefetch_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_prefetch_desc, next, 8, 8, const void *);
FIELD(pi_usm_prefetch_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_prefetch_desc, pointer, 24, 8, const void *);
FIELD(pi_usm_prefetch_desc, size, 32, 8, uint64_t);

MAY_GROW(pi_usm_advise_desc, 48);
FIELD(pi_usm_advise_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_advise_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_advise_desc, next, 8, 8, const void *);
FIELD(pi_usm_advise_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_advise_desc, pointer, 24, 8, const void *);
FIELD(pi_usm_advise_desc, size, 32, 8, uint64_t);
FIELD(pi_usm_advise_desc, advice, 40, 4, pi_usm_advice);
FIELD(pi_usm_advise_desc, reserved, 44, 4, uint32_t);

MAY_GROW(pi_usm_alloc_desc, 56);
FIELD(pi_usm_alloc_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_alloc_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_alloc_desc, next, 8, 8, const void *);
FIELD(pi_usm_alloc_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_alloc_desc, pool, 24, 8, pi_usm_pool);
FIELD(pi_usm_alloc_desc, size, 32, 8, uint64_t);
FIELD(pi_usm_alloc_desc, alignment, 40, 8, uint64_t);
FIELD(pi_usm_alloc_desc, out_pointer, 48, 8, void **);

MAY_GROW(pi_usm_free_desc, 32);
FIELD(pi_usm_free_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_usm_free_desc, type, 4, 4, pi_struct_type);
FIELD(pi_usm_free_desc, next, 8, 8, const void *);
FIELD(pi_usm_free_desc, flags, 16, 8, uint64_t);
FIELD(pi_usm_free_desc, pointer, 24, 8, void *);

FROZEN(pi_kernel_argument, 40);
FIELD(pi_kernel_argument, kind, 0, 4, pi_argument_kind);
FIELD(pi_kernel_argument, reserved, 4, 4, uint32_t);
FIELD(pi_kernel_argument, value, 8, 8, const void *);
FIELD(pi_kernel_argument, pointer, 8, 8, const void *);
FIELD(pi_kernel_argument, mem, 8, 8, pi_mem);
FIELD(pi_kernel_argument, sampler, 8, 8, pi_sampler);
FIELD(pi_kernel_argument, offset, 16, 8, uint64_t);
FIELD(pi_kernel_argument, size, 24, 8, uint64_t);
FIELD(pi_kernel_argument, image_sampler, 32, 8, pi_sampler);

MAY_GROW(pi_kernel_launch_desc, 152);
FIELD(pi_kernel_launch_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_kernel_launch_desc, type, 4, 4, pi_struct_type);
FIELD(pi_kernel_launch_desc, next, 8, 8, const void *);
FIELD(pi_kernel_launch_desc, flags, 16, 8, uint64_t);
FIELD(pi_kernel_launch_desc, kernel, 24, 8, pi_kernel);
FIELD(pi_kernel_launch_desc, dimensions, 32, 4, uint32_t);
FIELD(pi_kernel_launch_desc, argument_count, 36, 4, uint32_t);
FIELD(pi_kernel_launch_desc, arguments, 40, 8, const pi_kernel_argument *);
FIELD(pi_kernel_launch_desc, global_offset, 48, 24, uint64_t[3]);
FIELD(pi_kernel_launch_desc, global_size, 72, 24, uint64_t[3]);
FIELD(pi_kernel_launch_desc, local_size, 96, 24, uint64_t[3]);
FIELD(pi_kernel_launch_desc, cluster_size, 120, 24, uint64_t[3]);
FIELD(pi_kernel_launch_desc, local_memory_size, 144, 8, uint64_t);

MAY_GROW(pi_host_function_desc, 40);
FIELD(pi_host_function_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_host_function_desc, type, 4, 4, pi_struct_type);
FIELD(pi_host_function_desc, next, 8, 8, const void *);
FIELD(pi_host_function_desc, flags, 16, 8, uint64_t);
FIELD(pi_host_function_desc, function, 24, 8, pi_host_function);
FIELD(pi_host_function_desc, user_data, 32, 8, void *);

MAY_GROW(pi_events_wait_desc, 24);
FIELD(pi_events_wait_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_events_wait_desc, type, 4, 4, pi_struct_type);
FIELD(pi_events_wait_desc, next, 8, 8, const void *);
FIELD(pi_events_wait_desc, flags, 16, 8, uint64_t);

MAY_GROW(pi_barrier_desc, 24);
FIELD(pi_barrier_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_barrier_desc, type, 4, 4, pi_struct_type);
FIELD(pi_barrier_desc, next, 8, 8, const void *);
FIELD(pi_barrier_desc, flags, 16, 8, uint64_t);

MAY_GROW(pi_timestamp_desc, 24);
FIELD(pi_timestamp_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_timestamp_desc, type, 4, 4, pi_struct_type);
FIELD(pi_timestamp_desc, next, 8, 8, const void *);
FIELD(pi_timestamp_desc, flags, 16, 8, uint64_t);

MAY_GROW(pi_device_global_read_desc, 64);
FIELD(pi_device_global_read_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_device_global_read_desc, type, 4, 4, pi_struct_type);
FIELD(pi_device_global_read_desc, next, 8, 8, const void *);
FIELD(pi_device_global_read_desc, flags, 16, 8, uint64_t);
FIELD(pi_device_global_read_desc, program, 24, 8, pi_program);
FIELD(pi_device_global_read_desc, name, 32, 8, const char *);
FIELD(pi_device_global_read_desc, host_ptr, 40, 8, void *);
FIELD(pi_device_global_read_desc, offset, 48, 8, uint64_t);
FIELD(pi_device_global_read_desc, size, 56, 8, uint64_t);

MAY_GROW(pi_device_global_write_desc, 64);
FIELD(pi_device_global_write_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_device_global_write_desc, type, 4, 4, pi_struct_type);
FIELD(pi_device_global_write_desc, next, 8, 8, const void *);
FIELD(pi_device_global_write_desc, flags, 16, 8, uint64_t);
FIELD(pi_device_global_write_desc, program, 24, 8, pi_program);
FIELD(pi_device_global_write_desc, name, 32, 8, const char *);
FIELD(pi_device_global_write_desc, host_ptr, 40, 8, const void *);
FIELD(pi_device_global_write_desc, offset, 48, 8, uint64_t);
FIELD(pi_device_global_write_desc, size, 56, 8, uint64_t);

MAY_GROW(pi_program_desc, 48);
FIELD(pi_program_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_program_desc, type, 4, 4, pi_struct_type);
FIELD(pi_program_desc, next, 8, 8, const void *);
FIELD(pi_program_desc, flags, 16, 8, uint64_t);
FIELD(pi_program_desc, format, 24, 4, pi_program_format);
FIELD(pi_program_desc, reserved, 28, 4, uint32_t);
FIELD(pi_program_desc, data, 32, 8, const void *);
FIELD(pi_program_desc, size, 40, 8, uint64_t);

MAY_GROW(pi_program_build_desc, 48);
FIELD(pi_program_build_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_program_build_desc, type, 4, 4, pi_struct_type);
FIELD(pi_program_build_desc, next, 8, 8, const void *);
FIELD(pi_program_build_desc, flags, 16, 8, uint64_t);
FIELD(pi_program_build_desc, device_count, 24, 4, uint32_t);
FIELD(pi_program_build_desc, reserved, 28, 4, uint32_t);
FIELD(pi_program_build_desc, devices, 32, 8, const pi_device *);
FIELD(pi_program_build_desc, options, 40, 8, const char *);

MAY_GROW(pi_program_link_desc, 56);
FIELD(pi_program_link_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_program_link_desc, type, 4, 4, pi_struct_type);
FIELD(pi_program_link_desc, next, 8, 8, const void *);
FIELD(pi_program_link_desc, flags, 16, 8, uint64_t);
FIELD(pi_program_link_desc, program_count, 24, 4, uint32_t);
FIELD(pi_program_link_desc, device_count, 28, 4, uint32_t);
FIELD(pi_program_link_desc, programs, 32, 8, const pi_program *);
FIELD(pi_program_link_desc, devices, 40, 8, const pi_device *);
FIELD(pi_program_link_desc, options, 48, 8, const char *);

FROZEN(pi_specialization_constant, 24);
FIELD(pi_specialization_constant, id, 0, 4, uint32_t);
FIELD(pi_specialization_constant, reserved, 4, 4, uint32_t);
FIELD(pi_specialization_constant, size, 8, 8, uint64_t);
FIELD(pi_specialization_constant, value, 16, 8, const void *);

MAY_GROW(pi_kernel_desc, 24);
FIELD(pi_kernel_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_kernel_desc, type, 4, 4, pi_struct_type);
FIELD(pi_kernel_desc, next, 8, 8, const void *);
FIELD(pi_kernel_desc, flags, 16, 8, uint64_t);

MAY_GROW(pi_sampler_desc, 32);
FIELD(pi_sampler_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_sampler_desc, type, 4, 4, pi_struct_type);
FIELD(pi_sampler_desc, next, 8, 8, const void *);
FIELD(pi_sampler_desc, normalized_coordinates, 16, 4, uint32_t);
FIELD(pi_sampler_desc, addressing, 20, 4, pi_addressing_mode);
FIELD(pi_sampler_desc, filter, 24, 4, pi_filter_mode);
FIELD(pi_sampler_desc, reserved, 28, 4, uint32_t);

MAY_GROW(pi_host_event_desc, 24);
FIELD(pi_host_event_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_host_event_desc, type, 4, 4, pi_struct_type);
FIELD(pi_host_event_desc, next, 8, 8, const void *);
FIELD(pi_host_event_desc, flags, 16, 8, uint64_t);

/* ===== pi/pi.h: functions ===================================================================== */

FUNCTION(piGetLastError, pi_result(pi_result *out_code, const char **out_message));
FUNCTION(piPluginsGet, pi_result(pi_loader loader, uint32_t capacity, pi_plugin *out_plugins,
                                 uint32_t *out_count));
FUNCTION(piPluginGetInfo, pi_result(pi_plugin plugin, pi_plugin_info name, uint64_t size,
                                    void *value, uint64_t *out_size));
FUNCTION(piPluginGetExtension,
         pi_result(pi_plugin plugin, const char *name, uint64_t min_size, const void **out_table));
FUNCTION(piPlatformsGet, pi_result(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                   uint32_t *out_count));
FUNCTION(piPlatformGetInfo, pi_result(pi_platform platform, pi_platform_info name, uint64_t size,
                                      void *value, uint64_t *out_size));
FUNCTION(piPlatformGetBackendOption, pi_result(pi_platform platform, const char *frontend_option,
                                               uint64_t size, char *value, uint64_t *out_size));
FUNCTION(piPlatformGetNativeHandle, pi_result(pi_platform platform, pi_native_handle *out_handle));
FUNCTION(piPlatformCreateWithNativeHandle,
         pi_result(pi_plugin plugin, const pi_native_desc *desc, pi_platform *out_platform));
FUNCTION(piDevicesGet, pi_result(pi_platform platform, pi_device_type types, uint32_t capacity,
                                 pi_device *out_devices, uint32_t *out_count));
FUNCTION(piDeviceGetInfo, pi_result(pi_device device, pi_device_info name, uint64_t size,
                                    void *value, uint64_t *out_size));
FUNCTION(piDevicePartition,
         pi_result(pi_device device, const pi_device_partition_desc *desc, uint32_t capacity,
                   pi_device *out_devices, uint32_t *out_count));
FUNCTION(piDeviceRetain, pi_result(pi_device device));
FUNCTION(piDeviceRelease, pi_result(pi_device device));
FUNCTION(piDeviceGetGlobalTimestamps,
         pi_result(pi_device device, uint64_t *out_device_time, uint64_t *out_host_time));
FUNCTION(piDeviceSelectBinary, pi_result(pi_device device, uint32_t count,
                                         const pi_program_binary *binaries, uint32_t *out_index));
FUNCTION(piDeviceGetMemoryScopes, pi_result(pi_device device, uint32_t capacity,
                                            pi_memory_scope *out_scopes, uint32_t *out_count));
FUNCTION(piDeviceGetNativeHandle, pi_result(pi_device device, pi_native_handle *out_handle));
FUNCTION(piDeviceCreateWithNativeHandle,
         pi_result(pi_platform platform, const pi_native_desc *desc, pi_device *out_device));
FUNCTION(piContextCreate,
         pi_result(pi_platform platform, const pi_context_desc *desc, pi_context *out_context));
FUNCTION(piContextRetain, pi_result(pi_context context));
FUNCTION(piContextRelease, pi_result(pi_context context));
FUNCTION(piContextGetInfo, pi_result(pi_context context, pi_context_info name, uint64_t size,
                                     void *value, uint64_t *out_size));
FUNCTION(piContextGetNativeHandle,
         pi_result(pi_context context, pi_device device, pi_native_handle *out_handle));
FUNCTION(piContextCreateWithNativeHandle,
         pi_result(pi_platform platform, const pi_native_desc *desc, pi_context *out_context));
FUNCTION(piGetMemoryConnection,
         pi_result(pi_device src_device, pi_context src_context, pi_device dst_device,
                   pi_context dst_context, pi_memory_connection *out_connection));
FUNCTION(piGetMemoryConnectionInfo,
         pi_result(pi_device src_device, pi_context src_context, pi_device dst_device,
                   pi_context dst_context, const pi_memory_connection_query *query,
                   pi_memory_connection_info *out_info));
FUNCTION(piQueueCreate, pi_result(pi_context context, pi_device device, const pi_queue_desc *desc,
                                  pi_queue *out_queue));
FUNCTION(piQueueRetain, pi_result(pi_queue queue));
FUNCTION(piQueueRelease, pi_result(pi_queue queue));
FUNCTION(piQueueGetInfo, pi_result(pi_queue queue, pi_queue_info name, uint64_t size, void *value,
                                   uint64_t *out_size));
FUNCTION(piQueueFlush, pi_result(pi_queue queue));
FUNCTION(piQueueFinish, pi_result(pi_queue queue));
FUNCTION(piQueueGetNativeHandle, pi_result(pi_queue queue, pi_native_handle *out_handle));
FUNCTION(piQueueCreateWithNativeHandle, pi_result(pi_context context, pi_device device,
                                                  const pi_native_desc *desc, pi_queue *out_queue));
FUNCTION(piMemBufferCreate, pi_result(pi_context context, pi_device device,
                                      const pi_mem_buffer_desc *desc, pi_mem *out_mem));
FUNCTION(piMemImageCreate, pi_result(pi_context context, pi_device device,
                                     const pi_mem_image_desc *desc, pi_mem *out_mem));
FUNCTION(piMemBufferPartition,
         pi_result(pi_mem mem, const pi_mem_partition_desc *desc, pi_mem *out_mem));
FUNCTION(piMemImageViewCreate,
         pi_result(pi_mem mem, const pi_mem_image_desc *desc, pi_mem *out_mem));
FUNCTION(piMemImport, pi_result(pi_context context, pi_device device,
                                const pi_mem_import_desc *desc, pi_mem *out_mem));
FUNCTION(piMemExport,
         pi_result(pi_mem mem, const pi_mem_export_desc *desc, pi_external_handle *out_handle));
FUNCTION(piMemGetInfo,
         pi_result(pi_mem mem, pi_mem_info name, uint64_t size, void *value, uint64_t *out_size));
FUNCTION(piMemGetHostPointer, pi_result(pi_mem mem, void **out_pointer));
FUNCTION(piMemFlush, pi_result(pi_mem mem, uint64_t offset, uint64_t size));
FUNCTION(piMemInvalidate, pi_result(pi_mem mem, uint64_t offset, uint64_t size));
FUNCTION(piMemRetain, pi_result(pi_mem mem));
FUNCTION(piMemRelease, pi_result(pi_mem mem));
FUNCTION(piMemGetNativeHandle,
         pi_result(pi_mem mem, pi_device device, pi_native_handle *out_handle));
FUNCTION(piUsmAlloc, pi_result(pi_context context, pi_device device, const pi_usm_desc *desc,
                               void **out_pointer));
FUNCTION(piUsmFree, pi_result(pi_context context, void *pointer));
FUNCTION(piUsmGetInfo, pi_result(pi_context context, const void *pointer, pi_usm_info name,
                                 uint64_t size, void *value, uint64_t *out_size));
FUNCTION(piUsmPoolCreate, pi_result(pi_context context, pi_device device,
                                    const pi_usm_pool_desc *desc, pi_usm_pool *out_pool));
FUNCTION(piUsmPoolRetain, pi_result(pi_usm_pool pool));
FUNCTION(piUsmPoolRelease, pi_result(pi_usm_pool pool));
FUNCTION(piUsmPoolGetInfo, pi_result(pi_usm_pool pool, pi_usm_pool_info name, uint64_t size,
                                     void *value, uint64_t *out_size));
FUNCTION(piUsmHostRegister,
         pi_result(pi_context context, void *pointer, uint64_t size, uint64_t flags));
FUNCTION(piUsmHostUnregister, pi_result(pi_context context, void *pointer));
FUNCTION(piEnqueueMemBufferRead,
         pi_result(pi_queue queue, const pi_buffer_read_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemBufferWrite,
         pi_result(pi_queue queue, const pi_buffer_write_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemBufferCopy,
         pi_result(pi_queue queue, const pi_buffer_copy_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemBufferFill,
         pi_result(pi_queue queue, const pi_buffer_fill_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemBufferMap,
         pi_result(pi_queue queue, const pi_buffer_map_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemUnmap,
         pi_result(pi_queue queue, const pi_unmap_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemImageRead,
         pi_result(pi_queue queue, const pi_image_read_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemImageWrite,
         pi_result(pi_queue queue, const pi_image_write_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemImageCopy,
         pi_result(pi_queue queue, const pi_image_copy_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueMemImageFill,
         pi_result(pi_queue queue, const pi_image_fill_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueUsmCopy,
         pi_result(pi_queue queue, const pi_usm_copy_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueUsmFill,
         pi_result(pi_queue queue, const pi_usm_fill_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueUsmPrefetch,
         pi_result(pi_queue queue, const pi_usm_prefetch_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueUsmAdvise,
         pi_result(pi_queue queue, const pi_usm_advise_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueUsmAlloc,
         pi_result(pi_queue queue, const pi_usm_alloc_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueUsmFree,
         pi_result(pi_queue queue, const pi_usm_free_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueKernelLaunch,
         pi_result(pi_queue queue, const pi_kernel_launch_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueHostFunction,
         pi_result(pi_queue queue, const pi_host_function_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueEventsWait,
         pi_result(pi_queue queue, const pi_events_wait_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueBarrier,
         pi_result(pi_queue queue, const pi_barrier_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueTimestamp,
         pi_result(pi_queue queue, const pi_timestamp_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueDeviceGlobalRead,
         pi_result(pi_queue queue, const pi_device_global_read_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piEnqueueDeviceGlobalWrite,
         pi_result(pi_queue queue, const pi_device_global_write_desc *desc, uint32_t wait_count,
                   const pi_event *wait_list, pi_event *out_event));
FUNCTION(piProgramCreate,
         pi_result(pi_context context, const pi_program_desc *desc, pi_program *out_program));
FUNCTION(piProgramCompile, pi_result(pi_program program, const pi_program_build_desc *desc));
FUNCTION(piProgramLink,
         pi_result(pi_context context, const pi_program_link_desc *desc, pi_program *out_program));
FUNCTION(piProgramBuild, pi_result(pi_program program, const pi_program_build_desc *desc));
FUNCTION(piProgramSetSpecializationConstants,
         pi_result(pi_program program, uint32_t count,
                   const pi_specialization_constant *constants));
FUNCTION(piProgramRetain, pi_result(pi_program program));
FUNCTION(piProgramRelease, pi_result(pi_program program));
FUNCTION(piProgramGetInfo, pi_result(pi_program program, pi_program_info name, uint64_t size,
                                     void *value, uint64_t *out_size));
FUNCTION(piProgramGetBuildInfo,
         pi_result(pi_program program, pi_device device, pi_program_build_info name, uint64_t size,
                   void *value, uint64_t *out_size));
FUNCTION(piProgramGetFunctionPointer,
         pi_result(pi_program program, pi_device device, const char *name, uint64_t *out_address));
FUNCTION(piProgramGetGlobalVariablePointer,
         pi_result(pi_program program, pi_device device, const char *name, void **out_pointer,
                   uint64_t *out_size));
FUNCTION(piProgramGetNativeHandle,
         pi_result(pi_program program, pi_device device, pi_native_handle *out_handle));
FUNCTION(piProgramCreateWithNativeHandle,
         pi_result(pi_context context, const pi_native_desc *desc, pi_program *out_program));
FUNCTION(piKernelCreate, pi_result(pi_program program, const char *name, const pi_kernel_desc *desc,
                                   pi_kernel *out_kernel));
FUNCTION(piKernelRetain, pi_result(pi_kernel kernel));
FUNCTION(piKernelRelease, pi_result(pi_kernel kernel));
FUNCTION(piKernelGetInfo, pi_result(pi_kernel kernel, pi_kernel_info name, uint64_t size,
                                    void *value, uint64_t *out_size));
FUNCTION(piKernelGetGroupInfo,
         pi_result(pi_kernel kernel, pi_device device, pi_kernel_group_info name, uint64_t size,
                   void *value, uint64_t *out_size));
FUNCTION(piKernelGetSubGroupInfo,
         pi_result(pi_kernel kernel, pi_device device, pi_kernel_sub_group_info name, uint64_t size,
                   void *value, uint64_t *out_size));
FUNCTION(piKernelGetSuggestedLocalSize,
         pi_result(pi_queue queue, const pi_kernel_launch_desc *desc, uint64_t out_local_size[3]));
FUNCTION(piKernelGetMaxCooperativeGroups,
         pi_result(pi_queue queue, const pi_kernel_launch_desc *desc, uint32_t *out_count));
FUNCTION(piKernelGetNativeHandle,
         pi_result(pi_kernel kernel, pi_device device, pi_native_handle *out_handle));
FUNCTION(piKernelCreateWithNativeHandle,
         pi_result(pi_program program, const pi_native_desc *desc, pi_kernel *out_kernel));
FUNCTION(piSamplerCreate,
         pi_result(pi_context context, const pi_sampler_desc *desc, pi_sampler *out_sampler));
FUNCTION(piSamplerRetain, pi_result(pi_sampler sampler));
FUNCTION(piSamplerRelease, pi_result(pi_sampler sampler));
FUNCTION(piSamplerGetInfo, pi_result(pi_sampler sampler, pi_sampler_info name, uint64_t size,
                                     void *value, uint64_t *out_size));
FUNCTION(piSamplerGetNativeHandle, pi_result(pi_sampler sampler, pi_native_handle *out_handle));
FUNCTION(piSamplerCreateWithNativeHandle,
         pi_result(pi_context context, const pi_native_desc *desc, pi_sampler *out_sampler));
FUNCTION(piEventWait, pi_result(pi_event event, uint64_t timeout));
FUNCTION(piEventGetInfo, pi_result(pi_event event, pi_event_info name, uint64_t size, void *value,
                                   uint64_t *out_size));
FUNCTION(piEventGetProfilingInfo, pi_result(pi_event event, pi_profiling_info name, uint64_t size,
                                            void *value, uint64_t *out_size));
FUNCTION(piEventSetCallback,
         pi_result(pi_event event, pi_event_callback callback, void *user_data));
FUNCTION(piEventCreateHost,
         pi_result(pi_context context, const pi_host_event_desc *desc, pi_event *out_event));
FUNCTION(piEventSignalHost, pi_result(pi_event event, pi_result result));
FUNCTION(piEventRetain, pi_result(pi_event event));
FUNCTION(piEventRelease, pi_result(pi_event event));
FUNCTION(piEventGetNativeHandle, pi_result(pi_event event, pi_native_handle *out_handle));
FUNCTION(piEventCreateWithNativeHandle,
         pi_result(pi_context context, const pi_native_desc *desc, pi_event *out_event));

/* ===== pi/pi_plugin.h: types ================================================================== */

TYPE(pi_plugin_main, pi_result (*)(const pi_host *, pi_plugin_desc *));

/* ===== pi/pi_plugin.h: structs ================================================================ */

MAY_GROW(pi_dispatch, 944);
FIELD(pi_dispatch, struct_size, 0, 4, uint32_t);
FIELD(pi_dispatch, version_major, 4, 2, uint16_t);
FIELD(pi_dispatch, version_minor, 6, 2, uint16_t);
SLOT(0, piPluginGetInfo, REQUIRED, 0);
SLOT(1, piPluginGetExtension, OPTIONAL, 0);
SLOT(2, piPlatformsGet, REQUIRED, 0);
SLOT(3, piPlatformGetInfo, REQUIRED, 0);
SLOT(4, piPlatformGetBackendOption, OPTIONAL, 0);
SLOT(5, piPlatformGetNativeHandle, OPTIONAL, 0);
SLOT(6, piPlatformCreateWithNativeHandle, OPTIONAL, 0);
SLOT(7, piDevicesGet, REQUIRED, 0);
SLOT(8, piDeviceGetInfo, REQUIRED, 0);
SLOT(9, piDevicePartition, PARTITION, 0);
SLOT(10, piDeviceRetain, REQUIRED, 0);
SLOT(11, piDeviceRelease, REQUIRED, 0);
SLOT(12, piDeviceGetGlobalTimestamps, TIMESTAMP, 0);
SLOT(13, piDeviceSelectBinary, OPTIONAL, 0);
SLOT(14, piDeviceGetMemoryScopes, REQUIRED, 0);
SLOT(15, piDeviceGetNativeHandle, NATIVE, 0);
SLOT(16, piDeviceCreateWithNativeHandle, NATIVE, 0);
SLOT(17, piContextCreate, REQUIRED, 0);
SLOT(18, piContextRetain, REQUIRED, 0);
SLOT(19, piContextRelease, REQUIRED, 0);
SLOT(20, piContextGetInfo, REQUIRED, 0);
SLOT(21, piContextGetNativeHandle, NATIVE, 0);
SLOT(22, piContextCreateWithNativeHandle, NATIVE, 0);
SLOT(23, piGetMemoryConnection, REQUIRED, 0);
SLOT(24, piGetMemoryConnectionInfo, OPTIONAL, 0);
SLOT(25, piQueueCreate, REQUIRED, 0);
SLOT(26, piQueueRetain, REQUIRED, 0);
SLOT(27, piQueueRelease, REQUIRED, 0);
SLOT(28, piQueueGetInfo, REQUIRED, 0);
SLOT(29, piQueueFlush, REQUIRED, 0);
SLOT(30, piQueueFinish, REQUIRED, 0);
SLOT(31, piQueueGetNativeHandle, NATIVE, 0);
SLOT(32, piQueueCreateWithNativeHandle, NATIVE, 0);
SLOT(33, piMemBufferCreate, REQUIRED, 0);
SLOT(34, piMemImageCreate, IMAGE, 0);
SLOT(35, piMemBufferPartition, VIEW, 0);
SLOT(36, piMemImageViewCreate, OPTIONAL, 0);
SLOT(37, piMemImport, MEM_IMPORT, 0);
SLOT(38, piMemExport, MEM_EXPORT, 0);
SLOT(39, piMemGetInfo, REQUIRED, 0);
SLOT(40, piMemGetHostPointer, MEM_HOST_ACCESS, 0);
SLOT(41, piMemFlush, MEM_HOST_ACCESS, 0);
SLOT(42, piMemInvalidate, MEM_HOST_ACCESS, 0);
SLOT(43, piMemRetain, REQUIRED, 0);
SLOT(44, piMemRelease, REQUIRED, 0);
SLOT(45, piMemGetNativeHandle, NATIVE, 0);
SLOT(46, piUsmAlloc, USM, 0);
SLOT(47, piUsmFree, USM, 0);
SLOT(48, piUsmGetInfo, USM, 0);
SLOT(49, piUsmPoolCreate, USM_POOL, 0);
SLOT(50, piUsmPoolRetain, USM_POOL, 0);
SLOT(51, piUsmPoolRelease, USM_POOL, 0);
SLOT(52, piUsmPoolGetInfo, USM_POOL, 0);
SLOT(53, piUsmHostRegister, USM_REGISTER, 0);
SLOT(54, piUsmHostUnregister, USM_REGISTER, 0);
SLOT(55, piEnqueueMemBufferRead, BUFFER_COMMANDS, 0);
SLOT(56, piEnqueueMemBufferWrite, BUFFER_COMMANDS, 0);
SLOT(57, piEnqueueMemBufferCopy, REQUIRED, 0);
SLOT(58, piEnqueueMemBufferFill, BUFFER_COMMANDS, 0);
SLOT(59, piEnqueueMemBufferMap, REQUIRED, 0);
SLOT(60, piEnqueueMemUnmap, REQUIRED, 0);
SLOT(61, piEnqueueMemImageRead, IMAGE, 0);
SLOT(62, piEnqueueMemImageWrite, IMAGE, 0);
SLOT(63, piEnqueueMemImageCopy, IMAGE, 0);
SLOT(64, piEnqueueMemImageFill, IMAGE, 0);
SLOT(65, piEnqueueUsmCopy, USM, 0);
SLOT(66, piEnqueueUsmFill, USM, 0);
SLOT(67, piEnqueueUsmPrefetch, USM, 0);
SLOT(68, piEnqueueUsmAdvise, USM, 0);
SLOT(69, piEnqueueUsmAlloc, USM_ASYNC, 0);
SLOT(70, piEnqueueUsmFree, USM_ASYNC, 0);
SLOT(71, piEnqueueKernelLaunch, PROGRAM, 0);
SLOT(72, piEnqueueHostFunction, HOST_FUNCTION, 0);
SLOT(73, piEnqueueEventsWait, REQUIRED, 0);
SLOT(74, piEnqueueBarrier, REQUIRED, 0);
SLOT(75, piEnqueueTimestamp, TIMESTAMP, 0);
SLOT(76, piEnqueueDeviceGlobalRead, DEVICE_GLOBALS, 0);
SLOT(77, piEnqueueDeviceGlobalWrite, DEVICE_GLOBALS, 0);
SLOT(78, piProgramCreate, PROGRAM, 0);
SLOT(79, piProgramCompile, PROGRAM_LINK, 0);
SLOT(80, piProgramLink, PROGRAM_LINK, 0);
SLOT(81, piProgramBuild, PROGRAM, 0);
SLOT(82, piProgramSetSpecializationConstants, SPECIALIZATION, 0);
SLOT(83, piProgramRetain, PROGRAM, 0);
SLOT(84, piProgramRelease, PROGRAM, 0);
SLOT(85, piProgramGetInfo, PROGRAM, 0);
SLOT(86, piProgramGetBuildInfo, PROGRAM, 0);
SLOT(87, piProgramGetFunctionPointer, OPTIONAL, 0);
SLOT(88, piProgramGetGlobalVariablePointer, OPTIONAL, 0);
SLOT(89, piProgramGetNativeHandle, NATIVE, 0);
SLOT(90, piProgramCreateWithNativeHandle, NATIVE, 0);
SLOT(91, piKernelCreate, PROGRAM, 0);
SLOT(92, piKernelRetain, PROGRAM, 0);
SLOT(93, piKernelRelease, PROGRAM, 0);
SLOT(94, piKernelGetInfo, PROGRAM, 0);
SLOT(95, piKernelGetGroupInfo, PROGRAM, 0);
SLOT(96, piKernelGetSubGroupInfo, OPTIONAL, 0);
SLOT(97, piKernelGetSuggestedLocalSize, PROGRAM, 0);
SLOT(98, piKernelGetMaxCooperativeGroups, COOPERATIVE, 0);
SLOT(99, piKernelGetNativeHandle, NATIVE, 0);
SLOT(100, piKernelCreateWithNativeHandle, NATIVE, 0);
SLOT(101, piSamplerCreate, IMAGE, 0);
SLOT(102, piSamplerRetain, IMAGE, 0);
SLOT(103, piSamplerRelease, IMAGE, 0);
SLOT(104, piSamplerGetInfo, IMAGE, 0);
SLOT(105, piSamplerGetNativeHandle, OPTIONAL, 0);
SLOT(106, piSamplerCreateWithNativeHandle, OPTIONAL, 0);
SLOT(107, piEventWait, REQUIRED, 0);
SLOT(108, piEventGetInfo, REQUIRED, 0);
SLOT(109, piEventGetProfilingInfo, OPTIONAL, 0);
SLOT(110, piEventSetCallback, REQUIRED, 0);
SLOT(111, piEventCreateHost, REQUIRED, 0);
SLOT(112, piEventSignalHost, REQUIRED, 0);
SLOT(113, piEventRetain, REQUIRED, 0);
SLOT(114, piEventRelease, REQUIRED, 0);
SLOT(115, piEventGetNativeHandle, NATIVE, 0);
SLOT(116, piEventCreateWithNativeHandle, NATIVE, 0);

/* ... and these are the loader's own. */
LOADER_FUNCTION(piGetLastError, 0);
LOADER_FUNCTION(piPluginsGet, 0);

FROZEN(pi_object_header, 16);
FIELD(pi_object_header, dispatch, 0, 8, const pi_dispatch *);
FIELD(pi_object_header, kind, 8, 4, pi_kind);
FIELD(pi_object_header, reserved, 12, 4, uint32_t);

MAY_GROW(pi_host, 64);
FIELD(pi_host, struct_size, 0, 4, uint32_t);
FIELD(pi_host, version_major, 4, 2, uint16_t);
FIELD(pi_host, version_minor, 6, 2, uint16_t);
FIELD(pi_host, dispatch, 8, 8, const pi_dispatch *);
FIELD(pi_host, context, 16, 8, void *);
FIELD(pi_host, set_error, 24, 8, void (*)(const struct pi_host *, pi_result, const char *));
FIELD(pi_host, log, 32, 8, void (*)(const struct pi_host *, pi_log_level, const char *));
FIELD(pi_host, object_count, 40, 8, void (*)(const struct pi_host *, int64_t));
FIELD(pi_host, get_option, 48, 8, const char *(*)(const struct pi_host *, const char *));
FIELD(pi_host, callback_depth, 56, 8, int32_t (*)(const struct pi_host *, int32_t));

MAY_GROW(pi_plugin_desc, 56);
FIELD(pi_plugin_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_plugin_desc, version_major, 4, 2, uint16_t);
FIELD(pi_plugin_desc, version_minor, 6, 2, uint16_t);
FIELD(pi_plugin_desc, name, 8, 8, const char *);
FIELD(pi_plugin_desc, version, 16, 8, const char *);
FIELD(pi_plugin_desc, capabilities, 24, 8, uint64_t);
FIELD(pi_plugin_desc, functions, 32, 8, const pi_dispatch *);
FIELD(pi_plugin_desc, instance, 40, 8, pi_plugin);
FIELD(pi_plugin_desc, teardown, 48, 8, void (*)(pi_plugin));

/* ===== pi/pi_plugin.h: functions ============================================================== */

FUNCTION(piPluginMain, pi_result(const pi_host *host, pi_plugin_desc *out_desc));

/* ===== pi/pi_native_kernel.h: types =========================================================== */

TYPE(pi_native_function, void (*)(const pi_native_group *, void *const *));

/* ===== pi/pi_native_kernel.h: structs ========================================================= */

MAY_GROW(pi_native_group, 176);
FIELD(pi_native_group, struct_size, 0, 4, uint32_t);
FIELD(pi_native_group, dimensions, 4, 4, uint32_t);
FIELD(pi_native_group, begin, 8, 24, uint64_t[3]);
FIELD(pi_native_group, end, 32, 24, uint64_t[3]);
FIELD(pi_native_group, group_id, 56, 24, uint64_t[3]);
FIELD(pi_native_group, group_count, 80, 24, uint64_t[3]);
FIELD(pi_native_group, global_offset, 104, 24, uint64_t[3]);
FIELD(pi_native_group, global_size, 128, 24, uint64_t[3]);
FIELD(pi_native_group, local_size, 152, 24, uint64_t[3]);

MAY_GROW(pi_native_sampler, 16);
FIELD(pi_native_sampler, struct_size, 0, 4, uint32_t);
FIELD(pi_native_sampler, normalized_coordinates, 4, 4, uint32_t);
FIELD(pi_native_sampler, addressing, 8, 4, pi_addressing_mode);
FIELD(pi_native_sampler, filter, 12, 4, pi_filter_mode);

MAY_GROW(pi_native_image, 80);
FIELD(pi_native_image, struct_size, 0, 4, uint32_t);
FIELD(pi_native_image, image_type, 4, 4, pi_image_type);
FIELD(pi_native_image, channel_order, 8, 4, pi_channel_order);
FIELD(pi_native_image, channel_type, 12, 4, pi_channel_type);
FIELD(pi_native_image, data, 16, 8, void *);
FIELD(pi_native_image, extent, 24, 24, uint64_t[3]);
FIELD(pi_native_image, row_pitch, 48, 8, uint64_t);
FIELD(pi_native_image, slice_pitch, 56, 8, uint64_t);
FIELD(pi_native_image, pixel_size, 64, 4, uint32_t);
FIELD(pi_native_image, reserved, 68, 4, uint32_t);
FIELD(pi_native_image, sampler, 72, 8, const pi_native_sampler *);

FROZEN(pi_native_kernel, 56);
FIELD(pi_native_kernel, name, 0, 8, const char *);
FIELD(pi_native_kernel, function, 8, 8, pi_native_function);
FIELD(pi_native_kernel, argument_count, 16, 4, uint32_t);
FIELD(pi_native_kernel, reserved, 20, 4, uint32_t);
FIELD(pi_native_kernel, reserved_words, 24, 32, uint64_t[4]);

MAY_GROW(pi_native_program, 16);
FIELD(pi_native_program, struct_size, 0, 4, uint32_t);
FIELD(pi_native_program, kernel_count, 4, 4, uint32_t);
FIELD(pi_native_program, kernels, 8, 8, const pi_native_kernel *);

/* ===== pi/pi_native_kernel.h: functions ======================================================= */

FUNCTION(piNativeProgram, const pi_native_program *(void));

/* ===== pi/pi_loader.h: types ================================================================== */

TYPE(pi_log_callback, void (*)(pi_log_level, const char *, void *));
TYPE(pi_plugin_status, uint32_t);

/* ===== pi/pi_loader.h: enumerators ============================================================ */

/* PI_LOADER_ */
VALUE(PI_LOADER_IGNORE_ENVIRONMENT, 1);
VALUE(PI_LOADER_NO_DEFAULT_SEARCH, 2);

/* pi_plugin_status */
VALUE(PI_PLUGIN_LOADED, 1);
VALUE(PI_PLUGIN_UNAVAILABLE, 2);
VALUE(PI_PLUGIN_REFUSED, 3);
VALUE(PI_PLUGIN_SHADOWED, 4);

/* ===== pi/pi_loader.h: structs ================================================================ */

FROZEN(pi_loader_option, 16);
FIELD(pi_loader_option, name, 0, 8, const char *);
FIELD(pi_loader_option, value, 8, 8, const char *);

MAY_GROW(pi_loader_desc, 104);
FIELD(pi_loader_desc, struct_size, 0, 4, uint32_t);
FIELD(pi_loader_desc, type, 4, 4, pi_struct_type);
FIELD(pi_loader_desc, next, 8, 8, const void *);
FIELD(pi_loader_desc, flags, 16, 8, uint64_t);
FIELD(pi_loader_desc, plugins, 24, 8, const char *const *);
FIELD(pi_loader_desc, directories, 32, 8, const char *const *);
FIELD(pi_loader_desc, layers, 40, 8, const char *const *);
FIELD(pi_loader_desc, options, 48, 8, const pi_loader_option *);
FIELD(pi_loader_desc, plugin_count, 56, 4, uint32_t);
FIELD(pi_loader_desc, directory_count, 60, 4, uint32_t);
FIELD(pi_loader_desc, layer_count, 64, 4, uint32_t);
FIELD(pi_loader_desc, option_count, 68, 4, uint32_t);
FIELD(pi_loader_desc, log, 72, 8, pi_log_callback);
FIELD(pi_loader_desc, log_user_data, 80, 8, void *);
FIELD(pi_loader_desc, log_level, 88, 4, pi_log_level);
FIELD(pi_loader_desc, teardown_timeout, 92, 4, uint32_t);
FIELD(pi_loader_desc, stall_warning_delay, 96, 4, uint32_t);
FIELD(pi_loader_desc, reserved, 100, 4, uint32_t);

FROZEN(pi_plugin_report, 72);
FIELD(pi_plugin_report, name, 0, 8, const char *);
FIELD(pi_plugin_report, path, 8, 8, const char *);
FIELD(pi_plugin_report, reason, 16, 8, const char *);
FIELD(pi_plugin_report, status, 24, 4, pi_plugin_status);
FIELD(pi_plugin_report, reserved, 28, 4, uint32_t);
FIELD(pi_plugin_report, plugin, 32, 8, pi_plugin);
FIELD(pi_plugin_report, reserved_words, 40, 32, uint64_t[4]);

FROZEN(pi_environment_variable, 48);
FIELD(pi_environment_variable, name, 0, 8, const char *);
FIELD(pi_environment_variable, type, 8, 8, const char *);
FIELD(pi_environment_variable, description, 16, 8, const char *);
FIELD(pi_environment_variable, value, 24, 8, const char *);
FIELD(pi_environment_variable, reserved, 32, 16, uint64_t[2]);

FROZEN(pi_call_count, 32);
FIELD(pi_call_count, function, 0, 8, const char *);
FIELD(pi_call_count, count, 8, 8, uint64_t);
FIELD(pi_call_count, reserved, 16, 16, uint64_t[2]);

/* ===== pi/pi_loader.h: functions ============================================================== */

FUNCTION(piLoaderCreate, pi_result(const pi_loader_desc *desc, pi_loader *out_loader));
FUNCTION(piLoaderRetain, pi_result(pi_loader loader));
FUNCTION(piLoaderRelease, pi_result(pi_loader loader));
FUNCTION(piLoaderGetReports, pi_result(pi_loader loader, uint32_t capacity,
                                       pi_plugin_report *out_reports, uint32_t *out_count));
FUNCTION(piLoaderSelectDevices, pi_result(pi_loader loader, const char *selector, uint32_t capacity,
                                          pi_device *out_devices, uint32_t *out_count));
FUNCTION(piLoaderGetDeviceSelector, pi_result(pi_loader loader, pi_device device, uint64_t size,
                                              char *value, uint64_t *out_size));
FUNCTION(piLoaderGetEnvironment,
         pi_result(pi_loader loader, uint32_t capacity, pi_environment_variable *out_variables,
                   uint32_t *out_count));
FUNCTION(piLoaderGetCallCounts, pi_result(pi_loader loader, pi_plugin plugin, uint32_t capacity,
                                          pi_call_count *out_counts, uint32_t *out_count));
