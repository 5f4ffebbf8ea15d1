// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "regions.hpp"

namespace pi::loader::validate {

// Rows ascend, so one pass over both lists of rows decides.
bool overlap(const Rectangle &a, const Rectangle &b) noexcept {
    if (a.end() <= b.offset || b.end() <= a.offset)
        return false;
    for (uint64_t i = 0, j = 0; i < a.all_rows() && j < b.all_rows();) {
        const uint64_t x = a.begin_of(i);
        const uint64_t y = b.begin_of(j);
        if (x < y + b.row && y < x + a.row)
            return true;
        ++(x < y ? i : j);
    }
    return false;
}

bool read_rectangle(Check &check, const Name &element, const End &end, uint64_t offset,
                    const uint64_t (&extent)[3], uint64_t row_pitch, uint64_t slice_pitch,
                    Rectangle &out) noexcept {
    out = {offset, extent[0], extent[1] != 0 ? extent[1] : 1, extent[2] != 0 ? extent[2] : 1, 0, 0};
    if (out.row == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.extent, 0),
                     "is 0; at least 1 is needed");
    out.row_pitch = row_pitch != 0 ? row_pitch : out.row;
    if (out.row_pitch < out.row)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.row_pitch, end.pitch_array ? 0 : -1),
                     "is {}; at least {} (a row), or 0 for dense rows, is needed", row_pitch,
                     out.row);
    uint64_t slice = 0;
    if (__builtin_mul_overflow(out.row_pitch, out.rows, &slice))
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.extent, 1),
                     "is {}; with rows of {} bytes in {} it exceeds 64 bits", out.rows,
                     out.row_pitch, end.memory);
    out.slice_pitch = slice_pitch != 0 ? slice_pitch : slice;
    if (out.slice_pitch < slice)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.slice_pitch, end.pitch_array ? 1 : -1),
                     "is {}; at least {} (a slice), or 0 for dense slices, is needed", slice_pitch,
                     slice);
    // Counts the bytes that the pitches step over; an unused pitch may have any value.
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

void check_within(Check &check, const Name &element, const End &end, const Rectangle &rectangle,
                  uint64_t size) noexcept {
    if (rectangle.end() > size)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.offset),
                     "is {}; the region ends at byte {}, and {} has {} bytes", rectangle.offset,
                     rectangle.end(), end.memory, size);
}

void check_addressable(Check &check, const Name &element, const End &end,
                       const Rectangle &rectangle, const void *begin) noexcept {
    if (rectangle.end() > UINTPTR_MAX - reinterpret_cast<uintptr_t>(begin))
        check.refuse(PI_ERROR_INVALID_SIZE, element.at(end.offset),
                     "is {}; the region ends {} bytes after {} ({}), past the end of the address "
                     "space",
                     rectangle.offset, rectangle.end(), end.memory, begin);
}

void Destinations::add(Check &check, uint32_t index, const Rectangle &rectangle) noexcept {
    for (uint32_t i = 0; i < count_; ++i) {
        if (overlap(seen_[i], rectangle))
            check.refuse(PI_ERROR_INVALID_VALUE, Name{"desc->regions", index},
                         "writes bytes that desc->regions[{}] also writes; the regions of one "
                         "command are done in any order and must not overlap in the destination",
                         i);
    }
    if (count_ < most && count_ == index)
        seen_[count_++] = rectangle;
}

namespace {

// A row without pitches inside both ends, which share no storage, as most regions are.
bool is_plain(const pi_region &region, const RegionEnd &src, const RegionEnd &dst) noexcept {
    const uint64_t bytes = region.extent[0];
    const auto within = [bytes](uint64_t offset, const RegionEnd &end) {
        const uint64_t limit = end.address != nullptr
                                   ? UINTPTR_MAX - reinterpret_cast<uintptr_t>(end.address)
                                   : UINT64_MAX;
        const uint64_t size = end.size < limit ? end.size : limit;
        return offset <= size && bytes <= size - offset;
    };
    return bytes != 0 && region.extent[1] <= 1 && region.extent[2] <= 1 &&
           (region.reserved | region.src_pitch[0] | region.src_pitch[1] | region.dst_pitch[0] |
            region.dst_pitch[1]) == 0 &&
           within(region.src_offset, src) && within(region.dst_offset, dst) &&
           (src.storage == 0 || src.storage != dst.storage);
}

void check_end(Check &check, const Name &element, const RegionEnd &end,
               const Rectangle &rectangle) noexcept {
    if (end.size != UINT64_MAX)
        check_within(check, element, end.names, rectangle, end.size);
    else if (end.address != nullptr)
        check_addressable(check, element, end.names, rectangle, end.address);
}

} // namespace

void check_regions(Check &check, uint32_t count, const pi_region *regions, const RegionEnd &src,
                   const RegionEnd &dst) noexcept {
    if (count == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->region_count"}, "is 0; at least 1 is needed");
    if (check.failed() || !check.array(count, regions, {"desc->regions"}))
        return;
    if (count == 1 && is_plain(regions[0], src, dst))
        return;
    Destinations destinations;
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
        if (check.failed())
            return;
        destinations.add(check, i, to);
        if (src.storage == 0 || src.storage != dst.storage)
            continue;
        from.offset += src.offset;
        to.offset += dst.offset;
        if (overlap(from, to))
            check.refuse(PI_ERROR_MEM_COPY_OVERLAP, element,
                         "copies bytes {} to {} of the storage to its bytes {} to {}; they must "
                         "not overlap",
                         from.offset, from.end() - 1, to.offset, to.end() - 1);
    }
}

} // namespace pi::loader::validate
