// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the one of a program's images that suits a device best (piDeviceSelectBinary).
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <span>
#include <string_view>

namespace pi::sdk {

/// A kind of image that a device accepts; a device lists the best first.
struct BinaryTarget {
    std::string_view target;
    pi_program_format format;
};

/// Returns the index of the first of `binaries` that matches the earliest target of `accepted` that
/// any matches. PI_ERROR_INVALID_BINARY, listing both, if none matches.
inline uint32_t select_binary(std::span<const BinaryTarget> accepted, uint32_t count,
                              const pi_program_binary *binaries) {
    const auto list = read_array(count, binaries, "binaries");
    std::string given;
    for (size_t i = 0; i < list.size(); ++i) {
        enforce<checks::check_binary>(ArgumentName("binaries", i), list[i]);
        given += text(i ? ", " : "", '"', list[i].target, "\" of format ", list[i].format);
    }
    const auto suits = [&](const pi_program_binary &image) {
        return std::any_of(accepted.begin(), accepted.end(), [&](const BinaryTarget &one) {
            return one.target == image.target && one.format == image.format;
        });
    };
    for (const BinaryTarget &best : accepted)
        for (size_t i = 0; i < list.size(); ++i)
            if (best.target == list[i].target && suits(list[i]))
                return static_cast<uint32_t>(i);
    std::string taken;
    for (const BinaryTarget &one : accepted)
        taken += text(taken.empty() ? "" : ", ", '"', one.target, "\" of format ", one.format);
    fail(PI_ERROR_INVALID_BINARY, "binaries has ", given.empty() ? "nothing" : given,
         "; the device takes ", taken.empty() ? "nothing" : taken);
}

} // namespace pi::sdk
