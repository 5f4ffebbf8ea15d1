// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "layout.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/region.hpp>

#include <algorithm>
#include <cstring>

namespace pi::host {

using sdk::fail;

namespace {

constexpr uint32_t max_rank = 8;

/// The separators with the rank behind them: the logical axis behind each physical one.
std::vector<uint32_t> physical_ends(const pi_mem_layout_desc &desc) {
    if (desc.axis_separator_count >= desc.rank)
        fail(PI_ERROR_INVALID_VALUE, "axis_separator_count is ", desc.axis_separator_count,
             "; between ", desc.rank, " axes there are at most ", desc.rank - 1);
    const auto separators =
        sdk::read_array(desc.axis_separator_count, desc.axis_separators, "axis_separators");
    std::vector<uint32_t> ends;
    for (const uint32_t separator : separators) {
        const uint32_t least = ends.empty() ? 1 : ends.back() + 1;
        if (separator < least || separator >= desc.rank)
            fail(PI_ERROR_INVALID_VALUE, "axis_separators[", ends.size(), "] is ", separator, "; ",
                 least, " to ", desc.rank - 1, " are possible");
        ends.push_back(separator);
    }
    ends.push_back(desc.rank);
    return ends;
}

void check_shape(const pi_mem_layout_desc &desc, std::span<const uint64_t> extents, uint64_t size) {
    if (!desc.element_size)
        fail(PI_ERROR_INVALID_SIZE, "element_size is 0 bytes; at least 1 is needed");
    uint64_t bytes = desc.element_size;
    for (uint32_t axis = 0; axis < desc.rank; ++axis) {
        if (!extents[axis])
            fail(PI_ERROR_INVALID_SIZE, "extents[", axis, "] is 0; at least 1 is needed");
        if (__builtin_mul_overflow(bytes, extents[axis], &bytes))
            fail(PI_ERROR_INVALID_SIZE, "extents[", axis, "] is ", extents[axis],
                 ": the bytes of the allocation cannot be counted in 64 bits");
    }
    if (bytes != size)
        fail(PI_ERROR_INVALID_SIZE, "size is ", size, " bytes, but the layout's extents hold ",
             bytes);
}

} // namespace

Layout::Layout(const pi_mem_layout_desc &desc, uint64_t size) {
    if (desc.reserved)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "the layout's reserved word is ", desc.reserved,
             "; it must be 0");
    if (desc.rank < 1 || desc.rank > max_rank)
        fail(PI_ERROR_INVALID_VALUE, "rank is ", desc.rank, "; 1 to ", max_rank, " are possible");
    const auto extents = sdk::read_array(desc.rank, desc.extents, "extents");
    const std::vector<uint32_t> ends = physical_ends(desc);
    check_shape(desc, extents, size);

    // From the innermost physical axis outwards. No product overflows that the whole size does not.
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

void copy_bytes(const LogicalBytes &src, uint64_t from, const LogicalBytes &dst, uint64_t to,
                uint64_t size) {
    while (size) {
        const uint64_t step = std::min({size, src.run(from), dst.run(to)});
        // Not memcpy: a read may be of the very bytes of its host pointer.
        std::memmove(dst.at(to), src.at(from), step);
        from += step;
        to += step;
        size -= step;
    }
}

void fill_bytes(const LogicalBytes &dst, uint64_t offset, uint64_t size,
                std::span<const std::byte> pattern) {
    if (dst.run(offset) >= size)
        return sdk::fill_bytes(dst.at(offset), size, pattern);
    // A pattern may end in another row than it begins: a strip of many is copied like any bytes.
    constexpr uint64_t cached = 64 * 1024; // a multiple of every pattern's size
    std::vector<std::byte> strip(std::min(size, cached));
    sdk::fill_bytes(strip.data(), strip.size(), pattern);
    for (uint64_t done = 0; done < size;) {
        const uint64_t step = std::min<uint64_t>(size - done, strip.size());
        copy_bytes(strip.data(), 0, dst, offset + done, step);
        done += step;
    }
}

} // namespace pi::host
