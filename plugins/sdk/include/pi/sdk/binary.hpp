// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which of a program's images suits a device (piDeviceSelectBinary).
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <span>
#include <string_view>

namespace pi::sdk {

/// A kind of image that a device takes.
struct BinaryTarget {
    std::string_view target;
    pi_program_format format;
};

/// The index of the first of `binaries` that is one of `accepted`; PI_ERROR_INVALID_BINARY, telling both lists, when
/// none is.
inline uint32_t select_binary(std::span<const BinaryTarget> accepted, uint32_t count,
                              const pi_program_binary *binaries) {
    const auto list = read_array(count, binaries, "binaries");
    std::string given;
    for (size_t i = 0; i < list.size(); ++i) {
        if (!list[i].target)
            fail(PI_ERROR_INVALID_NULL_POINTER, "binaries[", i, "].target is NULL");
        if (list[i].reserved)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "binaries[", i,
                 "] has a reserved word that is not 0");
        given += text(i ? ", " : "", '"', list[i].target, "\" of format ", list[i].format);
    }
    for (size_t i = 0; i < list.size(); ++i)
        for (const BinaryTarget &one : accepted)
            if (one.target == list[i].target && one.format == list[i].format)
                return static_cast<uint32_t>(i);
    std::string taken;
    for (const BinaryTarget &one : accepted)
        taken += text(taken.empty() ? "" : ", ", '"', one.target, "\" of format ", one.format);
    fail(PI_ERROR_INVALID_BINARY, "binaries has ", given.empty() ? "nothing" : given,
         "; the device takes ", taken.empty() ? "nothing" : taken);
}

} // namespace pi::sdk
