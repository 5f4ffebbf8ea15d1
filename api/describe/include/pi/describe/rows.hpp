// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes at the host's end of a command: rows of each region, slice by slice. C++20.
#pragma once

#include <pi/describe/checks/region.hpp>
#include <pi/describe/pixel.hpp>

#include <algorithm>
#include <cstdint>

namespace pi::describe {

/// `a` times `b`, or UINT64_MAX if that is larger.
constexpr uint64_t times(uint64_t a, uint64_t b) noexcept {
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}
/// Likewise the sum.
constexpr uint64_t plus(uint64_t a, uint64_t b) noexcept {
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

using checks::Rectangle;

/// The bytes from the host pointer to the end of an unchecked rectangle; UINT64_MAX if there are
/// more.
constexpr uint64_t end_of(const Rectangle &r) noexcept {
    if ((r.row == 0 && (r.rows > 1 || r.slices > 1)) ||
        times(r.rows, r.row_pitch) == UINT64_MAX) // its dense slice pitch is wrong
        return UINT64_MAX;
    return plus(plus(times(r.slices - 1, r.slice_pitch), times(r.rows - 1, r.row_pitch)),
                plus(r.row, r.offset));
}

/// Which end of a pi_region is at the host.
enum class HostEnd { source, destination };

constexpr Rectangle host_rows(const pi_region &region, HostEnd host, uint64_t) noexcept {
    return host == HostEnd::source ? checks::source_of(region) : checks::destination_of(region);
}
constexpr Rectangle host_rows(const pi_image_region &region, HostEnd, uint64_t pixel) noexcept {
    return checks::rectangle_of(
        region.offset, {times(region.extent[0], pixel), region.extent[1], region.extent[2]},
        region.row_pitch, region.slice_pitch);
}

/// Calls visit(Rectangle) for the host's end of each region of a command until it returns false.
/// `pixel` is the bytes of a pixel of its image. A command without regions has one row of its size.
template <typename Desc, typename Visit>
bool for_each_part(const Desc &desc, HostEnd host, uint64_t pixel, Visit &&visit) {
    if constexpr (requires { desc.regions; }) {
        for (uint32_t i = 0; desc.regions != nullptr && i < desc.region_count; ++i) {
            if (!visit(host_rows(desc.regions[i], host, pixel)))
                return false;
        }
        return true;
    } else {
        return visit(checks::range_of(0, desc.size));
    }
}

/// The bytes behind the host pointer up to the end of its last row; UINT64_MAX if there are more.
template <typename Desc>
uint64_t host_end(const Desc &desc, HostEnd host, uint64_t pixel) {
    uint64_t end = 0;
    for_each_part(desc, host, pixel, [&](const Rectangle &rows) {
        end = std::max(end, end_of(rows));
        return true;
    });
    return end;
}

/// Calls visit(offset, bytes) for each row until it returns false. False as well if rows end behind
/// `limit`.
template <typename Desc, typename Visit>
bool for_each_row(const Desc &desc, HostEnd host, uint64_t pixel, uint64_t limit, Visit &&visit) {
    return for_each_part(desc, host, pixel, [&](const Rectangle &rows) {
        if (const uint64_t end = end_of(rows); end > limit || end == UINT64_MAX)
            return false;
        for (uint64_t z = 0; z < rows.slices; ++z) {
            for (uint64_t y = 0; y < rows.rows; ++y) {
                if (!visit(rows.offset + z * rows.slice_pitch + y * rows.row_pitch, rows.row))
                    return false;
            }
        }
        return true;
    });
}

/// The bytes at the host_ptr of a new image.
constexpr uint64_t image_bytes(const pi_mem_image_desc &desc) noexcept {
    return end_of(
        checks::rectangle_of(0,
                             {times(desc.width, pixel_bytes(desc.channel_order, desc.channel_type)),
                              desc.height, std::max(desc.depth, desc.array_size)},
                             desc.row_pitch, desc.slice_pitch));
}

} // namespace pi::describe
