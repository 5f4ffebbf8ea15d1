// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rectangles of bytes: the ends of a region (pi_region), their checks against sizes, and overlap.
#pragma once

#include <pi/describe/checks/check.hpp>

#include <utility>

namespace pi::checks {

/// One end of a region with the defaults filled in: at least 1 row and slice, and the real pitches.
struct Rectangle {
    uint64_t offset = 0;
    uint64_t row = 0; ///< bytes
    uint64_t rows = 1;
    uint64_t slices = 1;
    uint64_t row_pitch = 0;
    uint64_t slice_pitch = 0;

    /// The offset behind the last byte that it touches. Only for a checked rectangle.
    uint64_t end() const noexcept {
        return offset + (slices - 1) * slice_pitch + (rows - 1) * row_pitch + row;
    }
    uint64_t bytes() const noexcept { return row * rows * slices; }
    /// Whether it is a plain range of bytes, without gaps.
    bool dense() const noexcept {
        return (rows == 1 || row_pitch == row) && (slices == 1 || slice_pitch == row * rows);
    }
    /// The offset of row `index`, counted through all slices.
    uint64_t row_offset(uint64_t index) const noexcept {
        return offset + index / rows * slice_pitch + index % rows * row_pitch;
    }
    /// Whether the slice pitch is a multiple of the row pitch.
    bool slices_are_rows() const noexcept { return slices == 1 || slice_pitch % row_pitch == 0; }
    /// The same bytes with slices of one row each turned into rows.
    Rectangle flat() const noexcept {
        return rows == 1 ? Rectangle{offset, row, slices, 1, slice_pitch, slice_pitch * slices}
                         : *this;
    }
};

constexpr Rectangle range_of(uint64_t offset, uint64_t size) noexcept {
    return {offset, size, 1, 1, size, size};
}

/// The rectangle of an end; its pitches and sizes may be wrong. `extent`: bytes, rows, slices.
constexpr Rectangle rectangle_of(uint64_t offset, const uint64_t (&extent)[3], uint64_t row_pitch,
                                 uint64_t slice_pitch) noexcept {
    Rectangle r{offset, extent[0], extent[1] != 0 ? extent[1] : 1, extent[2] != 0 ? extent[2] : 1};
    r.row_pitch = row_pitch != 0 ? row_pitch : r.row;
    // The pitch of a single slice may be anything; backends do not get pitches that no memory has.
    r.slice_pitch = slice_pitch != 0 && r.slices != 1 ? slice_pitch : r.row_pitch * r.rows;
    return r;
}
constexpr Rectangle source_of(const pi_region &region) noexcept {
    return rectangle_of(region.src_offset, region.extent, region.src_pitch[0], region.src_pitch[1]);
}
constexpr Rectangle destination_of(const pi_region &region) noexcept {
    return rectangle_of(region.dst_offset, region.extent, region.dst_pitch[0], region.dst_pitch[1]);
}

namespace detail {
/// For rectangles of one slice.
inline bool rows_overlap(const Rectangle &a, const Rectangle &b) noexcept {
    const Rectangle &low = a.offset <= b.offset ? a : b;
    const Rectangle &high = a.offset <= b.offset ? b : a;
    if (low.end() <= high.offset)
        return false;
    const uint64_t apart = high.offset - low.offset;
    if (apart < low.row)
        return true;
    // Where both have the same pitch, the first row of `low` that ends behind the start of `high`
    // decides.
    if (high.rows == 1 || low.row_pitch == high.row_pitch) {
        const uint64_t row = (apart - low.row) / low.row_pitch + 1;
        return row < low.rows && row * low.row_pitch < apart + high.row;
    }
    uint64_t x = low.offset;
    uint64_t y = high.offset;
    for (uint64_t i = 0, j = 0; i < low.rows && j < high.rows;) {
        if (x < y + high.row && y < x + low.row)
            return true;
        if (x < y) {
            x += low.row_pitch;
            ++i;
        } else {
            y += high.row_pitch;
            ++j;
        }
    }
    return false;
}
} // namespace detail

/// Whether two checked rectangles, in one storage, share a byte.
inline bool overlap(const Rectangle &a, const Rectangle &b) noexcept {
    if (a.end() <= b.offset || b.end() <= a.offset)
        return false;
    // Slices ascend: one pass over both lists meets each pair that may overlap.
    Rectangle x = a.flat();
    Rectangle y = b.flat();
    uint64_t i = std::exchange(x.slices, 1);
    uint64_t j = std::exchange(y.slices, 1);
    while (i != 0 && j != 0) {
        if (detail::rows_overlap(x, y))
            return true;
        if (x.end() < y.end()) {
            x.offset += x.slice_pitch;
            --i;
        } else {
            y.offset += y.slice_pitch;
            --j;
        }
    }
    return false;
}

/// The names of an end's members, and the memory that contains it.
struct End {
    const char *offset;      ///< the member: "src_offset"
    const char *row_pitch;   ///< "src_pitch"
    const char *slice_pitch; ///< the same, if pitches are an array
    bool pitch_array;
    const char *memory; ///< the argument: "desc->src"
    const char *extent = "extent";
};
constexpr End src_end(const char *memory) noexcept {
    return {"src_offset", "src_pitch", "src_pitch", true, memory};
}
constexpr End dst_end(const char *memory) noexcept {
    return {"dst_offset", "dst_pitch", "dst_pitch", true, memory};
}

/// Fills in the defaults of an end, and refuses wrong pitches and sizes above 64 bits. False if it
/// is refused.
inline bool read_rectangle(Check &check, const Name &element, const End &end, uint64_t offset,
                           const uint64_t (&extent)[3], uint64_t row_pitch, uint64_t slice_pitch,
                           Rectangle &out) noexcept {
    out = rectangle_of(offset, extent, row_pitch, slice_pitch);
    if (out.row == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.extent, 0),
                     "is 0 bytes; at least 1 is needed");
    if (out.row_pitch < out.row)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.row_pitch, end.pitch_array ? 0 : -1),
                     "is {}; at least {} (a row), or 0 for dense rows, is needed", row_pitch,
                     out.row);
    uint64_t slice = 0;
    if (__builtin_mul_overflow(out.row_pitch, out.rows, &slice))
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.extent, 1),
                     "is {}; with rows of {} bytes in {} it exceeds 64 bits", out.rows,
                     out.row_pitch, end.memory);
    if (slice_pitch != 0 && slice_pitch < slice)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.slice_pitch, end.pitch_array ? 1 : -1),
                     "is {}; at least {} (a slice), or 0 for dense slices, is needed", slice_pitch,
                     slice);
    // The gap behind the last row is not touched.
    const uint64_t last_slice = (out.rows - 1) * out.row_pitch + out.row;
    uint64_t all = 0;
    if (__builtin_mul_overflow(out.slice_pitch, out.slices - 1, &all) ||
        __builtin_add_overflow(all, last_slice, &all))
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.extent, 2),
                     "is {}; with slices of {} bytes in {} it exceeds 64 bits", out.slices,
                     out.slice_pitch, end.memory);
    if (__builtin_add_overflow(offset, all, &all))
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.offset),
                     "is {}; with the region's bytes it exceeds 64 bits", offset);
    return !check.failed();
}

/// PI_ERROR_INVALID_SIZE unless it ends within `size` bytes.
inline void check_within(Check &check, const Name &element, const End &end,
                         const Rectangle &rectangle, uint64_t size) noexcept {
    if (rectangle.end() > size)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.offset),
                     "is {}; the region ends at byte {}, and {} has {} bytes", rectangle.offset,
                     rectangle.end(), end.memory, size);
}
/// The same for memory at an address, which ends with the address space.
inline void check_addressable(Check &check, const Name &element, const End &end,
                              const Rectangle &rectangle, const void *begin) noexcept {
    if (rectangle.end() > UINTPTR_MAX - reinterpret_cast<uintptr_t>(begin))
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.offset),
                     "is {}; the region ends {} bytes after {} ({}), past the end of the address "
                     "space",
                     rectangle.offset, rectangle.end(), end.memory, begin);
}

/// The memory of one end of a command's regions.
struct RegionEnd {
    End names;
    const void *address = nullptr; ///< of plain memory; nullptr: only the size is known
    uint64_t size = UINT64_MAX;    ///< UINT64_MAX: unknown

    uint64_t limit() const noexcept {
        const uint64_t addressable =
            address != nullptr ? UINTPTR_MAX - reinterpret_cast<uintptr_t>(address) : UINT64_MAX;
        return size < addressable ? size : addressable;
    }
};

inline void check_end(Check &check, const Name &element, const RegionEnd &end,
                      const Rectangle &rectangle) noexcept {
    if (end.size != UINT64_MAX)
        check_within(check, element, end.names, rectangle, end.size);
    if (end.address != nullptr)
        check_addressable(check, element, end.names, rectangle, end.address);
}

/// Whether it is a single row without pitches within both ends: the most common region, which needs
/// no further check.
inline bool is_plain_row(const pi_region &region, uint64_t src_limit, uint64_t dst_limit) noexcept {
    const uint64_t bytes = region.extent[0];
    const auto within = [bytes](uint64_t offset, uint64_t limit) {
        return offset <= limit && bytes <= limit - offset;
    };
    return bytes != 0 && region.extent[1] <= 1 && region.extent[2] <= 1 &&
           (region.reserved | region.src_pitch[0] | region.src_pitch[1] | region.dst_pitch[0] |
            region.dst_pitch[1]) == 0 &&
           within(region.src_offset, src_limit) && within(region.dst_offset, dst_limit);
}

/// PI_ERROR_INVALID_SIZE without regions. False if it is refused.
inline bool some_regions(Check &check, uint32_t count, const void *regions) noexcept {
    if (count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->region_count"}, "is 0; at least 1 is needed");
    return !check.failed() && check.array(count, regions, {"desc->regions"});
}

/// Checks regions of bytes: count, members and both ends; then calls `each(index, from, to)`.
template <typename Each>
void check_regions(Check &check, uint32_t count, const pi_region *regions, const RegionEnd &src,
                   const RegionEnd &dst, Each &&each) noexcept {
    if (!some_regions(check, count, regions))
        return;
    for (uint32_t i = 0; i < count && !check.failed(); ++i) {
        const pi_region &region = regions[i];
        const Name element{"desc->regions", i};
        check.reserved(region.reserved, element.at("reserved"));
        Rectangle from;
        Rectangle to;
        if (!read_rectangle(check, element, src.names, region.src_offset, region.extent,
                            region.src_pitch[0], region.src_pitch[1], from) ||
            !read_rectangle(check, element, dst.names, region.dst_offset, region.extent,
                            region.dst_pitch[0], region.dst_pitch[1], to))
            return;
        check_end(check, element, src, from);
        check_end(check, element, dst, to);
        if (!check.failed())
            each(i, from, to);
    }
}

inline void check_regions(Check &check, uint32_t count, const pi_region *regions,
                          const RegionEnd &src, const RegionEnd &dst) noexcept {
    check_regions(check, count, regions, src, dst,
                  [](uint32_t, const Rectangle &, const Rectangle &) {});
}

/// PI_ERROR_MEM_COPY_OVERLAP if two ends share a byte, which are counted from one storage's begin.
inline void check_overlap(Check &check, const Name &element, const Rectangle &from,
                          const Rectangle &to) noexcept {
    if (overlap(from, to))
        check.refuse(PI_ERROR_MEM_COPY_OVERLAP, element,
                     "copies bytes {} to {} of the storage to its bytes {} to {}; they must not "
                     "overlap",
                     from.offset, from.end() - 1, to.offset, to.end() - 1);
}

inline void check_pattern(Check &check, const void *pattern, uint64_t pattern_size, uint64_t offset,
                          uint64_t size) noexcept {
    constexpr uint64_t most = 128;
    if (pattern_size == 0 || pattern_size > most || (pattern_size & (pattern_size - 1)) != 0) {
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->pattern_size"},
                     "is {}; a power of two from 1 to {} is needed", pattern_size, most);
        return;
    }
    if (offset % pattern_size != 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->offset"},
                     "is {}; a multiple of pattern_size, {}, is needed", offset, pattern_size);
    if (size % pattern_size != 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->size"},
                     "is {}; a multiple of pattern_size, {}, is needed", size, pattern_size);
    check.not_null(pattern, {"desc->pattern"});
}

inline constexpr uint64_t map_modes = PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD;

inline void check_map_modes(Check &check, uint64_t flags) noexcept {
    if ((flags & map_modes) == 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->flags"},
                     "is {}; at least one of PI_MAP_READ, PI_MAP_WRITE and PI_MAP_WRITE_DISCARD is "
                     "needed",
                     Hex{flags});
}

} // namespace pi::checks
