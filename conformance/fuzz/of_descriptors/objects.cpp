// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions that create objects or answer queries from a descriptor.
#include "row.hpp"

namespace pi::fuzz {
namespace {

constexpr uint64_t access_flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY;
constexpr uint64_t demands = PI_MEM_REQUIRE_CONTIGUOUS | PI_MEM_REQUIRE_PINNED;
constexpr uint64_t all_memory_flags =
    access_flags | demands | PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;

/// Memory to import: larger than any accepted offset and size.
alignas(4096) uint8_t importable[1 << 15];

void fill_native(Trial &, pi_native_desc &) {}
void fill_build(Trial &trial, pi_program_build_desc &desc) {
    desc.device_count = 1;
    desc.devices = &trial.at.place.device;
}
void fill_launch(Trial &trial, pi_kernel_launch_desc &desc) {
    desc.kernel = trial.at.kernel;
    desc.dimensions = 1;
    desc.global_size[0] = 1;
    auto *const argument = trial.element<pi_kernel_argument>();
    argument->kind = PI_ARGUMENT_LOCAL;
    argument->size = 16;
    desc.arguments = argument;
    desc.argument_count = 1;
}
constexpr Traits launch_traits = {
    .known_flags = PI_COMMAND_BLOCKING | PI_LAUNCH_COOPERATIVE | PI_LAUNCH_INDIRECT_USM_HOST |
                   PI_LAUNCH_INDIRECT_USM_DEVICE | PI_LAUNCH_INDIRECT_USM_SHARED};

/// A row of a function that creates an object of a context and its device.
template <class Handle, auto Function, auto Release, class Desc>
pi_result make_on_device(Trial &trial, const Desc *desc) {
    return trial.make<Handle>(Release, [&](Handle *out) {
        return Function(trial.at.place.context, trial.at.place.device, desc, out);
    });
}
template <class Handle, auto Function, auto Release, class Desc>
pi_result make_in_context(Trial &trial, const Desc *desc) {
    return trial.make<Handle>(
        Release, [&](Handle *out) { return Function(trial.at.place.context, desc, out); });
}
template <class Handle, auto Function, auto Release, class Desc>
pi_result make_on_platform(Trial &trial, const Desc *desc) {
    return trial.make<Handle>(
        Release, [&](Handle *out) { return Function(trial.at.place.platform, desc, out); });
}
template <class Handle, auto Function, auto Release, auto First, class Desc>
pi_result make_of(Trial &trial, const Desc *desc) {
    return trial.make<Handle>(Release,
                              [&](Handle *out) { return Function(trial.at.*First, desc, out); });
}

pi_result ask_connection(Trial &trial, const pi_memory_connection_query *query,
                         pi_memory_connection_info *info) {
    const Place &place = trial.at.place;
    return piGetMemoryConnectionInfo(place.device, place.context, place.device, place.context,
                                     query, info);
}

pi_external_handle export_file(const Fixture &at) {
    auto desc = pi::desc<pi_mem_export_desc>();
    desc.external_type = PI_EXTERNAL_OPAQUE_FD;
    pi_external_handle handle{};
    handle.fd = -1;
    if (at.exportable != nullptr) {
        must(piMemExport(at.exportable, &desc, &handle), "piMemExport");
    }
    return handle;
}

void add_places(std::vector<Row> &rows) {
    rows.push_back(row<pi_loader_desc>(
        "piLoaderCreate", PI_TYPE_LOADER_DESC,
        {.known_flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH,
         .optional = true},
        [](Trial &, pi_loader_desc &desc) {
            desc.flags = PI_LOADER_IGNORE_ENVIRONMENT | PI_LOADER_NO_DEFAULT_SEARCH;
        },
        [](Trial &trial, const pi_loader_desc *desc) {
            return trial.make<pi_loader>(piLoaderRelease,
                                         [&](pi_loader *out) { return piLoaderCreate(desc, out); });
        }));
    rows.push_back(row<pi_native_desc>(
        "piPlatformCreateWithNativeHandle", PI_TYPE_NATIVE_DESC, {.known_flags = PI_NATIVE_OWN},
        fill_native, [](Trial &trial, const pi_native_desc *desc) {
            pi_platform platform = nullptr;
            return trial.answer(platform, [&](pi_platform *out) {
                return piPlatformCreateWithNativeHandle(trial.at.place.plugin, desc, out);
            });
        }));
    rows.push_back(row<pi_native_desc>("piDeviceCreateWithNativeHandle", PI_TYPE_NATIVE_DESC,
                                       {.known_flags = PI_NATIVE_OWN}, fill_native,
                                       make_on_platform<pi_device, piDeviceCreateWithNativeHandle,
                                                        piDeviceRelease, pi_native_desc>));
    rows.push_back(row<pi_device_partition_desc>(
        "piDevicePartition", PI_TYPE_DEVICE_PARTITION_DESC, {},
        [](Trial &trial, pi_device_partition_desc &desc) {
            desc.kind = PI_PARTITION_BY_COUNTS;
            uint32_t *const counts = trial.keep<uint32_t>(1);
            *counts = 1;
            desc.count = 1;
            desc.counts = counts;
        },
        [](Trial &trial, const pi_device_partition_desc *desc) {
            return trial.make<pi_device>(piDeviceRelease, [&](pi_device *out) {
                return piDevicePartition(trial.at.place.device, desc, 1, out, nullptr);
            });
        }));
    rows.push_back(row<pi_context_desc>(
        "piContextCreate", PI_TYPE_CONTEXT_DESC, {},
        [](Trial &trial, pi_context_desc &desc) {
            desc.device_count = 1;
            desc.devices = &trial.at.place.device;
        },
        make_on_platform<pi_context, piContextCreate, piContextRelease, pi_context_desc>));
    rows.push_back(row<pi_native_desc>("piContextCreateWithNativeHandle", PI_TYPE_NATIVE_DESC,
                                       {.known_flags = PI_NATIVE_OWN}, fill_native,
                                       make_on_platform<pi_context, piContextCreateWithNativeHandle,
                                                        piContextRelease, pi_native_desc>));
    rows.push_back(row<pi_memory_connection_query>(
        "piGetMemoryConnectionInfo", PI_TYPE_MEMORY_CONNECTION_QUERY, {.optional = true},
        [](Trial &, pi_memory_connection_query &) {},
        [](Trial &trial, const pi_memory_connection_query *query) {
            auto info = pi::desc<pi_memory_connection_info>();
            return trial.answer(info, [&](pi_memory_connection_info *out) {
                return ask_connection(trial, query, out);
            });
        }));
    rows.push_back(row<pi_memory_connection_info>(
        "piGetMemoryConnectionInfo", PI_TYPE_MEMORY_CONNECTION_INFO, {.output = true},
        [](Trial &, pi_memory_connection_info &) {},
        [](Trial &trial, const pi_memory_connection_info *info) {
            return ask_connection(trial, nullptr, const_cast<pi_memory_connection_info *>(info));
        }));
    rows.push_back(row<pi_queue_desc>(
        "piQueueCreate", PI_TYPE_QUEUE_DESC,
        {.known_flags = PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                        PI_QUEUE_PRIORITY_HIGH,
         .optional = true},
        [](Trial &, pi_queue_desc &) {},
        make_on_device<pi_queue, piQueueCreate, piQueueRelease, pi_queue_desc>));
    rows.push_back(row<pi_native_desc>(
        "piQueueCreateWithNativeHandle", PI_TYPE_NATIVE_DESC, {.known_flags = PI_NATIVE_OWN},
        fill_native,
        make_on_device<pi_queue, piQueueCreateWithNativeHandle, piQueueRelease, pi_native_desc>));
}

void add_memory(std::vector<Row> &rows) {
    rows.push_back(row<pi_mem_buffer_desc>(
        "piMemBufferCreate", PI_TYPE_MEM_BUFFER_DESC,
        {.known_flags = all_memory_flags, .chained = PI_TYPE_MEM_LAYOUT_DESC},
        [](Trial &, pi_mem_buffer_desc &desc) { desc.size = 256; },
        make_on_device<pi_mem, piMemBufferCreate, piMemRelease, pi_mem_buffer_desc>));
    rows.push_back(row<pi_mem_layout_desc>(
        "piMemBufferCreate", PI_TYPE_MEM_LAYOUT_DESC,
        {.optional = true, .wrong_type = PI_ERROR_UNSUPPORTED_FEATURE},
        [](Trial &trial, pi_mem_layout_desc &desc) {
            uint64_t *const extents = trial.keep<uint64_t>(8);
            extents[0] = extents[1] = 8;
            uint32_t *const separators = trial.keep<uint32_t>(8);
            separators[0] = 1;
            desc.rank = 2;
            desc.element_size = 4;
            desc.extents = extents;
            desc.axis_separator_count = 1;
            desc.axis_separators = separators;
        },
        [](Trial &trial, const pi_mem_layout_desc *layout) {
            auto desc = pi::desc<pi_mem_buffer_desc>();
            desc.size = 256;
            desc.next = layout;
            return make_on_device<pi_mem, piMemBufferCreate, piMemRelease>(trial, &desc);
        }));
    rows.push_back(row<pi_mem_image_desc>(
        "piMemImageCreate", PI_TYPE_MEM_IMAGE_DESC, {.known_flags = all_memory_flags},
        [](Trial &, pi_mem_image_desc &desc) { fill_image(desc); },
        make_on_device<pi_mem, piMemImageCreate, piMemRelease, pi_mem_image_desc>));
    rows.push_back(row<pi_mem_partition_desc>(
        "piMemBufferPartition", PI_TYPE_MEM_PARTITION_DESC, {.known_flags = access_flags},
        [](Trial &, pi_mem_partition_desc &desc) { desc.size = 256; },
        make_of<pi_mem, piMemBufferPartition, piMemRelease, &Fixture::buffer,
                pi_mem_partition_desc>));
    rows.push_back(row<pi_mem_image_desc>(
        "piMemImageViewCreate", PI_TYPE_MEM_IMAGE_DESC, {.known_flags = all_memory_flags},
        [](Trial &, pi_mem_image_desc &desc) { fill_image(desc); },
        make_of<pi_mem, piMemImageViewCreate, piMemRelease, &Fixture::buffer, pi_mem_image_desc>));
    rows.push_back(row<pi_mem_import_desc>(
        "piMemImport", PI_TYPE_MEM_IMPORT_DESC, {.known_flags = access_flags},
        [](Trial &, pi_mem_import_desc &desc) {
            desc.size = 4096;
            desc.handle.type = PI_EXTERNAL_HOST_POINTER;
            desc.handle.pointer = importable;
            desc.handle.fd = -1;
        },
        make_on_device<pi_mem, piMemImport, piMemRelease, pi_mem_import_desc>));
    rows.push_back(row<pi_mem_import_desc>(
        "piMemImport", PI_TYPE_MEM_IMPORT_DESC, {.known_flags = access_flags},
        [](Trial &trial, pi_mem_import_desc &desc) {
            desc.handle = export_file(trial.at);
            desc.handle.type = PI_EXTERNAL_OPAQUE_FD;
            desc.size = desc.handle.size;
            desc.offset = desc.handle.offset;
            trial.file = desc.handle.fd;
        },
        make_on_device<pi_mem, piMemImport, piMemRelease, pi_mem_import_desc>));
    rows.push_back(row<pi_mem_export_desc>(
        "piMemExport", PI_TYPE_MEM_EXPORT_DESC, {},
        [](Trial &, pi_mem_export_desc &desc) { desc.external_type = PI_EXTERNAL_OPAQUE_FD; },
        [](Trial &trial, const pi_mem_export_desc *desc) {
            pi_external_handle handle{};
            const pi_result result = trial.answer(handle, [&](pi_external_handle *out) {
                return piMemExport(trial.at.exportable, desc, out);
            });
            if (result == PI_SUCCESS) {
                trial.file = handle.fd;
            }
            return result;
        }));
    rows.push_back(row<pi_usm_desc>(
        "piUsmAlloc", PI_TYPE_USM_DESC, {.known_flags = demands},
        [](Trial &, pi_usm_desc &desc) {
            desc.kind = PI_USM_HOST;
            desc.size = 256;
        },
        [](Trial &trial, const pi_usm_desc *desc) {
            const Place &place = trial.at.place;
            return trial.make<void *>(
                [&](void *pointer) { return piUsmFree(place.context, pointer); },
                [&](void **out) { return piUsmAlloc(place.context, place.device, desc, out); });
        }));
    rows.push_back(row<pi_usm_pool_desc>(
        "piUsmPoolCreate", PI_TYPE_USM_POOL_DESC, {},
        [](Trial &, pi_usm_pool_desc &desc) { desc.kind = PI_USM_DEVICE; },
        make_on_device<pi_usm_pool, piUsmPoolCreate, piUsmPoolRelease, pi_usm_pool_desc>));
}

void add_programs(std::vector<Row> &rows) {
    rows.push_back(row<pi_program_desc>(
        "piProgramCreate", PI_TYPE_PROGRAM_DESC, {},
        [](Trial &, pi_program_desc &desc) { fill_program(desc); },
        make_in_context<pi_program, piProgramCreate, piProgramRelease, pi_program_desc>));
    rows.push_back(row<pi_program_build_desc>("piProgramCompile", PI_TYPE_PROGRAM_BUILD_DESC,
                                              {.optional = true, .outputs_optional = true},
                                              fill_build,
                                              [](Trial &trial, const pi_program_build_desc *desc) {
                                                  return piProgramCompile(trial.at.unbuilt, desc);
                                              }));
    rows.push_back(row<pi_program_link_desc>(
        "piProgramLink", PI_TYPE_PROGRAM_LINK_DESC, {},
        [](Trial &trial, pi_program_link_desc &desc) {
            desc.program_count = desc.device_count = 1;
            desc.programs = &trial.at.unbuilt;
            desc.devices = &trial.at.place.device;
        },
        make_in_context<pi_program, piProgramLink, piProgramRelease, pi_program_link_desc>));
    rows.push_back(row<pi_program_build_desc>(
        "piProgramBuild", PI_TYPE_PROGRAM_BUILD_DESC, {.optional = true, .outputs_optional = true},
        fill_build, [](Trial &trial, const pi_program_build_desc *desc) {
            return piProgramBuild(trial.at.unbuilt, desc);
        }));
    rows.push_back(row<pi_native_desc>("piProgramCreateWithNativeHandle", PI_TYPE_NATIVE_DESC,
                                       {.known_flags = PI_NATIVE_OWN}, fill_native,
                                       make_in_context<pi_program, piProgramCreateWithNativeHandle,
                                                       piProgramRelease, pi_native_desc>));
    rows.push_back(row<pi_kernel_launch_desc>(
        "piKernelGetSuggestedLocalSize", PI_TYPE_KERNEL_LAUNCH_DESC, launch_traits, fill_launch,
        [](Trial &trial, const pi_kernel_launch_desc *desc) {
            std::array<uint64_t, 3> size{};
            return trial.answer(size, [&](std::array<uint64_t, 3> *out) {
                return piKernelGetSuggestedLocalSize(trial.at.queue, desc,
                                                     out != nullptr ? out->data() : nullptr);
            });
        }));
    rows.push_back(row<pi_kernel_launch_desc>(
        "piKernelGetMaxCooperativeGroups", PI_TYPE_KERNEL_LAUNCH_DESC, launch_traits, fill_launch,
        [](Trial &trial, const pi_kernel_launch_desc *desc) {
            uint32_t count = 0;
            return trial.answer(count, [&](uint32_t *out) {
                return piKernelGetMaxCooperativeGroups(trial.at.queue, desc, out);
            });
        }));
    rows.push_back(
        row<pi_native_desc>("piKernelCreateWithNativeHandle", PI_TYPE_NATIVE_DESC,
                            {.known_flags = PI_NATIVE_OWN}, fill_native,
                            make_of<pi_kernel, piKernelCreateWithNativeHandle, piKernelRelease,
                                    &Fixture::program, pi_native_desc>));
    rows.push_back(row<pi_kernel_desc>(
        "piKernelCreate", PI_TYPE_KERNEL_DESC, {.optional = true}, [](Trial &, pi_kernel_desc &) {},
        [](Trial &trial, const pi_kernel_desc *desc) {
            return trial.make<pi_kernel>(piKernelRelease, [&](pi_kernel *out) {
                return piKernelCreate(trial.at.program, "nothing", desc, out);
            });
        }));
    rows.push_back(row<pi_host_event_desc>(
        "piEventCreateHost", PI_TYPE_HOST_EVENT_DESC, {.optional = true},
        [](Trial &, pi_host_event_desc &) {},
        make_in_context<pi_event, piEventCreateHost, piEventRelease, pi_host_event_desc>));
    rows.push_back(row<pi_sampler_desc>(
        "piSamplerCreate", PI_TYPE_SAMPLER_DESC, {},
        [](Trial &, pi_sampler_desc &desc) { desc.addressing = PI_ADDRESSING_CLAMP; },
        make_in_context<pi_sampler, piSamplerCreate, piSamplerRelease, pi_sampler_desc>));
    rows.push_back(row<pi_native_desc>("piSamplerCreateWithNativeHandle", PI_TYPE_NATIVE_DESC,
                                       {.known_flags = PI_NATIVE_OWN}, fill_native,
                                       make_in_context<pi_sampler, piSamplerCreateWithNativeHandle,
                                                       piSamplerRelease, pi_native_desc>));
    rows.push_back(row<pi_native_desc>(
        "piEventCreateWithNativeHandle", PI_TYPE_NATIVE_DESC, {.known_flags = PI_NATIVE_OWN},
        fill_native,
        make_in_context<pi_event, piEventCreateWithNativeHandle, piEventRelease, pi_native_desc>));
    rows.push_back(command("piEnqueueKernelLaunch", piEnqueueKernelLaunch,
                           PI_TYPE_KERNEL_LAUNCH_DESC, launch_traits, fill_launch));
}

} // namespace

std::vector<Row> object_rows() {
    std::vector<Row> rows;
    add_places(rows);
    add_memory(rows);
    add_programs(rows);
    return rows;
}

} // namespace pi::fuzz
