// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Selects the one of a program's images that suits a device best (piDeviceSelectBinary).
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <span>
#include <string_view>

namespace pi::sdk {

/// A kind of image that a device accepts; a device lists the best first.
struct BinaryTarget {
    std::string_view target;
    pi_program_format format;
};

/// Returns the index of the first of `binaries` whose rank(image) is the greatest; 0 is the rank of
/// an image that does not suit. PI_ERROR_INVALID_BINARY if none suits, with their targets and what
/// the device `accepts`.
template <class Rank>
uint32_t select_best(uint32_t count, const pi_program_binary *binaries, std::string_view accepts,
                     const Rank &rank) {
    const auto list = read_array(count, binaries, "binaries");
    std::string given;
    for (size_t i = 0; i < list.size(); ++i) {
        enforce<checks::check_binary>(ArgumentName("binaries", i), list[i]);
        given += text(i ? ", " : "", '"', list[i].target, "\" of format ", list[i].format);
    }
    size_t best = 0, best_rank = 0;
    for (size_t i = 0; i < list.size(); ++i)
        if (const size_t its = rank(list[i]); its > best_rank) {
            best = i;
            best_rank = its;
        }
    if (!best_rank)
        fail(PI_ERROR_INVALID_BINARY, "binaries has ", given.empty() ? "nothing" : given,
             "; the device takes ", accepts.empty() ? "nothing" : accepts);
    return static_cast<uint32_t>(best);
}

/// Returns the index of the first of `binaries` that matches the earliest target of `accepted` that
/// any matches. PI_ERROR_INVALID_BINARY, listing both, if none matches.
inline uint32_t select_binary(std::span<const BinaryTarget> accepted, uint32_t count,
                              const pi_program_binary *binaries) {
    std::string accepts;
    for (const BinaryTarget &one : accepted)
        accepts += text(accepts.empty() ? "" : ", ", '"', one.target, "\" of format ", one.format);
    return select_best(count, binaries, accepts, [&](const pi_program_binary &image) -> size_t {
        const auto of_target = [&](const BinaryTarget &one) { return one.target == image.target; };
        const auto suits = [&](const BinaryTarget &one) {
            return one.target == image.target && one.format == image.format;
        };
        if (std::none_of(accepted.begin(), accepted.end(), suits))
            return 0;
        return static_cast<size_t>(accepted.end() -
                                   std::find_if(accepted.begin(), accepted.end(), of_target));
    });
}

} // namespace pi::sdk
