// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A command that moves only the first half of its bytes.
#pragma once

#include <pi/pi.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace pi::loader::fault {

template <typename Desc>
concept HasRegions = requires(Desc desc) {
    desc.regions;
    desc.region_count;
};
template <typename Desc>
concept HasFilledRange = requires(Desc desc) {
    desc.pattern_size;
    desc.size;
};
template <typename Desc>
concept HasFilledBox = requires(Desc desc) {
    desc.color;
    desc.extent;
};
template <typename Desc>
concept HasNamedRange = requires(Desc desc) {
    desc.program;
    desc.offset;
    desc.size;
};

/// Whether a command moves bytes.
template <typename Desc>
inline constexpr bool can_shorten =
    HasRegions<Desc> || HasFilledRange<Desc> || HasFilledBox<Desc> || HasNamedRange<Desc>;

/// The bytes of a region, or the pixels of an image region; modulo 2^64, and then the plugin
/// refuses it.
template <typename Region>
uint64_t volume(const Region &region) noexcept {
    return region.extent[0] * std::max<uint64_t>(region.extent[1], 1) *
           std::max<uint64_t>(region.extent[2], 1);
}

/// As many whole slices, rows or pixels of an image region as `count` pixels cover: only the plugin
/// knows a pixel's size, and so the position of its parts in host memory.
template <typename Extent>
bool cut_extent(Extent &extent, uint64_t count) noexcept {
    uint64_t step = extent[0] * std::max<uint64_t>(extent[1], 1);
    for (int axis = 2; axis >= 0; --axis) {
        if (axis == 1)
            step = extent[0];
        if (axis == 0)
            step = 1;
        if (extent[axis] > 1) {
            extent[axis] = step != 0 ? count / step : 0;
            return extent[axis] != 0;
        }
    }
    return false;
}

template <typename Region>
void append_begin(const Region &region, uint64_t count, std::vector<Region> &out) {
    Region part = region;
    if (cut_extent(part.extent, count))
        out.push_back(part);
}

/// Exactly `count` bytes: whole slices, then whole rows of the next slice, then a part of the next
/// row.
inline void append_begin(const pi_region &region, uint64_t count, std::vector<pi_region> &out) {
    pi_region whole = region;
    const uint64_t row = region.extent[0];
    const uint64_t rows = std::max<uint64_t>(region.extent[1], 1);
    const auto explicit_pitch = [&](uint64_t *pitch) {
        pitch[0] = pitch[0] != 0 ? pitch[0] : row;
        pitch[1] = pitch[1] != 0 ? pitch[1] : pitch[0] * rows;
    };
    explicit_pitch(whole.src_pitch);
    explicit_pitch(whole.dst_pitch);
    const uint64_t full_slices = count / (row * rows);
    const uint64_t full_rows = count % (row * rows) / row;
    const uint64_t rest = count % row;
    const auto append = [&](uint64_t slice, uint64_t first_row, uint64_t x, uint64_t y,
                            uint64_t z) {
        if (x == 0 || y == 0 || z == 0)
            return;
        pi_region part = whole;
        part.src_offset += slice * whole.src_pitch[1] + first_row * whole.src_pitch[0];
        part.dst_offset += slice * whole.dst_pitch[1] + first_row * whole.dst_pitch[0];
        part.extent[0] = x;
        part.extent[1] = y;
        part.extent[2] = z;
        out.push_back(part);
    };
    append(0, 0, row, rows, full_slices);
    append(full_slices, 0, row, full_rows, 1);
    append(full_slices, full_rows, rest, 1, 1);
}

/// The first half of a list of regions.
template <typename Region>
std::vector<Region> first_half(const Region *regions, uint32_t count) {
    uint64_t total = 0;
    for (uint32_t i = 0; i < count; ++i)
        total += volume(regions[i]);
    std::vector<Region> half;
    uint64_t left = total / 2;
    for (uint32_t i = 0; i < count && left != 0; ++i) {
        const uint64_t size = volume(regions[i]);
        if (size > left) {
            append_begin(regions[i], left, half);
            break;
        }
        half.push_back(regions[i]);
        left -= size;
    }
    return half;
}

/// The arrays that a shortened descriptor points to.
template <typename Desc>
struct Halves {};
template <HasRegions Desc>
struct Halves<Desc> {
    std::vector<std::remove_cvref_t<decltype(*Desc::regions)>> regions;
};

/// Makes the command move the first half of its bytes; false if nothing is left.
template <typename Desc>
bool shorten(Desc &desc, Halves<Desc> &halves) {
    if constexpr (HasRegions<Desc>) {
        if (desc.regions == nullptr)
            return desc.region_count != 0; // refused by the plugin
        halves.regions = first_half(desc.regions, desc.region_count);
        desc.regions = halves.regions.data();
        desc.region_count = static_cast<uint32_t>(halves.regions.size());
        return desc.region_count != 0;
    } else if constexpr (HasFilledRange<Desc>) {
        if (desc.pattern_size == 0)
            return true; // refused by the plugin
        desc.size = desc.size / desc.pattern_size / 2 * desc.pattern_size;
        return desc.size != 0;
    } else if constexpr (HasFilledBox<Desc>) {
        return cut_extent(desc.extent, volume(desc) / 2);
    } else {
        static_assert(HasNamedRange<Desc>);
        desc.size /= 2;
        return desc.size != 0;
    }
}

} // namespace pi::loader::fault
