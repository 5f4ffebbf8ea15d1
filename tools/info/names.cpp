// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "names.hpp"

#include <array>
#include <span>

namespace pi_info {
namespace {

struct Name {
    uint64_t number;
    const char *name;
};

constexpr std::array statuses{
    Name{PI_PLUGIN_LOADED, "loaded"}, Name{PI_PLUGIN_UNAVAILABLE, "unavailable"},
    Name{PI_PLUGIN_REFUSED, "refused"}, Name{PI_PLUGIN_SHADOWED, "shadowed"}};

constexpr std::array kinds{Name{PI_DEVICE_TYPE_CPU, "cpu"}, Name{PI_DEVICE_TYPE_GPU, "gpu"},
                           Name{PI_DEVICE_TYPE_ACCELERATOR, "accelerator"},
                           Name{PI_DEVICE_TYPE_OTHER, "other"}};

constexpr std::array backends{Name{PI_BACKEND_HOST, "host"},
                              Name{PI_BACKEND_OPENCL, "opencl"},
                              Name{PI_BACKEND_CUDA, "cuda"},
                              Name{PI_BACKEND_LEVEL_ZERO, "level_zero"},
                              Name{PI_BACKEND_SIMULATED, "simulated"},
                              Name{PI_BACKEND_OTHER, "other"},
                              Name{PI_BACKEND_HIP, "hip"},
                              Name{PI_BACKEND_VULKAN, "vulkan"},
                              Name{PI_BACKEND_METAL, "metal"}};

constexpr std::array connections{Name{PI_MEMORY_CONNECTION_NONE, "none"},
                                 Name{PI_MEMORY_CONNECTION_MIGRATABLE, "migratable"},
                                 Name{PI_MEMORY_CONNECTION_UNIFIED, "unified"}};

constexpr std::array verifications{Name{PI_VERIFIED_UNKNOWN, "unknown"},
                                   Name{PI_VERIFIED_YES, "yes"},
                                   Name{PI_VERIFIED_FAILED, "failed"}};

constexpr std::array coherences{Name{PI_COHERENCE_UNKNOWN, "unknown"},
                                Name{PI_COHERENCE_COHERENT, "coherent"},
                                Name{PI_COHERENCE_FLUSH_INVALIDATE, "flush_invalidate"},
                                Name{PI_COHERENCE_MAP_UNMAP, "map_unmap"}};

constexpr std::array residencies{Name{PI_RESIDENCY_UNKNOWN, "unknown"},
                                 Name{PI_RESIDENCY_SAME_MEMORY, "same_memory"},
                                 Name{PI_RESIDENCY_REMOTE_ACCESS, "remote_access"},
                                 Name{PI_RESIDENCY_MIGRATES_WHOLE_OBJECT, "migrates_whole_object"}};

constexpr std::array writers_names{Name{PI_CONCURRENT_WRITERS_NONE, "none"},
                                   Name{PI_CONCURRENT_WRITERS_DISJOINT_VIEWS, "disjoint_views"},
                                   Name{PI_CONCURRENT_WRITERS_DISJOINT_BYTES, "disjoint_bytes"}};

constexpr std::array copy_paths{Name{PI_COPY_PATH_UNKNOWN, "unknown"},
                                Name{PI_COPY_PATH_DIRECT, "direct"},
                                Name{PI_COPY_PATH_STAGED_BY_DRIVER, "staged_by_driver"},
                                Name{PI_COPY_PATH_STAGED_BY_PLUGIN, "staged_by_plugin"}};

constexpr std::array queues{Name{PI_PREFERRED_QUEUE_EITHER, "either"},
                            Name{PI_PREFERRED_QUEUE_SRC, "src"},
                            Name{PI_PREFERRED_QUEUE_DST, "dst"}};

constexpr std::array links{Name{PI_LINK_UNKNOWN, "unknown"},
                           Name{PI_LINK_SAME_DEVICE, "same_device"},
                           Name{PI_LINK_SYSTEM_MEMORY, "system_memory"},
                           Name{PI_LINK_PCIE, "pcie"},
                           Name{PI_LINK_NVLINK, "nvlink"},
                           Name{PI_LINK_XE_LINK, "xe_link"},
                           Name{PI_LINK_NETWORK, "network"},
                           Name{PI_LINK_OTHER, "other"}};

constexpr std::array capabilities_names{Name{PI_CAPABILITY_BUFFER_COMMANDS, "buffer_commands"},
                                        Name{PI_CAPABILITY_MEM_IMPORT, "mem_import"},
                                        Name{PI_CAPABILITY_MEM_EXPORT, "mem_export"},
                                        Name{PI_CAPABILITY_MEM_HOST_ACCESS, "mem_host_access"},
                                        Name{PI_CAPABILITY_IMAGE, "image"},
                                        Name{PI_CAPABILITY_USM, "usm"},
                                        Name{PI_CAPABILITY_USM_POOL, "usm_pool"},
                                        Name{PI_CAPABILITY_USM_ASYNC, "usm_async"},
                                        Name{PI_CAPABILITY_USM_REGISTER, "usm_register"},
                                        Name{PI_CAPABILITY_PROGRAM, "program"},
                                        Name{PI_CAPABILITY_PROGRAM_LINK, "program_link"},
                                        Name{PI_CAPABILITY_SPECIALIZATION, "specialization"},
                                        Name{PI_CAPABILITY_DEVICE_GLOBALS, "device_globals"},
                                        Name{PI_CAPABILITY_COOPERATIVE, "cooperative"},
                                        Name{PI_CAPABILITY_HOST_FUNCTION, "host_function"},
                                        Name{PI_CAPABILITY_TIMESTAMP, "timestamp"},
                                        Name{PI_CAPABILITY_PARTITION, "partition"},
                                        Name{PI_CAPABILITY_VIEW, "view"},
                                        Name{PI_CAPABILITY_NATIVE, "native"}};

constexpr std::array scope_flags{Name{PI_SCOPE_HOST_VISIBLE, "host_visible"},
                                 Name{PI_SCOPE_COHERENT, "coherent"},
                                 Name{PI_SCOPE_CONTIGUOUS, "contiguous"},
                                 Name{PI_SCOPE_PINNED, "pinned"},
                                 Name{PI_SCOPE_LAYOUT, "layout"},
                                 Name{PI_SCOPE_POOLABLE, "poolable"},
                                 Name{PI_SCOPE_MAPS_IN_PLACE, "maps_in_place"}};

constexpr std::array offset_modes{Name{PI_BUFFER_OFFSET_POINTER, "pointer"},
                                  Name{PI_BUFFER_OFFSET_SUB_BUFFER, "sub_buffer"}};

constexpr std::array program_formats{
    Name{1U << PI_PROGRAM_FORMAT_OPENCL_C, "opencl_c"},
    Name{1U << PI_PROGRAM_FORMAT_SPIRV, "spirv"},
    Name{1U << PI_PROGRAM_FORMAT_CUDA_C, "cuda_c"},
    Name{1U << PI_PROGRAM_FORMAT_PTX, "ptx"},
    Name{1U << PI_PROGRAM_FORMAT_CUBIN, "cubin"},
    Name{1U << PI_PROGRAM_FORMAT_DEVICE_BINARY, "device_binary"},
    Name{1U << PI_PROGRAM_FORMAT_NATIVE_TABLE, "native_table"},
    Name{1U << PI_PROGRAM_FORMAT_NATIVE_LIBRARY, "native_library"}};

std::string name_of(std::span<const Name> table, uint64_t number) {
    for (const Name &row : table) {
        if (row.number == number) {
            return row.name;
        }
    }
    return "unknown";
}

std::vector<std::string> names_of_bits(std::span<const Name> table, uint64_t bits) {
    std::vector<std::string> names;
    for (uint32_t bit = 0; bit < 64; ++bit) {
        const uint64_t mask = uint64_t{1} << bit;
        if ((bits & mask) != 0) {
            const std::string name = name_of(table, mask);
            names.push_back(name == "unknown" ? "bit " + std::to_string(bit) : name);
        }
    }
    return names;
}

} // namespace

std::string status_name(pi_plugin_status status) {
    return name_of(statuses, status);
}
std::string kind_name(pi_device_type type) {
    return name_of(kinds, type);
}
std::string backend_name(uint32_t backend) {
    return name_of(backends, backend);
}
std::string connection_name(pi_memory_connection connection) {
    return name_of(connections, connection);
}
std::string verified_name(pi_verified verified) {
    return name_of(verifications, verified);
}
std::string coherence_name(pi_coherence coherence) {
    return name_of(coherences, coherence);
}
std::string residency_name(pi_residency residency) {
    return name_of(residencies, residency);
}
std::string concurrent_writers_name(pi_concurrent_writers writers) {
    return name_of(writers_names, writers);
}
std::string copy_path_name(pi_copy_path path) {
    return name_of(copy_paths, path);
}
std::string preferred_queue_name(pi_preferred_queue queue) {
    return name_of(queues, queue);
}
std::string link_name(pi_link_kind link) {
    return name_of(links, link);
}

std::vector<std::string> capability_names(uint64_t capabilities) {
    return names_of_bits(capabilities_names, capabilities);
}
std::vector<std::string> scope_flag_names(uint64_t flags) {
    return names_of_bits(scope_flags, flags);
}
std::vector<std::string> offset_mode_names(uint64_t modes) {
    return names_of_bits(offset_modes, modes);
}
std::vector<std::string> program_format_names(uint64_t formats) {
    return names_of_bits(program_formats, formats);
}

} // namespace pi_info
