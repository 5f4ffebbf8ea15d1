// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log of the layer record, which pi-replay runs again: text, one JSON object per line.
//
//  - The first line is the header:
//    {"pi_record": version, "abi": "1.0", "machine": {"host", "system"}}.
//  - {"plugin", "file"} describes a recorded plugin. Lines without "function" are remarks.
//  - {"of", "result"} replaces the result of the call in the line with that number, from 1 on.
//  - Every other line is a call that has returned, in the order of the returns, so that an object's
//    create call comes before each use. Calls that may let others continue (piEventSignalHost,
//    piEventRelease, piQueueFlush, piQueueRelease) are written when they begin, with the result 0:
//      thread     a number, in the order of the threads' first calls
//      function   its name in pi.h
//      arguments  in the function's order. A handle is its id, NULL is null. A descriptor is an
//                 object of its members, with the names of pi.h; a chained one is under "next". A
//                 wait list is a list of ids; one at NULL with a count is that count. Reserved
//                 words are present if they are not 0. An output is true if requested, else false.
//                 Other addresses are null.
//      result     the pi_result
//      made       the ids of the returned handles, in order. An id is never reused.
//      began      for a call that blocks (piEventWait, piQueueFinish, a command with
//                 PI_COMMAND_BLOCKING): the number of lines when it began. Calls between these and
//                 its own line may have been made while it blocked
//      map        for a map and the unmap that ends it: an id
//      data       for an unmap: the range's bytes, if it was mapped for writing
//      hash       for a blocking read, or the unmap of a range mapped only for reading: fnv of the
//                 bytes
//      cannot     why the call cannot be run again
//    Bytes are base64: the input of a write, fill, launch, program or buffer. For regions they are
//    the rows, one after the other. For a call that failed they are true: they may not exist.
//
// A line is written at once, so in a log without its last "\n" the program ended while writing it.
#pragma once

#include "functions.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace pi::loader::record {

inline constexpr int format_version = 1;

/// Whether the function's name contains a part.
constexpr bool function_has(std::size_t index, std::string_view part) {
    return std::string_view(function_rows[index].name).find(part) != std::string_view::npos;
}

/// A query changes nothing, so a replay does not repeat it; handles that it returns are found
/// otherwise.
constexpr bool is_query(std::size_t index) {
    if (function_has(index, "NativeHandle"))
        return false;
    for (const std::string_view part :
         {"GetInfo", "GetBuildInfo", "GetGroupInfo", "GetSubGroupInfo", "GetProfilingInfo",
          "piPluginGet", "piPlatformsGet", "piPlatformGet", "piDevicesGet", "GetGlobalTimestamps",
          "SelectBinary", "GetMemoryScopes", "piGetMemoryConnection", "GetSuggestedLocalSize",
          "GetMaxCooperativeGroups"}) {
        if (function_has(index, part))
            return true;
    }
    return false;
}

/// Why a call of the function cannot be replayed; nullptr if it can.
constexpr const char *why_never(std::size_t index) {
    const auto has = [&](std::string_view part) { return function_has(index, part); };
    if (has("NativeHandle"))
        return "a native handle is valid only in the process that recorded it";
    if (has("Import") || has("Export"))
        return "the log does not contain imported or exported memory";
    if (has("Usm") || has("HostPointer") || has("FunctionPointer") || has("VariablePointer") ||
        has("piMemFlush") || has("piMemInvalidate"))
        return "the host and kernels access this memory by address, which a log cannot record";
    if (has("SetCallback") || has("HostFunction"))
        return "the log does not contain functions of the program";
    if (has("Image") || has("Sampler"))
        return "the log does not contain images and samplers";
    if (has("DeviceGlobal") || has("Specialization") || has("piDevicePartition"))
        return "the log does not contain device globals, specialization constants and sub-devices";
    return nullptr;
}

/// The members of each descriptor in a log, for the layer that writes it and the replay that reads
/// it. An archive has
///   number, numbers     words, and arrays of fixed length
///   reserved            a word that is 0 in a valid call
///   stray               an address that is NULL in a valid call
///   list                a count, an array of words, and the maximum count
///   handle, handles     one, and a count with its array
///   text                a string or NULL
///   data                an address and the number of bytes that the callee reads there
///   regions             a count and its array
///   source, target      the host's side of the regions of a write or read
///   arguments           those of a launch
///   layout              the chain behind a buffer's descriptor
///   place, mapped       where a map stores its address, and the address that an unmap ends
template <typename Desc>
inline constexpr bool described = false;
#define PI_RECORD_DESCRIPTOR(desc)                                                                 \
    template <>                                                                                    \
    inline constexpr bool described<desc> = true;                                                  \
    template <typename Archive>                                                                    \
    void members(Archive &a, desc &d)

PI_RECORD_DESCRIPTOR(pi_context_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handles("devices", d.device_count, d.devices);
}
PI_RECORD_DESCRIPTOR(pi_queue_desc) {
    a.number("flags", d.flags);
}
PI_RECORD_DESCRIPTOR(pi_mem_layout_desc) {
    a.number("element_size", d.element_size);
    a.list("extents", d.rank, d.extents, 8);
    a.reserved("reserved", d.reserved);
    a.list("axis_separators", d.axis_separator_count, d.axis_separators, 8);
}
PI_RECORD_DESCRIPTOR(pi_mem_buffer_desc) {
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
PI_RECORD_DESCRIPTOR(pi_mem_partition_desc) {
    a.number("flags", d.flags);
    a.number("offset", d.offset);
    a.number("size", d.size);
}
PI_RECORD_DESCRIPTOR(pi_program_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.number("format", d.format);
    a.number("size", d.size);
    if (d.format == PI_PROGRAM_FORMAT_NATIVE_TABLE)
        a.cannot("a table of native functions belongs to the program");
    else
        a.data("data", d.data, d.size);
}
PI_RECORD_DESCRIPTOR(pi_program_build_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handles("devices", d.device_count, d.devices);
    a.text("options", d.options);
}
PI_RECORD_DESCRIPTOR(pi_program_link_desc) {
    a.number("flags", d.flags);
    a.handles("programs", d.program_count, d.programs);
    a.handles("devices", d.device_count, d.devices);
    a.text("options", d.options);
}
PI_RECORD_DESCRIPTOR(pi_buffer_read_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("mem", d.mem);
    a.regions(d.region_count, d.regions);
    a.target(d);
}
PI_RECORD_DESCRIPTOR(pi_buffer_write_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("mem", d.mem);
    a.regions(d.region_count, d.regions);
    a.source(d);
}
PI_RECORD_DESCRIPTOR(pi_buffer_copy_desc) {
    a.number("flags", d.flags);
    a.reserved("reserved", d.reserved);
    a.handle("src", d.src);
    a.handle("dst", d.dst);
    a.regions(d.region_count, d.regions);
}
PI_RECORD_DESCRIPTOR(pi_buffer_fill_desc) {
    a.number("flags", d.flags);
    a.handle("mem", d.mem);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.number("pattern_size", d.pattern_size);
    a.data("pattern", d.pattern, d.pattern_size);
}
PI_RECORD_DESCRIPTOR(pi_buffer_map_desc) {
    a.number("flags", d.flags);
    a.handle("mem", d.mem);
    a.number("offset", d.offset);
    a.number("size", d.size);
    a.place(d);
}
PI_RECORD_DESCRIPTOR(pi_unmap_desc) {
    a.number("flags", d.flags);
    a.handle("mem", d.mem);
    a.mapped(d);
}
PI_RECORD_DESCRIPTOR(pi_kernel_launch_desc) {
    a.number("flags", d.flags);
    a.handle("kernel", d.kernel);
    a.number("dimensions", d.dimensions);
    a.arguments(d.argument_count, d.arguments);
    a.numbers("global_offset", d.global_offset);
    a.numbers("global_size", d.global_size);
    a.numbers("local_size", d.local_size);
    a.numbers("cluster_size", d.cluster_size);
    a.number("local_memory_size", d.local_memory_size);
}
PI_RECORD_DESCRIPTOR(pi_events_wait_desc) {
    a.number("flags", d.flags);
}
PI_RECORD_DESCRIPTOR(pi_barrier_desc) {
    a.number("flags", d.flags);
}
PI_RECORD_DESCRIPTOR(pi_timestamp_desc) {
    a.number("flags", d.flags);
}
#undef PI_RECORD_DESCRIPTOR

/// Calls visit(offset, bytes) for each row of a region on the host's side. False, without a call,
/// if the region exceeds 64 bits or has more than `limit` bytes from the host pointer to its end.
template <typename Visit>
bool for_each_row(const pi_region &region, bool host_is_source, uint64_t limit, Visit &&visit) {
    using Wide = unsigned __int128;
    const uint64_t rows = std::max<uint64_t>(region.extent[1], 1);
    const uint64_t slices = std::max<uint64_t>(region.extent[2], 1);
    const uint64_t *const pitch = host_is_source ? region.src_pitch : region.dst_pitch;
    const uint64_t offset = host_is_source ? region.src_offset : region.dst_offset;
    const Wide row_pitch = pitch[0] != 0 ? pitch[0] : region.extent[0];
    if (row_pitch * (rows - 1) > limit)
        return false;
    const Wide slice_pitch = pitch[1] != 0 ? Wide{pitch[1]} : row_pitch * rows;
    if (slice_pitch > limit && slices > 1)
        return false;
    if (Wide{slices - 1} * slice_pitch + row_pitch * (rows - 1) + region.extent[0] + offset >
            limit ||
        (region.extent[0] == 0 && (rows > 1 || slices > 1)))
        return false;
    for (uint64_t z = 0; z < slices; ++z) {
        for (uint64_t y = 0; y < rows; ++y)
            visit(offset + z * static_cast<uint64_t>(slice_pitch) +
                      y * static_cast<uint64_t>(row_pitch),
                  region.extent[0]);
    }
    return true;
}

/// FNV-1a with 64 bits; `so_far` carries it across parts.
inline uint64_t hash_bytes(std::span<const unsigned char> bytes,
                           uint64_t so_far = UINT64_C(0xcbf29ce484222325)) noexcept {
    for (const unsigned char byte : bytes)
        so_far = (so_far ^ byte) * UINT64_C(0x100000001b3);
    return so_far;
}

/// Base64 with padding.
inline std::string encode(std::span<const unsigned char> bytes) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((bytes.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < bytes.size(); i += 3) {
        const std::size_t left = std::min<std::size_t>(bytes.size() - i, 3);
        const uint32_t group = uint32_t{bytes[i]} << 16 |
                               (left > 1 ? uint32_t{bytes[i + 1]} << 8 : 0) |
                               (left > 2 ? uint32_t{bytes[i + 2]} : 0);
        out += letters[group >> 18];
        out += letters[group >> 12 & 63];
        out += left > 1 ? letters[group >> 6 & 63] : '=';
        out += left > 2 ? letters[group & 63] : '=';
    }
    return out;
}

/// Empty if the text is not base64.
inline std::optional<std::basic_string<unsigned char>> decode(std::string_view text) {
    const auto value = [](char letter) -> int {
        if (letter >= 'A' && letter <= 'Z')
            return letter - 'A';
        if (letter >= 'a' && letter <= 'z')
            return letter - 'a' + 26;
        if (letter >= '0' && letter <= '9')
            return letter - '0' + 52;
        return letter == '+' ? 62 : letter == '/' ? 63 : -1;
    };
    if (text.size() % 4 != 0)
        return std::nullopt;
    std::basic_string<unsigned char> out;
    out.reserve(text.size() / 4 * 3);
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const bool last = i + 4 == text.size();
        const std::size_t padding = !last || text[i + 3] != '=' ? 0 : (text[i + 2] == '=' ? 2 : 1);
        uint32_t group = 0;
        for (std::size_t k = 0; k < 4; ++k) {
            const int digit = k < 4 - padding ? value(text[i + k]) : 0;
            if (digit < 0)
                return std::nullopt;
            group = group << 6 | static_cast<uint32_t>(digit);
        }
        for (std::size_t k = 0; k < 3 - padding; ++k)
            out += static_cast<unsigned char>(group >> (16 - 8 * k) & 0xff);
    }
    return out;
}

} // namespace pi::loader::record
