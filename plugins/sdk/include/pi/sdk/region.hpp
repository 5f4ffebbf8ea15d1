// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rectangles of bytes (pi_region): checks against sizes, overlap, and rows.
#pragma once

#include <pi/describe/checks/region.hpp>
#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pi::sdk {

using checks::overlap;
using checks::Rectangle;

/// Whether a region is a single row.
inline bool is_row(const pi_region &region) {
    return region.extent[1] <= 1 && region.extent[2] <= 1;
}

/// The source or the destination end of a checked region.
inline Rectangle source(const pi_region &region) {
    return checks::source_of(region);
}
inline Rectangle destination(const pi_region &region) {
    return checks::destination_of(region);
}

/// The region of two checked rectangles with equal rows and slices.
inline pi_region region_of(const Rectangle &src, const Rectangle &dst) {
    return {src.offset,
            dst.offset,
            {src.row, src.rows, src.slices},
            {src.row_pitch, src.slice_pitch},
            {dst.row_pitch, dst.slice_pitch},
            0};
}

/// PI_ERROR_INVALID_SIZE unless a plain range, which must not be empty, ends within the `limit`
/// bytes of the memory that `what` names.
inline void check_range(uint64_t offset, uint64_t size, uint64_t limit, const ArgumentName &what) {
    enforce(
        [&](checks::Check &check) { check.range(offset, size, limit, "offset", "size", what); });
}

/// A copy of a command's regions. A single one, the common case, needs no allocation.
class Regions {
public:
    explicit Regions(std::span<const pi_region> given) : count_(given.size()) {
        if (count_ == 1)
            one_ = given[0];
        else
            several_.assign(given.begin(), given.end());
    }
    explicit Regions(std::vector<pi_region> &&given)
        : count_(given.size()), several_(std::move(given)) {
        if (count_ == 1)
            one_ = several_[0];
    }
    const pi_region *data() const { return count_ == 1 ? &one_ : several_.data(); }
    size_t size() const { return count_; }
    const pi_region *begin() const { return data(); }
    const pi_region *end() const { return data() + count_; }

private:
    size_t count_;
    pi_region one_;
    std::vector<pi_region> several_;
};

/// A single region of one row.
inline Regions range_regions(uint64_t src_offset, uint64_t dst_offset, uint64_t size) {
    pi_region region{};
    region.src_offset = src_offset;
    region.dst_offset = dst_offset;
    region.extent[0] = size;
    return Regions({&region, 1});
}

/// Copies a command's regions; checks count, reserved words and both ends.
inline Regions read_regions(uint32_t count, const pi_region *regions, const checks::RegionEnd &src,
                            const checks::RegionEnd &dst) {
    if (count != 1 || !regions || !checks::is_plain_row(*regions, src.limit(), dst.limit()))
        enforce(
            [&](checks::Check &check) { checks::check_regions(check, count, regions, src, dst); });
    return Regions({regions, count});
}
/// The size nullopt is for a host pointer, whose end is not known.
inline Regions read_regions(uint32_t count, const pi_region *regions,
                            std::optional<uint64_t> src_size, std::optional<uint64_t> dst_size) {
    return read_regions(
        count, regions, {checks::src_end("the source"), nullptr, src_size.value_or(UINT64_MAX)},
        {checks::dst_end("the destination"), nullptr, dst_size.value_or(UINT64_MAX)});
}

/// PI_ERROR_MEM_COPY_OVERLAP if a region's source shares a byte with its destination. Compares
/// addresses, which covers views of one storage and several imports of one host pointer.
inline void check_overlap(std::span<const pi_region> regions, const void *src, const void *dst) {
    const auto at = [](const void *begin, Rectangle rectangle) {
        rectangle.offset += reinterpret_cast<uintptr_t>(begin);
        return rectangle;
    };
    enforce([&](checks::Check &check) {
        for (size_t i = 0; i < regions.size() && !check.failed(); ++i)
            checks::check_overlap(check, {"desc->regions", i}, at(src, source(regions[i])),
                                  at(dst, destination(regions[i])));
    });
}

/// Calls `copy(src_offset, dst_offset, bytes)` for each contiguous piece of a region: once if both
/// ends are dense, else for each row.
template <class Copy>
void for_each_piece(const pi_region &region, Copy &&copy) {
    if (is_row(region))
        return copy(region.src_offset, region.dst_offset, region.extent[0]);
    const Rectangle from = source(region), to = destination(region);
    if (from.dense() && to.dense())
        return copy(from.offset, to.offset, from.bytes());
    for (uint64_t i = 0; i < from.rows * from.slices; ++i)
        copy(from.row_offset(i), to.row_offset(i), from.row);
}

/// Splits two rectangles with equal rows for backends that copy such a part by one call, but not
/// the whole, and calls `copy(from, to)` for each part: each slice; or, if there are fewer rows
/// than slices, each row of all slices. In the latter case a part's row pitch is the slice pitch,
/// which must be at most `max_pitch` at both ends.
template <class Copy>
void for_each_grid(const Rectangle &from, const Rectangle &to, uint64_t max_pitch, Copy &&copy) {
    const auto row_of = [](const Rectangle &of, uint64_t row) {
        return Rectangle{of.row_offset(row), of.row, 1, of.slices, of.slice_pitch, of.slice_pitch};
    };
    const auto slice_of = [](const Rectangle &of, uint64_t slice) {
        return Rectangle{of.row_offset(slice * of.rows), of.row, of.rows, 1, of.row_pitch,
                         of.row_pitch * of.rows};
    };
    if (from.rows < from.slices && std::max(from.slice_pitch, to.slice_pitch) <= max_pitch)
        for (uint64_t row = 0; row < from.rows; ++row)
            copy(row_of(from, row), row_of(to, row));
    else
        for (uint64_t slice = 0; slice < from.slices; ++slice)
            copy(slice_of(from, slice), slice_of(to, slice));
}

/// The limits of a part of a copy that goes through blocks of memory.
struct PartLimits {
    uint64_t bytes;      ///< the size of a block
    uint64_t longest;    ///< the longest row, at most `bytes`
    bool ranges = true;  ///< whether contiguous rows may be split anywhere; not for images
    bool slices = false; ///< whether a part may have several slices
};

/// Calls `visit(from, to)` for the parts of two rectangles with equal rows, in order. A part is as
/// many whole slices as fit in a block, if parts may have several; or as many whole rows of a
/// slice; or a piece of a row that is too long.
template <class Visit>
void for_each_part(const Rectangle &from, const Rectangle &to, const PartLimits &limits,
                   Visit &&visit) {
    const auto range = [&](uint64_t in, uint64_t out, uint64_t bytes) {
        for (uint64_t done = 0; done < bytes; done += limits.longest) {
            const uint64_t step = std::min(bytes - done, limits.longest);
            visit(Rectangle{in + done, step, 1, 1, step, step},
                  Rectangle{out + done, step, 1, 1, step, step});
        }
    };
    if (limits.ranges && from.dense() && to.dense())
        return range(from.offset, to.offset, from.bytes());
    const uint64_t together = from.row <= limits.longest ? limits.bytes / from.row : 0;
    if (limits.slices && together >= from.rows) {
        const uint64_t most = limits.bytes / (from.row * from.rows);
        for (uint64_t slice = 0; slice < from.slices; slice += most) {
            Rectangle in = from, out = to;
            in.offset += slice * from.slice_pitch;
            out.offset += slice * to.slice_pitch;
            in.slices = out.slices = std::min(most, from.slices - slice);
            visit(in, out);
        }
        return;
    }
    for (uint64_t slice = 0; slice < from.slices; ++slice)
        for (uint64_t row = 0; row < from.rows; row += std::max<uint64_t>(together, 1)) {
            const uint64_t in = from.row_offset(slice * from.rows + row);
            const uint64_t out = to.row_offset(slice * to.rows + row);
            if (!together) {
                range(in, out, from.row);
                continue;
            }
            const uint64_t rows = std::min(together, from.rows - row);
            visit(Rectangle{in, from.row, rows, 1, from.row_pitch, from.row_pitch * rows},
                  Rectangle{out, to.row, rows, 1, to.row_pitch, to.row_pitch * rows});
        }
}

/// Copies the regions between two host-addressable memories.
inline void copy_regions(std::span<const pi_region> regions, const void *src, void *dst) {
    for (const pi_region &region : regions)
        for_each_piece(region, [&](uint64_t from, uint64_t to, uint64_t bytes) {
            std::memcpy(static_cast<std::byte *>(dst) + to,
                        static_cast<const std::byte *>(src) + from, bytes);
        });
}

/// Repeats `pattern` over `size` bytes, a multiple of the pattern's size.
inline void fill_bytes(void *dst, uint64_t size, std::span<const std::byte> pattern) {
    auto *begin = static_cast<std::byte *>(dst);
    if (pattern.size() == 1) {
        std::memset(begin, std::to_integer<int>(pattern[0]), size);
        return;
    }
    std::memcpy(begin, pattern.data(), pattern.size());
    // Each pass copies all that is written so far, up to a size that stays in the second-level
    // cache.
    constexpr uint64_t cached = uint64_t{128} * 1024;
    for (uint64_t done = pattern.size(); done < size;) {
        const uint64_t step = std::min({done, size - done, cached});
        std::memcpy(begin + done, begin, step);
        done += step;
    }
}

/// PI_ERROR_INVALID_VALUE for flags of a map without any PI_MAP_ flag.
inline void check_map_flags(uint64_t flags) {
    enforce<checks::check_map_modes>(flags);
}
/// Whether a map copies the memory's bytes to the host, or its unmap the host's bytes back.
constexpr bool map_reads(uint64_t flags) {
    return flags & PI_MAP_READ || !(flags & PI_MAP_WRITE_DISCARD);
}
constexpr bool map_writes(uint64_t flags) {
    return flags & (PI_MAP_WRITE | PI_MAP_WRITE_DISCARD);
}

/// Copies a fill's pattern; checks its size, and that offset and size are multiples of it.
inline std::vector<std::byte> read_pattern(const void *pattern, uint64_t pattern_size,
                                           uint64_t offset, uint64_t size) {
    enforce<checks::check_pattern>(pattern, pattern_size, offset, size);
    const auto *begin = static_cast<const std::byte *>(pattern);
    return {begin, begin + pattern_size};
}

} // namespace pi::sdk
