// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of a memory object's bytes: contiguous, or in the rows of an n-D allocation.
#pragma once

#include <pi/describe/checks/memory.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace pi::sdk {

/// The layout in storage of a buffer's logical bytes, which are dense and row-major. The
/// descriptor's axis separators divide the logical axes into groups. Each group is one physical
/// axis; the innermost one is a row. Every row begins at a multiple of row_alignment bytes from the
/// storage's start. In flat memory, which has no rows, logical and physical bytes are the same.
class Layout {
public:
    /// A cache line: rows of different threads share none.
    static constexpr uint64_t row_alignment = 64;

    /// Flat.
    Layout() = default;
    /// The layout of a descriptor. PI_ERROR_INVALID_VALUE for an impossible rank or separators,
    /// PI_ERROR_INVALID_SIZE for an element or extent of 0, or if all elements together are not
    /// `size` bytes.
    Layout(const pi_mem_layout_desc &desc, uint64_t size);

    bool flat() const { return row_ == 0; }
    /// Logical bytes of a row; 0: flat.
    uint64_t row() const { return row_; }
    /// Sets the distance of rows in bytes, at least row(); for drivers that choose it.
    void set_row_pitch(uint64_t pitch);
    /// The bytes of storage for this many logical bytes: whole rows.
    uint64_t physical_size(uint64_t logical) const { return flat() ? logical : at(logical); }
    /// The physical offset of a logical byte.
    uint64_t at(uint64_t logical) const {
        return flat() ? logical : logical / row_ * pitch_ + logical % row_;
    }
    /// The number of contiguous bytes from this one on.
    uint64_t run(uint64_t logical) const { return flat() ? UINT64_MAX : row_ - logical % row_; }
    /// PI_MEM_INFO_PITCHES: the distance in bytes of two indices of each physical axis, outermost
    /// first. Without a layout the only axis is that of bytes.
    std::vector<uint64_t> pitches() const {
        return pitches_.empty() ? std::vector<uint64_t>{1} : pitches_;
    }

private:
    uint64_t row_ = 0; ///< logical bytes of a row; 0: flat
    uint64_t pitch_ = 0;
    std::vector<uint64_t> pitches_; ///< empty: flat
};

/// Logical bytes of a storage from an offset on, and their physical offsets. Refers to the layout;
/// NULL: flat.
class LogicalRange {
public:
    LogicalRange() = default;
    LogicalRange(uint64_t offset, const Layout *layout) : offset_(offset), layout_(layout) {}

    uint64_t at(uint64_t offset) const {
        return layout_ ? layout_->at(offset_ + offset) - layout_->at(offset_) : offset;
    }
    uint64_t run(uint64_t offset) const {
        return layout_ ? layout_->run(offset_ + offset) : UINT64_MAX;
    }
    bool flat() const { return !layout_ || layout_->flat(); }

private:
    uint64_t offset_ = 0;
    const Layout *layout_ = nullptr;
};

/// Memory in logical order from a byte on. Refers to the memory and the layout, without owning
/// them.
class LogicalBytes {
public:
    /// Plain memory.
    LogicalBytes(
        const void *begin) // NOLINT(google-explicit-constructor): plain memory is the usual case
        : LogicalBytes(static_cast<std::byte *>(const_cast<void *>(begin)), 0, nullptr) {}
    /// Begins `offset` logical bytes into storage at `storage` of this layout; NULL: flat.
    LogicalBytes(std::byte *storage, uint64_t offset, const Layout *layout)
        : storage_(storage), offset_(offset), layout_(layout) {}

    std::byte *at(uint64_t offset) const {
        offset += offset_;
        return storage_ + (layout_ ? layout_->at(offset) : offset);
    }
    uint64_t run(uint64_t offset) const {
        return layout_ ? layout_->run(offset + offset_) : UINT64_MAX;
    }
    /// A stand-in for the first byte's address, to look for overlaps: the same for the same logical
    /// byte in views of one storage. Not for access.
    const void *identity() const { return storage_ + offset_; }

private:
    std::byte *storage_;
    uint64_t offset_;
    const Layout *layout_;
};

namespace detail {

/// The logical axis behind each physical one: the separators, then the rank.
inline std::vector<uint32_t> physical_ends(const pi_mem_layout_desc &desc) {
    std::vector<uint32_t> ends(desc.axis_separators,
                               desc.axis_separators + desc.axis_separator_count);
    ends.push_back(desc.rank);
    return ends;
}

} // namespace detail

inline Layout::Layout(const pi_mem_layout_desc &desc, uint64_t size) {
    enforce<checks::check_layout>(desc, size);
    const auto *extents = desc.extents;
    const std::vector<uint32_t> ends = detail::physical_ends(desc);

    // From the innermost physical axis outwards. Products overflow only if the whole size does.
    pitches_.resize(ends.size());
    uint64_t pitch = desc.element_size;
    for (std::size_t axis = ends.size(); axis-- > 0;) {
        pitches_[axis] = pitch;
        for (uint32_t inner = axis ? ends[axis - 1] : 0; inner < ends[axis]; ++inner)
            if (__builtin_mul_overflow(pitch, extents[inner], &pitch))
                fail(PI_ERROR_INVALID_SIZE, "size is ", size,
                     " bytes: with rows that begin at multiples of ", row_alignment,
                     " they cannot be counted in 64 bits");
        if (axis + 1 < ends.size() || ends.size() == 1)
            continue;
        row_ = pitch;
        if (__builtin_add_overflow(pitch, row_alignment - 1, &pitch))
            fail(PI_ERROR_INVALID_SIZE, "size is ", size, " bytes: a row of ", row_,
                 " is too long to be aligned");
        pitch_ = pitch = pitch / row_alignment * row_alignment;
    }
}

inline void Layout::set_row_pitch(uint64_t pitch) {
    // All but the innermost are multiples of the old pitch.
    for (std::size_t axis = 0; axis + 1 < pitches_.size(); ++axis)
        pitches_[axis] = pitches_[axis] / pitch_ * pitch;
    pitch_ = pitch;
}

/// Converts regions of logical bytes to physical regions, for drivers with rows and pitches but
/// without layouts. Contiguous pieces at equal distances at both ends become one region of several
/// rows. With `split` nothing is merged: each row becomes at least one region of its own.
inline Regions physical_regions(Regions regions, const LogicalRange &src, const LogicalRange &dst,
                                bool split = false) {
    if (src.flat() && dst.flat())
        return regions;
    std::vector<pi_region> physical;
    std::size_t first = 0; // of the region
    const auto add = [&](uint64_t from, uint64_t to, uint64_t bytes) {
        if (!split && physical.size() > first && physical.back().extent[0] == bytes) {
            pi_region &last = physical.back();
            const uint64_t rows = last.extent[1];
            const uint64_t behind[2] = {from - last.src_offset, to - last.dst_offset};
            if (rows == 1) {
                last.src_pitch[0] = behind[0];
                last.dst_pitch[0] = behind[1];
            }
            if (behind[0] == last.src_pitch[0] * rows && behind[1] == last.dst_pitch[0] * rows) {
                ++last.extent[1];
                return;
            }
        }
        physical.push_back({from, to, {bytes, 1, 1}, {bytes, 0}, {bytes, 0}, 0});
    };
    const auto add_runs = [&](uint64_t from, uint64_t to, uint64_t bytes) {
        while (bytes) {
            const uint64_t step = std::min({bytes, src.run(from), dst.run(to)});
            add(src.at(from), dst.at(to), step);
            from += step;
            to += step;
            bytes -= step;
        }
    };
    for (const pi_region &region : regions) {
        first = physical.size();
        if (!split) {
            for_each_piece(region, add_runs);
            continue;
        }
        const Rectangle from = source(region), to = destination(region);
        for (uint64_t row = 0; row < from.rows * from.slices; ++row)
            add_runs(from.row_offset(row), to.row_offset(row), from.row);
    }
    return Regions(std::move(physical));
}

/// Copies. The ranges may be identical, but must not overlap otherwise.
inline void copy_bytes(const LogicalBytes &src, uint64_t from, const LogicalBytes &dst, uint64_t to,
                       uint64_t size) {
    while (size) {
        const uint64_t step = std::min({size, src.run(from), dst.run(to)});
        // Not memcpy: a read's host pointer may be the memory itself.
        std::memmove(dst.at(to), src.at(from), step);
        from += step;
        to += step;
        size -= step;
    }
}

/// Repeats `pattern` over `size` bytes, a multiple of the pattern's size.
inline void fill_bytes(const LogicalBytes &dst, uint64_t offset, uint64_t size,
                       std::span<const std::byte> pattern) {
    if (dst.run(offset) >= size)
        return fill_bytes(static_cast<void *>(dst.at(offset)), size, pattern);
    // A pattern may cross the end of a row: build a strip of patterns and copy it.
    constexpr uint64_t cached = uint64_t{64} * 1024; // a multiple of every pattern's size
    std::vector<std::byte> strip(std::min(size, cached));
    fill_bytes(strip.data(), strip.size(), pattern);
    for (uint64_t done = 0; done < size;) {
        const uint64_t step = std::min<uint64_t>(size - done, strip.size());
        copy_bytes(strip.data(), 0, dst, offset + done, step);
        done += step;
    }
}

/// Source and destination of a region may be the same bytes: a buffer that is read into the memory
/// that it was imported from.
inline void copy_regions(std::span<const pi_region> regions, const LogicalBytes &src,
                         const LogicalBytes &dst) {
    for (const pi_region &region : regions)
        for_each_piece(region, [&](uint64_t from, uint64_t to, uint64_t bytes) {
            copy_bytes(src, from, dst, to, bytes);
        });
}

} // namespace pi::sdk
