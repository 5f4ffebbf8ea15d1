// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The log of the layer record, which pi-run runs again: text, one JSON object per line.
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
//      arguments  in the function's order, with the members of pi/describe/members.hpp. A handle is
//                 its id, NULL is null. A descriptor is an object of its members, with the names of
//                 pi.h; a chained one is under "next". A list is a list; one at NULL with a count
//                 is that count. Reserved words are present if they are not 0. An output is true if
//                 requested, else false. An address in a USM allocation is {"usm": id, "offset"}.
//                 Memory used in place is {"address", "bytes"}: equal addresses are the same
//                 memory. Other addresses are true, or null for NULL.
//      result     the pi_result
//      made       the ids of the returned handles, in order. An id is never reused.
//      usm        the id of the USM allocation that the call returned
//      began      for a call that blocks (piEventWait, piQueueFinish, a command with
//                 PI_COMMAND_BLOCKING): the number of lines when it began. Calls between these and
//                 its own line may have been made while it blocked
//      map        for a map and the unmap that ends it: an id
//      data       for an unmap: the range's bytes, if it was mapped for writing
//      hash       for a blocking command that writes to the host, or the unmap of a range mapped
//                 only for reading: fnv of the bytes
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

/// Memory that is reached without a call.
inline constexpr const char *by_address =
    "the host and kernels access this memory by address, which a log cannot record";

/// Why no call of the function can be replayed; nullptr if one can.
constexpr const char *why_never(std::size_t index) {
    const auto has = [&](std::string_view part) { return function_has(index, part); };
    if (has("NativeHandle"))
        return "a native handle is valid only in the process that recorded it";
    if (has("Export"))
        return "the log does not contain exported memory";
    if (has("UsmHost") || has("HostPointer") || has("FunctionPointer") || has("VariablePointer") ||
        has("piMemFlush") || has("piMemInvalidate"))
        return by_address;
    if (has("SetCallback") || has("HostFunction"))
        return "the log does not contain functions of the program";
    return nullptr;
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
