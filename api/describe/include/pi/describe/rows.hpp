// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes at the host's end of a command: rows of each region, slice by slice. C++20.
#pragma once

#include <pi/describe/pixel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace pi::describe {

/// `a` times `b`, or UINT64_MAX if that is larger.
constexpr uint64_t times(uint64_t a, uint64_t b) noexcept {
    return a != 0 && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}
/// Likewise the sum.
constexpr uint64_t plus(uint64_t a, uint64_t b) noexcept {
    return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

/// Rows of bytes behind a host pointer.
struct Rows {
    uint64_t offset;
    uint64_t width; ///< bytes per row
    uint64_t rows, slices;
    uint64_t row_pitch, slice_pitch;

    constexpr Rows(uint64_t begin, uint64_t bytes, uint64_t row_count = 1, uint64_t slice_count = 1,
                   uint64_t given_row_pitch = 0, uint64_t given_slice_pitch = 0) noexcept
        : offset(begin), width(bytes), rows(std::max<uint64_t>(row_count, 1)),
          slices(std::max<uint64_t>(slice_count, 1)),
          row_pitch(given_row_pitch != 0 ? given_row_pitch : bytes),
          slice_pitch(given_slice_pitch != 0 ? given_slice_pitch : times(row_pitch, rows)) {}

    /// The bytes from the host pointer to the end of the last row; UINT64_MAX if there are more.
    constexpr uint64_t end() const noexcept {
        if (width == 0 && (rows > 1 || slices > 1))
            return UINT64_MAX;
        return plus(plus(times(slices - 1, slice_pitch), times(rows - 1, row_pitch)),
                    plus(width, offset));
    }
    /// Calls visit(offset, bytes) for each row until it returns false. False as well, without a
    /// call, if the rows end behind `limit`.
    template <typename Visit>
    bool visit(uint64_t limit, Visit &&visit) const {
        if (end() > limit || end() == UINT64_MAX)
            return false;
        for (uint64_t z = 0; z < slices; ++z) {
            for (uint64_t y = 0; y < rows; ++y) {
                if (!visit(offset + z * slice_pitch + y * row_pitch, width))
                    return false;
            }
        }
        return true;
    }
};

/// Which end of a pi_region is at the host.
enum class HostEnd { source, destination };

constexpr Rows host_rows(const pi_region &region, HostEnd host, uint64_t) noexcept {
    const bool source = host == HostEnd::source;
    const uint64_t *const pitch = source ? region.src_pitch : region.dst_pitch;
    return {source ? region.src_offset : region.dst_offset,
            region.extent[0],
            region.extent[1],
            region.extent[2],
            pitch[0],
            pitch[1]};
}
constexpr Rows host_rows(const pi_image_region &region, HostEnd, uint64_t pixel) noexcept {
    return {region.offset,    times(region.extent[0], pixel),
            region.extent[1], region.extent[2],
            region.row_pitch, region.slice_pitch};
}

/// Calls visit(Rows) for the host's end of each region of a command until it returns false. `pixel`
/// is the bytes of a pixel of its image. A command without regions has one row of its size.
template <typename Desc, typename Visit>
bool for_each_part(const Desc &desc, HostEnd host, uint64_t pixel, Visit &&visit) {
    if constexpr (requires { desc.regions; }) {
        for (uint32_t i = 0; desc.regions != nullptr && i < desc.region_count; ++i) {
            if (!visit(host_rows(desc.regions[i], host, pixel)))
                return false;
        }
        return true;
    } else {
        return visit(Rows(0, desc.size));
    }
}

/// The bytes behind the host pointer up to the end of its last row; UINT64_MAX if there are more.
template <typename Desc>
uint64_t host_end(const Desc &desc, HostEnd host, uint64_t pixel) {
    uint64_t end = 0;
    for_each_part(desc, host, pixel, [&](const Rows &rows) {
        end = std::max(end, rows.end());
        return true;
    });
    return end;
}

/// Calls visit(offset, bytes) for each row until it returns false. False as well if rows end behind
/// `limit`.
template <typename Desc, typename Visit>
bool for_each_row(const Desc &desc, HostEnd host, uint64_t pixel, uint64_t limit, Visit &&visit) {
    return for_each_part(desc, host, pixel,
                         [&](const Rows &rows) { return rows.visit(limit, visit); });
}

/// The bytes at the host_ptr of a new image.
constexpr uint64_t image_bytes(const pi_mem_image_desc &desc) noexcept {
    return Rows(0, times(desc.width, pixel_bytes(desc.channel_order, desc.channel_type)),
                desc.height, std::max(desc.depth, desc.array_size), desc.row_pitch,
                desc.slice_pitch)
        .end();
}

} // namespace pi::describe
