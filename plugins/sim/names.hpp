// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The constants of pi.h by their names in machine files.
#pragma once

#include <pi/pi.h>

#include <span>
#include <string_view>

namespace pi::sim {

struct Name {
    std::string_view name;
    int64_t value;
};

inline constexpr Name device_types[] = {{"cpu", PI_DEVICE_TYPE_CPU},
                                        {"gpu", PI_DEVICE_TYPE_GPU},
                                        {"accelerator", PI_DEVICE_TYPE_ACCELERATOR},
                                        {"other", PI_DEVICE_TYPE_OTHER}};
inline constexpr Name scope_flags[] = {{"host_visible", PI_SCOPE_HOST_VISIBLE},
                                       {"coherent", PI_SCOPE_COHERENT},
                                       {"contiguous", PI_SCOPE_CONTIGUOUS},
                                       {"pinned", PI_SCOPE_PINNED},
                                       {"layout", PI_SCOPE_LAYOUT},
                                       {"poolable", PI_SCOPE_POOLABLE},
                                       {"maps_in_place", PI_SCOPE_MAPS_IN_PLACE}};
inline constexpr Name connections[] = {{"none", PI_MEMORY_CONNECTION_NONE},
                                       {"migratable", PI_MEMORY_CONNECTION_MIGRATABLE},
                                       {"unified", PI_MEMORY_CONNECTION_UNIFIED}};
inline constexpr Name coherences[] = {{"unknown", PI_COHERENCE_UNKNOWN},
                                      {"coherent", PI_COHERENCE_COHERENT},
                                      {"flush_invalidate", PI_COHERENCE_FLUSH_INVALIDATE},
                                      {"map_unmap", PI_COHERENCE_MAP_UNMAP}};
inline constexpr Name residencies[] = {
    {"unknown", PI_RESIDENCY_UNKNOWN},
    {"same_memory", PI_RESIDENCY_SAME_MEMORY},
    {"remote_access", PI_RESIDENCY_REMOTE_ACCESS},
    {"migrates_whole_object", PI_RESIDENCY_MIGRATES_WHOLE_OBJECT}};
inline constexpr Name writers[] = {{"none", PI_CONCURRENT_WRITERS_NONE},
                                   {"disjoint_views", PI_CONCURRENT_WRITERS_DISJOINT_VIEWS},
                                   {"disjoint_bytes", PI_CONCURRENT_WRITERS_DISJOINT_BYTES}};
inline constexpr Name copy_paths[] = {{"unknown", PI_COPY_PATH_UNKNOWN},
                                      {"direct", PI_COPY_PATH_DIRECT},
                                      {"staged_by_driver", PI_COPY_PATH_STAGED_BY_DRIVER},
                                      {"staged_by_plugin", PI_COPY_PATH_STAGED_BY_PLUGIN}};
inline constexpr Name preferred_queues[] = {{"either", PI_PREFERRED_QUEUE_EITHER},
                                            {"src", PI_PREFERRED_QUEUE_SRC},
                                            {"dst", PI_PREFERRED_QUEUE_DST}};
inline constexpr Name link_kinds[] = {{"unknown", PI_LINK_UNKNOWN},
                                      {"same_device", PI_LINK_SAME_DEVICE},
                                      {"system_memory", PI_LINK_SYSTEM_MEMORY},
                                      {"pcie", PI_LINK_PCIE},
                                      {"nvlink", PI_LINK_NVLINK},
                                      {"xe_link", PI_LINK_XE_LINK},
                                      {"network", PI_LINK_NETWORK},
                                      {"other", PI_LINK_OTHER}};
inline constexpr Name offset_modes[] = {{"pointer", PI_BUFFER_OFFSET_POINTER},
                                        {"sub_buffer", PI_BUFFER_OFFSET_SUB_BUFFER}};
/// The types of file descriptors. Host pointers are host_pointer_import.
inline constexpr Name handle_types[] = {{"dma_buf_fd", PI_EXTERNAL_DMA_BUF_FD},
                                        {"opaque_fd", PI_EXTERNAL_OPAQUE_FD}};
/// The commands over a link that may lose pages.
inline constexpr Name lossy_commands[] = {{"copies", LOSSY_COPIES}, {"kernels", LOSSY_KERNELS}};
/// The results of faults: failures of a backend, not of its caller.
inline constexpr Name results[] = {{"out_of_host_memory", PI_ERROR_OUT_OF_HOST_MEMORY},
                                   {"out_of_device_memory", PI_ERROR_OUT_OF_DEVICE_MEMORY},
                                   {"out_of_resources", PI_ERROR_OUT_OF_RESOURCES},
                                   {"device_lost", PI_ERROR_DEVICE_LOST},
                                   {"unsupported_feature", PI_ERROR_UNSUPPORTED_FEATURE},
                                   {"unavailable", PI_ERROR_UNAVAILABLE},
                                   {"backend", PI_ERROR_BACKEND},
                                   {"internal", PI_ERROR_INTERNAL}};

/// The functions of pi_functions.def.
inline constexpr std::string_view function_names[] = {
#define PI_FUNCTION(name, group, needs, since) #name,
#include <pi/pi_functions.def>
};

} // namespace pi::sim
