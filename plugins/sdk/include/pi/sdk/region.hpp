// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rectangles of bytes (pi_region): checks against sizes, overlap, and rows.
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace pi::sdk {

/// One end of a region with the defaults filled in: at least 1 row and slice, and the real pitches.
struct Rectangle {
    uint64_t offset = 0;
    uint64_t row = 0; ///< bytes
    uint64_t rows = 1;
    uint64_t slices = 1;
    uint64_t row_pitch = 0;
    uint64_t slice_pitch = 0;

    /// The offset behind the last byte that it touches. Only for a checked rectangle.
    uint64_t end() const {
        return offset + (slices - 1) * slice_pitch + (rows - 1) * row_pitch + row;
    }
    uint64_t bytes() const { return row * rows * slices; }
    /// Whether it is a plain range of bytes, without gaps.
    bool dense() const {
        return (rows == 1 || row_pitch == row) && (slices == 1 || slice_pitch == row * rows);
    }
    /// The offset of row `index`, counted through all slices.
    uint64_t row_offset(uint64_t index) const {
        return offset + index / rows * slice_pitch + index % rows * row_pitch;
    }
    /// Whether the slice pitch is a multiple of the row pitch.
    bool slices_are_rows() const { return slices == 1 || slice_pitch % row_pitch == 0; }
    /// The same bytes with slices of one row each turned into rows.
    Rectangle flat() const {
        return rows == 1 ? Rectangle{offset, row, slices, 1, slice_pitch, slice_pitch * slices}
                         : *this;
    }
};

/// Whether a region is a single row.
inline bool is_row(const pi_region &region) {
    return region.extent[1] <= 1 && region.extent[2] <= 1;
}

namespace detail {
inline uint64_t multiply(uint64_t a, uint64_t b, const char *what) {
    uint64_t product;
    if (__builtin_mul_overflow(a, b, &product))
        fail(PI_ERROR_INVALID_SIZE, what, " overflows 64 bits (", a, " x ", b, ")");
    return product;
}
inline uint64_t add(uint64_t a, uint64_t b, const char *what) {
    uint64_t sum;
    if (__builtin_add_overflow(a, b, &sum))
        fail(PI_ERROR_INVALID_SIZE, what, " overflows 64 bits (", a, " + ", b, ")");
    return sum;
}

/// Whether it is a single row without pitches, within both sizes: a shortcut for the most common
/// regions.
inline bool is_plain_row(const pi_region &region, std::optional<uint64_t> src_size,
                         std::optional<uint64_t> dst_size) {
    const uint64_t bytes = region.extent[0];
    const auto within = [bytes](uint64_t offset, std::optional<uint64_t> size) {
        const uint64_t limit = size.value_or(UINT64_MAX);
        return offset <= limit && bytes <= limit - offset;
    };
    return bytes && is_row(region) &&
           !(region.reserved | region.src_pitch[0] | region.src_pitch[1] | region.dst_pitch[0] |
             region.dst_pitch[1]) &&
           within(region.src_offset, src_size) && within(region.dst_offset, dst_size);
}

/// Checks that Rectangle::end() does not overflow. The pitches are at least as large as what they
/// step over, and a slice is smaller than 2^64 bytes. The gap behind the last row is not touched.
inline void check_end(const Rectangle &r, const char *what) {
    const uint64_t last_slice = (r.rows - 1) * r.row_pitch + r.row;
    add(r.offset, add(multiply(r.slices - 1, r.slice_pitch, what), last_slice, what), what);
}

inline Rectangle rectangle(uint64_t offset, const uint64_t (&extent)[3], const uint64_t (&pitch)[2],
                           const char *end) {
    Rectangle r{offset, extent[0], extent[1] ? extent[1] : 1, extent[2] ? extent[2] : 1, 0, 0};
    if (!r.row)
        fail(PI_ERROR_INVALID_SIZE, "a region's extent[0] is 0 bytes; at least 1 is needed");
    r.row_pitch = pitch[0] ? pitch[0] : r.row;
    const uint64_t slice = multiply(r.row_pitch, r.rows, "a region's slice");
    r.slice_pitch = pitch[1] ? pitch[1] : slice;
    if (r.row_pitch < r.row || r.slice_pitch < slice)
        fail(PI_ERROR_INVALID_SIZE, "a region's ", end, " pitches {", r.row_pitch, ", ",
             r.slice_pitch, "} are smaller than its rows {", r.row, ", ", slice, "}");
    check_end(r, "a region");
    // The pitch of a single slice may be anything; backends do not get pitches that no memory has.
    if (r.slices == 1)
        r.slice_pitch = slice;
    return r;
}
} // namespace detail

/// The source or the destination end of a region.
inline Rectangle source(const pi_region &region) {
    return detail::rectangle(region.src_offset, region.extent, region.src_pitch, "source");
}
inline Rectangle destination(const pi_region &region) {
    return detail::rectangle(region.dst_offset, region.extent, region.dst_pitch, "destination");
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

/// PI_ERROR_INVALID_SIZE unless the rectangle ends within `size` bytes. `what` names the memory.
inline void check_within(const Rectangle &rectangle, uint64_t size, const char *what) {
    if (rectangle.end() > size)
        fail(PI_ERROR_INVALID_SIZE, "a region of bytes ", rectangle.offset, " to ", rectangle.end(),
             " goes past the end of ", what, ", which has ", size);
}
/// As check_within, for a plain range, which must not be empty.
inline void check_range(uint64_t offset, uint64_t size, uint64_t limit, const ArgumentName &what) {
    if (!size)
        fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
    if (offset > limit || size > limit - offset)
        fail(PI_ERROR_INVALID_SIZE, "the range of ", size, " bytes from ", offset,
             " goes past the end of ", what, ", which has ", limit);
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

/// Copies a command's regions; checks count, reserved words and both ends. The size nullopt is for
/// a host pointer, whose end is not known.
inline Regions read_regions(uint32_t count, const pi_region *regions,
                            std::optional<uint64_t> src_size, std::optional<uint64_t> dst_size) {
    if (count == 1 && regions && detail::is_plain_row(*regions, src_size, dst_size))
        return Regions({regions, 1});
    if (!count)
        fail(PI_ERROR_INVALID_SIZE, "region_count is 0; at least 1 is needed");
    const auto given = read_array(count, regions, "regions");
    for (const pi_region &region : given) {
        if (region.reserved)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "a region's reserved word is ", region.reserved,
                 "; it must be 0");
        const Rectangle from = source(region), to = destination(region);
        if (src_size)
            check_within(from, *src_size, "the source");
        if (dst_size)
            check_within(to, *dst_size, "the destination");
    }
    return Regions(given);
}

namespace detail {
/// For rectangles of one slice.
inline bool rows_overlap(const Rectangle &a, const Rectangle &b) {
    const Rectangle &low = a.offset <= b.offset ? a : b, &high = a.offset <= b.offset ? b : a;
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
    uint64_t x = low.offset, y = high.offset;
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

/// Whether the two rectangles, in one storage, share a byte.
inline bool overlap(const Rectangle &a, const Rectangle &b) {
    if (a.end() <= b.offset || b.end() <= a.offset)
        return false;
    // Slices ascend: one pass over both lists meets each pair that may overlap.
    Rectangle x = a.flat(), y = b.flat();
    uint64_t i = std::exchange(x.slices, 1), j = std::exchange(y.slices, 1);
    while (i && j) {
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

/// PI_ERROR_MEM_COPY_OVERLAP if a region's source shares a byte with its destination. Compares
/// addresses, which covers views of one storage and several imports of one host pointer.
inline void check_overlap(std::span<const pi_region> regions, const void *src, const void *dst) {
    const auto at = [](const void *begin, Rectangle rectangle) {
        rectangle.offset += reinterpret_cast<uintptr_t>(begin);
        return rectangle;
    };
    for (const pi_region &region : regions) {
        const Rectangle from = source(region), to = destination(region);
        if (overlap(at(src, from), at(dst, to)))
            fail(PI_ERROR_MEM_COPY_OVERLAP, "a region's source, bytes ", from.offset, " to ",
                 from.end(), " of src, and its destination, bytes ", to.offset, " to ", to.end(),
                 " of dst, share storage and overlap");
    }
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

/// Checks a map's flags: PI_ERROR_UNSUPPORTED_FEATURE for unknown ones, PI_ERROR_INVALID_VALUE
/// without any PI_MAP_ flag.
inline void check_map_flags(uint64_t flags) {
    constexpr uint64_t modes = PI_MAP_READ | PI_MAP_WRITE | PI_MAP_WRITE_DISCARD;
    check_flags(flags, PI_COMMAND_BLOCKING | modes, "flags");
    if (!(flags & modes))
        fail(PI_ERROR_INVALID_VALUE, "flags has none of PI_MAP_READ, PI_MAP_WRITE and "
                                     "PI_MAP_WRITE_DISCARD; at least one is needed");
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
    if (!pattern_size || pattern_size > 128 || (pattern_size & (pattern_size - 1)))
        fail(PI_ERROR_INVALID_SIZE, "pattern_size is ", pattern_size,
             "; a power of two from 1 to 128 is needed");
    if (offset % pattern_size || size % pattern_size)
        fail(PI_ERROR_INVALID_SIZE, "offset ", offset, " and size ", size,
             " must be multiples of pattern_size, ", pattern_size);
    const auto *begin = static_cast<const std::byte *>(require(pattern, "pattern"));
    return {begin, begin + pattern_size};
}

} // namespace pi::sdk
