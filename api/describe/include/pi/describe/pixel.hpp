// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The size of a pixel.
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <iterator>

namespace pi::describe {

/// The bytes of a pixel of a format; 0 for an unknown format.
constexpr uint32_t pixel_bytes(pi_channel_order order, pi_channel_type type) noexcept {
    // Indexed by enumerator; index 0 is unused.
    constexpr uint32_t channels[] = {0, 1, 2, 4, 4};
    constexpr uint32_t bytes[] = {0, 1, 2, 1, 2, 1, 2, 4, 1, 2, 4, 2, 4};
    static_assert(std::size(channels) == PI_CHANNEL_ORDER_BGRA + 1);
    static_assert(std::size(bytes) == PI_CHANNEL_FLOAT + 1);
    return order < std::size(channels) && type < std::size(bytes) ? channels[order] * bytes[type]
                                                                  : 0;
}

} // namespace pi::describe
