// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The members of every descriptor and array element of the interface, and the parameters of every
// function, for archives that write or read them: the log of the layer record, the wire of a
// plugin. C++20. An archive has
//   number, numbers     a word, and an array of fixed length
//   reserved            words that are 0 in a valid call
//   characters          a text in an array of fixed length
//   stray               an address that is NULL in a valid call
//   list                a count, an array of words, and the largest count that a callee reads
//   handle, optional    a handle; one that is NULL in most calls
//   handles             a count and its array
//   text                a string or NULL
//   data                an address and the number of bytes that the callee reads there
//   shared              an address and the number of bytes that the callee uses in place
//   elements            a count and an array of structs that are described here
//   object              a struct in a struct
//   layout              the chain behind a buffer's descriptor
//   source, target      the end of a command at the host: the rows that it reads, those it writes
//   from, to            the ends of a USM copy: an address of USM, or a source and a target
//   address             an address of USM
//   place, allocated    where a map stores its address, where an allocation does
//   mapped              the address that an unmap ends
//   mark                an address of the program's own that a callee only passes on
//   cannot              why the call means something in this process only
// and for the parameters of a function
//   descriptor          a descriptor or NULL
//   made                where the callee stores that many new handles, or NULL
//   output              where the callee stores that many elements or bytes, or NULL
// Each is called with the member's name in pi.h first. A reader sets what it is given; a member is
// described behind those that give its size. The first two members of a descriptor are its type's,
// and a descriptor that chains another is refused by the archive, except the buffer's.
#pragma once

#include <pi/describe/descriptor.hpp>
#include <pi/describe/rows.hpp>
#include <pi/pi_plugin.h>

#include <concepts>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

namespace pi::describe {

template <typename Type>
inline constexpr bool described = false;
/// A descriptor with other words has no members.
#define PI_MEMBERS(desc)                                                                           \
    template <>                                                                                    \
    inline constexpr bool described<desc> = true;                                                  \
    template <typename Archive>                                                                    \
    void members(Archive &a, desc &d)

// ----- Objects -----

PI_MEMBERS(pi_native_handle) {
    a.number("type", d.type);
    a.number("count", d.count);
    a.numbers("value", d.value);
}
PI_MEMBERS(pi_native_desc) {
    a.number("flags", d.flags);
    a.handle("device", d.device);
    a.object("handle", d.handle);
}
PI_MEMBERS(pi_device_partition_desc) {
    a.number("kind", d.kind);
    if (d.kind == PI_PARTITION_BY_COUNTS) {
        a.list("counts", d.count, d.counts, 1 << 16);
    } else {
        a.number("count", d.count);
        a.stray("counts", d.counts);
    }
}
PI_MEMBERS(pi_program_binary) {
    a.text("target", d.target);
    a.number("format", d.format);
    a.reserved("reserved", d.reserved);
    a.number("size", d.size);
    a.data("data", d.data, d.size);
    a.reserved("reserved_words", d.reserved_words);
}
PI_MEMBERS(pi_memory_scope) {
    a.characters("name", d.name);
    a.number("flags", d.flags);
    a.number("capacity", d.capacity);
    a.number("max_allocation", d.max_allocation);
    a.number("min_alignment", d.min_alignment);
    a.number("offset_alignment", d.offset_alignment);
    a.number("flush_atom", d.flush_atom);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_context_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handles("devices", d.device_count, d.devices);
}
PI_MEMBERS(pi_memory_connection_query) {
    a.number("kind", d.kind);
    a.number("src_scope", d.src_scope);
    a.number("dst_scope", d.dst_scope);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_memory_connection_info) {
    a.number("connection", d.connection);
    a.number("coherence", d.coherence);
    a.number("atomics", d.atomics);
    a.number("residency", d.residency);
    a.number("concurrent_writers", d.concurrent_writers);
    a.number("path", d.path);
    a.number("preferred_queue", d.preferred_queue);
    a.number("link_kind", d.link_kind);
    a.number("bandwidth", d.bandwidth);
    a.number("latency", d.latency);
    a.number("external_handle_types", d.external_handle_types);
    a.reserved("reserved", d.reserved);
    a.characters("reason", d.reason);
    a.numbers("channels", d.channels);
    a.number("verified", d.verified);
    a.reserved("reserved2", d.reserved2);
    a.characters("verified_text", d.verified_text);
}
// Of pi_loader.h, which this header does not include.
template <>
inline constexpr bool described<pi_memory_verification_desc> = true;
template <typename Archive, std::same_as<pi_memory_verification_desc> Desc>
void members(Archive &a, Desc &d) {
    a.number("flags", d.flags);
    a.number("kind", d.kind);
    a.number("src_scope", d.src_scope);
    a.number("dst_scope", d.dst_scope);
    a.reserved("reserved", d.reserved);
    a.number("size", d.size);
    a.shared("host_ptr", d.host_ptr, d.size);
}
PI_MEMBERS(pi_queue_desc) {
    a.number("flags", d.flags);
}
PI_MEMBERS(pi_sampler_desc) {
    a.number("normalized_coordinates", d.normalized_coordinates);
    a.number("addressing", d.addressing);
    a.number("filter", d.filter);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_kernel_desc) {
    a.number("flags", d.flags);
}
PI_MEMBERS(pi_host_event_desc) {
    a.number("flags", d.flags);
}

// ----- Memory -----

PI_MEMBERS(pi_mem_layout_desc) {
    a.number("element_size", d.element_size);
    a.list("extents", d.rank, d.extents, 8);
    a.reserved("reserved", d.reserved);
    a.list("axis_separators", d.axis_separator_count, d.axis_separators, 8);
}
PI_MEMBERS(pi_mem_buffer_desc) {
    a.number("flags", d.flags);
    a.number("size", d.size);
    a.number("alignment", d.alignment);
    a.number("scope", d.scope);
    a.number("export_types", d.export_types);
    a.layout(d.next);
    if ((d.flags & (PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR)) != 0)
        a.data("host_ptr", d.host_ptr, d.size);
    else
        a.stray("host_ptr", d.host_ptr);
}
PI_MEMBERS(pi_mem_image_desc) {
    a.number("flags", d.flags);
    a.number("image_type", d.image_type);
    a.number("channel_order", d.channel_order);
    a.number("channel_type", d.channel_type);
    a.number("scope", d.scope);
    a.number("width", d.width);
    a.number("height", d.height);
    a.number("depth", d.depth);
    a.number("array_size", d.array_size);
    a.number("row_pitch", d.row_pitch);
    a.number("slice_pitch", d.slice_pitch);
    a.number("offset", d.offset);
    a.number("mip_levels", d.mip_levels);
    a.number("samples", d.samples);
    if ((d.flags & (PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR)) != 0)
        a.data("host_ptr", d.host_ptr, image_bytes(d));
    else
        a.stray("host_ptr", d.host_ptr);
}
PI_MEMBERS(pi_mem_partition_desc) {
    a.number("flags", d.flags);
    a.number("offset", d.offset);
    a.number("size", d.size);
}
PI_MEMBERS(pi_external_handle) {
    a.number("type", d.type);
    a.number("fd", d.fd);
    a.mark("pointer", d.pointer);
    a.object("native", d.native);
    a.numbers("ipc", d.ipc);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.number("allocation_size", d.allocation_size);
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_mem_import_desc) {
    a.number("flags", d.flags);
    a.number("size", d.size);
    a.number("offset", d.offset);
    a.number("own", d.own);
    a.reserved("reserved", d.reserved);
    a.object("handle", d.handle);
    if (d.handle.type == PI_EXTERNAL_HOST_POINTER)
        a.shared("memory", d.handle.pointer, plus(plus(d.handle.offset, d.offset), d.size));
    else
        a.cannot("the handle of imported memory is valid only in the process that recorded it");
}
PI_MEMBERS(pi_mem_export_desc) {
    a.number("external_type", d.external_type);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_usm_desc) {
    a.number("flags", d.flags);
    a.number("kind", d.kind);
    a.number("scope", d.scope);
    a.number("size", d.size);
    a.number("alignment", d.alignment);
    a.handle("pool", d.pool);
}
PI_MEMBERS(pi_usm_pool_desc) {
    a.number("flags", d.flags);
    a.number("kind", d.kind);
    a.number("scope", d.scope);
    a.number("release_threshold", d.release_threshold);
    a.number("limit", d.limit);
}

// ----- Commands -----

PI_MEMBERS(pi_region) {
    a.number("src_offset", d.src_offset);
    a.number("dst_offset", d.dst_offset);
    a.numbers("extent", d.extent);
    a.numbers("src_pitch", d.src_pitch);
    a.numbers("dst_pitch", d.dst_pitch);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_buffer_read_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("mem", d.mem);
    a.elements("regions", d.region_count, d.regions);
    a.target("host_ptr", d.host_ptr, d);
}
PI_MEMBERS(pi_buffer_write_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("mem", d.mem);
    a.elements("regions", d.region_count, d.regions);
    a.source("host_ptr", d.host_ptr, d);
}
PI_MEMBERS(pi_buffer_copy_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("src", d.src);
    a.handle("dst", d.dst);
    a.elements("regions", d.region_count, d.regions);
}
PI_MEMBERS(pi_buffer_fill_desc) {
    a.number("flags", d.flags);
    a.handle("mem", d.mem);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.number("pattern_size", d.pattern_size);
    a.data("pattern", d.pattern, d.pattern_size);
}
PI_MEMBERS(pi_buffer_map_desc) {
    a.number("flags", d.flags);
    a.handle("mem", d.mem);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.place("out_pointer", d.out_pointer);
}
PI_MEMBERS(pi_unmap_desc) {
    a.number("flags", d.flags);
    a.handle("mem", d.mem);
    a.mapped("pointer", d.pointer);
}
PI_MEMBERS(pi_image_region) {
    a.numbers("origin", d.origin);
    a.numbers("extent", d.extent);
    a.number("row_pitch", d.row_pitch);
    a.number("slice_pitch", d.slice_pitch);
    a.number("offset", d.offset);
    a.number("mip_level", d.mip_level);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_image_read_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("image", d.image);
    a.elements("regions", d.region_count, d.regions);
    a.target("host_ptr", d.host_ptr, d);
}
PI_MEMBERS(pi_image_write_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("image", d.image);
    a.elements("regions", d.region_count, d.regions);
    a.source("host_ptr", d.host_ptr, d);
}
PI_MEMBERS(pi_image_copy_region) {
    a.numbers("src_origin", d.src_origin);
    a.numbers("dst_origin", d.dst_origin);
    a.numbers("extent", d.extent);
    a.number("buffer_offset", d.buffer_offset);
    a.number("buffer_row_pitch", d.buffer_row_pitch);
    a.number("buffer_slice_pitch", d.buffer_slice_pitch);
    a.number("src_mip_level", d.src_mip_level);
    a.number("dst_mip_level", d.dst_mip_level);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_image_copy_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("src", d.src);
    a.handle("dst", d.dst);
    a.elements("regions", d.region_count, d.regions);
}
PI_MEMBERS(pi_image_fill_desc) {
    a.number("flags", d.flags);
    a.handle("image", d.image);
    a.data("color", d.color, 16);
    a.numbers("origin", d.origin);
    a.numbers("extent", d.extent);
}
PI_MEMBERS(pi_usm_copy_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.elements("regions", d.region_count, d.regions);
    a.from("src", d.src, d);
    a.to("dst", d.dst, d);
}
PI_MEMBERS(pi_usm_fill_desc) {
    a.number("flags", d.flags);
    a.address("pointer", d.pointer);
    a.number("size", d.size);
    a.number("pattern_size", d.pattern_size);
    a.data("pattern", d.pattern, d.pattern_size);
}
PI_MEMBERS(pi_usm_prefetch_desc) {
    a.number("flags", d.flags);
    a.address("pointer", d.pointer);
    a.number("size", d.size);
}
PI_MEMBERS(pi_usm_advise_desc) {
    a.number("flags", d.flags);
    a.address("pointer", d.pointer);
    a.number("size", d.size);
    a.number("advice", d.advice);
    a.reserved("reserved", d.reserved);
}
PI_MEMBERS(pi_usm_alloc_desc) {
    a.number("flags", d.flags);
    a.handle("pool", d.pool);
    a.number("size", d.size);
    a.number("alignment", d.alignment);
    a.allocated("out_pointer", d.out_pointer);
}
PI_MEMBERS(pi_usm_free_desc) {
    a.number("flags", d.flags);
    a.address("pointer", d.pointer);
}
PI_MEMBERS(pi_kernel_argument) {
    a.number("kind", d.kind);
    a.reserved("reserved", d.reserved);
    a.optional("image_sampler", d.image_sampler);
    switch (d.kind) {
    case PI_ARGUMENT_VALUE:
        a.reserved("offset", d.offset);
        a.number("size", d.size);
        a.data("value", d.value, d.size);
        break;
    case PI_ARGUMENT_BUFFER:
        a.handle("mem", d.mem);
        a.number("offset", d.offset);
        a.number("size", d.size);
        break;
    case PI_ARGUMENT_IMAGE:
        a.handle("mem", d.mem);
        a.reserved("offset", d.offset);
        a.reserved("size", d.size);
        break;
    case PI_ARGUMENT_SAMPLER:
        a.handle("sampler", d.sampler);
        a.reserved("offset", d.offset);
        a.reserved("size", d.size);
        break;
    case PI_ARGUMENT_POINTER:
        a.address("pointer", d.pointer);
        a.reserved("offset", d.offset);
        a.reserved("size", d.size);
        break;
    case PI_ARGUMENT_LOCAL:
        a.reserved("offset", d.offset);
        a.number("size", d.size);
        break;
    default:
        a.cannot("an argument is of an unknown kind");
    }
}
PI_MEMBERS(pi_kernel_launch_desc) {
    a.number("flags", d.flags);
    a.handle("kernel", d.kernel);
    a.number("dimensions", d.dimensions);
    a.elements("arguments", d.argument_count, d.arguments);
    a.numbers("global_offset", d.global_offset);
    a.numbers("global_size", d.global_size);
    a.numbers("local_size", d.local_size);
    a.numbers("cluster_size", d.cluster_size);
    a.number("local_memory_size", d.local_memory_size);
}
PI_MEMBERS(pi_host_function_desc) {
    a.number("flags", d.flags);
    a.mark("function", d.function);
    a.mark("user_data", d.user_data);
}
PI_MEMBERS(pi_events_wait_desc) {
    a.number("flags", d.flags);
}
PI_MEMBERS(pi_barrier_desc) {
    a.number("flags", d.flags);
}
PI_MEMBERS(pi_timestamp_desc) {
    a.number("flags", d.flags);
}
PI_MEMBERS(pi_device_global_read_desc) {
    a.number("flags", d.flags);
    a.handle("program", d.program);
    a.text("name", d.name);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.target("host_ptr", d.host_ptr, d);
}
PI_MEMBERS(pi_device_global_write_desc) {
    a.number("flags", d.flags);
    a.handle("program", d.program);
    a.text("name", d.name);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.source("host_ptr", d.host_ptr, d);
}

// ----- Programs -----

PI_MEMBERS(pi_program_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.number("format", d.format);
    a.number("size", d.size);
    if (d.format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        a.cannot("a table of native functions belongs to the program");
    else
        a.data("data", d.data, d.size);
}
PI_MEMBERS(pi_program_build_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handles("devices", d.device_count, d.devices);
    a.text("options", d.options);
}
PI_MEMBERS(pi_program_link_desc) {
    a.number("flags", d.flags);
    a.handles("programs", d.program_count, d.programs);
    a.handles("devices", d.device_count, d.devices);
    a.text("options", d.options);
}
PI_MEMBERS(pi_specialization_constant) {
    a.number("id", d.id);
    a.reserved("reserved", d.reserved);
    a.number("size", d.size);
    a.data("value", d.value, d.size);
}
#undef PI_MEMBERS

// ----- Functions -----

/// The names of a function's parameters in pi.h. All commands have the same.
template <auto Slot>
inline constexpr std::string_view parameter_names[] = {"queue", "desc", "wait_count", "wait_list",
                                                       "out_event"};
#define PI_PARAMETERS(function, ...)                                                               \
    template <>                                                                                    \
    inline constexpr std::string_view parameter_names<&pi_dispatch::function>[] = {__VA_ARGS__};
#define PI_INFO(function, ...)                                                                     \
    PI_PARAMETERS(function, __VA_ARGS__, "name", "size", "value", "out_size")
#define PI_COUNTED(object, word)                                                                   \
    PI_PARAMETERS(object##Retain, word)                                                            \
    PI_PARAMETERS(object##Release, word)
PI_INFO(piPluginGetInfo, "plugin")
PI_PARAMETERS(piPluginGetExtension, "plugin", "name", "min_size", "out_table")
PI_PARAMETERS(piPlatformsGet, "plugin", "capacity", "out_platforms", "out_count")
PI_INFO(piPlatformGetInfo, "platform")
PI_PARAMETERS(piPlatformGetBackendOption, "platform", "frontend_option", "size", "value",
              "out_size")
PI_PARAMETERS(piPlatformGetNativeHandle, "platform", "out_handle")
PI_PARAMETERS(piPlatformCreateWithNativeHandle, "plugin", "desc", "out_platform")
PI_PARAMETERS(piDevicesGet, "platform", "types", "capacity", "out_devices", "out_count")
PI_INFO(piDeviceGetInfo, "device")
PI_PARAMETERS(piDevicePartition, "device", "desc", "capacity", "out_devices", "out_count")
PI_COUNTED(piDevice, "device")
PI_PARAMETERS(piDeviceGetGlobalTimestamps, "device", "out_device_time", "out_host_time")
PI_PARAMETERS(piDeviceSelectBinary, "device", "count", "binaries", "out_index")
PI_PARAMETERS(piDeviceGetMemoryScopes, "device", "capacity", "out_scopes", "out_count")
PI_PARAMETERS(piDeviceGetNativeHandle, "device", "out_handle")
PI_PARAMETERS(piDeviceCreateWithNativeHandle, "platform", "desc", "out_device")
PI_PARAMETERS(piContextCreate, "platform", "desc", "out_context")
PI_COUNTED(piContext, "context")
PI_INFO(piContextGetInfo, "context")
PI_PARAMETERS(piContextGetNativeHandle, "context", "device", "out_handle")
PI_PARAMETERS(piContextCreateWithNativeHandle, "platform", "desc", "out_context")
PI_PARAMETERS(piGetMemoryConnection, "src_device", "src_context", "dst_device", "dst_context",
              "out_connection")
PI_PARAMETERS(piGetMemoryConnectionInfo, "src_device", "src_context", "dst_device", "dst_context",
              "query", "out_info")
PI_PARAMETERS(piQueueCreate, "context", "device", "desc", "out_queue")
PI_COUNTED(piQueue, "queue")
PI_INFO(piQueueGetInfo, "queue")
PI_PARAMETERS(piQueueFlush, "queue")
PI_PARAMETERS(piQueueFinish, "queue")
PI_PARAMETERS(piQueueGetNativeHandle, "queue", "out_handle")
PI_PARAMETERS(piQueueCreateWithNativeHandle, "context", "device", "desc", "out_queue")
PI_PARAMETERS(piMemBufferCreate, "context", "device", "desc", "out_mem")
PI_PARAMETERS(piMemImageCreate, "context", "device", "desc", "out_mem")
PI_PARAMETERS(piMemBufferPartition, "mem", "desc", "out_mem")
PI_PARAMETERS(piMemImageViewCreate, "mem", "desc", "out_mem")
PI_PARAMETERS(piMemImport, "context", "device", "desc", "out_mem")
PI_PARAMETERS(piMemExport, "mem", "desc", "out_handle")
PI_INFO(piMemGetInfo, "mem")
PI_PARAMETERS(piMemGetHostPointer, "mem", "out_pointer")
PI_PARAMETERS(piMemFlush, "mem", "offset", "size")
PI_PARAMETERS(piMemInvalidate, "mem", "offset", "size")
PI_COUNTED(piMem, "mem")
PI_PARAMETERS(piMemGetNativeHandle, "mem", "device", "out_handle")
PI_PARAMETERS(piUsmAlloc, "context", "device", "desc", "out_pointer")
PI_PARAMETERS(piUsmFree, "context", "pointer")
PI_INFO(piUsmGetInfo, "context", "pointer")
PI_PARAMETERS(piUsmPoolCreate, "context", "device", "desc", "out_pool")
PI_COUNTED(piUsmPool, "pool")
PI_INFO(piUsmPoolGetInfo, "pool")
PI_PARAMETERS(piUsmHostRegister, "context", "pointer", "size", "flags")
PI_PARAMETERS(piUsmHostUnregister, "context", "pointer")
PI_PARAMETERS(piProgramCreate, "context", "desc", "out_program")
PI_PARAMETERS(piProgramCompile, "program", "desc")
PI_PARAMETERS(piProgramLink, "context", "desc", "out_program")
PI_PARAMETERS(piProgramBuild, "program", "desc")
PI_PARAMETERS(piProgramSetSpecializationConstants, "program", "count", "constants")
PI_COUNTED(piProgram, "program")
PI_INFO(piProgramGetInfo, "program")
PI_INFO(piProgramGetBuildInfo, "program", "device")
PI_PARAMETERS(piProgramGetFunctionPointer, "program", "device", "name", "out_address")
PI_PARAMETERS(piProgramGetGlobalVariablePointer, "program", "device", "name", "out_pointer",
              "out_size")
PI_PARAMETERS(piProgramGetNativeHandle, "program", "device", "out_handle")
PI_PARAMETERS(piProgramCreateWithNativeHandle, "context", "desc", "out_program")
PI_PARAMETERS(piKernelCreate, "program", "name", "desc", "out_kernel")
PI_COUNTED(piKernel, "kernel")
PI_INFO(piKernelGetInfo, "kernel")
PI_INFO(piKernelGetGroupInfo, "kernel", "device")
PI_INFO(piKernelGetSubGroupInfo, "kernel", "device")
PI_PARAMETERS(piKernelGetSuggestedLocalSize, "queue", "desc", "out_local_size")
PI_PARAMETERS(piKernelGetMaxCooperativeGroups, "queue", "desc", "out_count")
PI_PARAMETERS(piKernelGetNativeHandle, "kernel", "device", "out_handle")
PI_PARAMETERS(piKernelCreateWithNativeHandle, "program", "desc", "out_kernel")
PI_PARAMETERS(piSamplerCreate, "context", "desc", "out_sampler")
PI_COUNTED(piSampler, "sampler")
PI_INFO(piSamplerGetInfo, "sampler")
PI_PARAMETERS(piSamplerGetNativeHandle, "sampler", "out_handle")
PI_PARAMETERS(piSamplerCreateWithNativeHandle, "context", "desc", "out_sampler")
PI_PARAMETERS(piEventWait, "event", "timeout")
PI_INFO(piEventGetInfo, "event")
PI_INFO(piEventGetProfilingInfo, "event")
PI_PARAMETERS(piEventSetCallback, "event", "callback", "user_data")
PI_PARAMETERS(piEventCreateHost, "context", "desc", "out_event")
PI_PARAMETERS(piEventSignalHost, "event", "result")
PI_COUNTED(piEvent, "event")
PI_PARAMETERS(piEventGetNativeHandle, "event", "out_handle")
PI_PARAMETERS(piEventCreateWithNativeHandle, "context", "desc", "out_event")
#undef PI_COUNTED
#undef PI_INFO
#undef PI_PARAMETERS

/// Describes the parameter I of a function to an archive. Its type says most of it.
template <auto Slot, std::size_t I, typename Archive, typename... Parameters>
void parameter(Archive &a, std::tuple<Parameters...> &parameters) {
    static_assert(std::size(parameter_names<Slot>) == sizeof...(Parameters));
    using Type = std::tuple_element_t<I, std::tuple<Parameters...>>;
    using Pointed = std::remove_cv_t<std::remove_pointer_t<Type>>;
    constexpr std::string_view view = parameter_names<Slot>[I];
    constexpr const char *name = view.data();
    Type &value = std::get<I>(parameters);
    // A list's capacity, or an info's size, is the parameter before it.
    const auto count = [&] {
        if constexpr (I > 0 && view != "out_table") {
            if constexpr (std::is_unsigned_v<
                              std::tuple_element_t<I - 1, std::tuple<Parameters...>>>)
                return uint64_t{std::get<I - 1>(parameters)};
        }
        return view == "out_local_size" ? uint64_t{3} : uint64_t{1};
    };
    if constexpr (is_handle<Type>) {
        a.handle(name, value);
    } else if constexpr (std::is_integral_v<Type>) {
        a.number(name, value);
    } else if constexpr (std::is_same_v<Type, const char *>) {
        a.text(name, value);
    } else if constexpr (view.starts_with("out_") || view == "value") {
        if constexpr (is_handle<Pointed>)
            a.made(name, value, count());
        else
            a.output(name, value, count());
    } else if constexpr (is_handle<Pointed>) {
        a.handles(name, std::get<I - 1>(parameters), value);
    } else if constexpr (type_of<Pointed> != PI_TYPE_NONE) {
        a.descriptor(name, value);
    } else if constexpr (described<Pointed>) {
        a.elements(name, std::get<I - 1>(parameters), value);
    } else if constexpr (view == "pointer") {
        a.address(name, value);
    } else {
        a.mark(name, value);
    }
}

/// Describes all parameters of a function, in their order.
template <auto Slot, typename Archive, typename... Parameters>
void parameters(Archive &a, std::tuple<Parameters...> &values) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
        (parameter<Slot, I>(a, values), ...);
    }
    (std::index_sequence_for<Parameters...>());
}

} // namespace pi::describe
