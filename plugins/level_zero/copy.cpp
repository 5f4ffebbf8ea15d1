// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copy.hpp"
#include "image_copy.hpp"

#include <algorithm>
#include <cstring>

namespace pi::level_zero {

using namespace sdk;

namespace {

using Order = Submission::Order;

/// The driver context of the source if it differs from the list's; else NULL.
ze_context_handle_t other_context(const Submission &submission, const End &src) {
    return src.place && &src.place->context() != &submission.place().context()
               ? src.place->context().id()
               : nullptr;
}

/// One copy of a range: the whole command (`whole`), or a part of it.
void append_range(Submission &submission, bool whole, const End &src, uint64_t from, const End &dst,
                  uint64_t to, uint64_t bytes) {
    const Api &ze = submission.api();
    const auto list = submission.list();
    const auto add = [&](const char *call, auto &&append) {
        if (whole)
            submission.whole(call, append, bytes, " bytes");
        else
            submission.part(call, append, bytes, " bytes");
    };
    std::byte *const out = dst.address + to;
    const std::byte *const in = src.address + from;
    if (const ze_context_handle_t other = other_context(submission, src))
        return add("zeCommandListAppendMemoryCopyFromContext", [&](const Order &order) {
            return ze.zeCommandListAppendMemoryCopyFromContext(
                list, out, other, in, bytes, order.signal, order.wait_count, order.waits);
        });
    add("zeCommandListAppendMemoryCopy", [&](const Order &order) {
        return ze.zeCommandListAppendMemoryCopy(list, out, in, bytes, order.signal,
                                                order.wait_count, order.waits);
    });
}

/// Whether the rectangle fits the driver's widths and pitches of 32 bits.
bool fits(const Rectangle &r) {
    return std::max({r.row, r.rows, r.slices, r.row_pitch, r.slice_pitch}) <= UINT32_MAX;
}

ze_copy_region_t box_of(const Rectangle &r) {
    return {0,
            0,
            0,
            static_cast<uint32_t>(r.row),
            static_cast<uint32_t>(r.rows),
            r.slices > 1 ? static_cast<uint32_t>(r.slices) : 0};
}

void append_box(Submission &submission, bool whole, const End &src, const Rectangle &from,
                const End &dst, const Rectangle &to) {
    const auto in = box_of(from), out = box_of(to);
    const auto append = [&](const Order &order) {
        return submission.api().zeCommandListAppendMemoryCopyRegion(
            submission.list(), dst.address + to.offset, &out, narrow(to.row_pitch),
            narrow(to.slice_pitch), src.address + from.offset, &in, narrow(from.row_pitch),
            narrow(from.slice_pitch), order.signal, order.wait_count, order.waits);
    };
    constexpr const char *call = "zeCommandListAppendMemoryCopyRegion";
    whole ? submission.whole(call, append) : submission.part(call, append);
}

void append_region(Submission &submission, bool whole, const End &src, const End &dst,
                   const pi_region &region) {
    Rectangle from = source(region), to = destination(region);
    if (src.image || dst.image)
        return append_pixels(submission, whole, src, from, dst, to);
    if (from.dense() && to.dense())
        return append_range(submission, whole, src, from.offset, dst, to.offset, from.bytes());
    from = from.flat();
    to = to.flat();
    if (from.slices == 1) // a single slice has no pitch
        for (Rectangle *end : {&from, &to})
            end->slice_pitch = end->row_pitch * end->rows;
    // The driver copies only ranges from another context.
    if (!other_context(submission, src) && fits(from) && fits(to))
        return append_box(submission, whole, src, from, dst, to);
    for (uint64_t i = 0; i < from.rows * from.slices; ++i)
        append_range(submission, false, src, from.row_offset(i), dst, to.row_offset(i), from.row);
}

} // namespace

void append_box(Submission &submission, const End &src, const Rectangle &from, const End &dst,
                const Rectangle &to) {
    append_region(submission, true, src, dst, region_of(from, to));
}

void append_regions(Submission &submission, const End &src, const End &dst,
                    const Regions &regions) {
    for (const pi_region &region : regions)
        append_region(submission, regions.size() == 1, src, dst, region);
}

void append_fill(Submission &submission, std::byte *address, uint64_t size,
                 const std::vector<std::byte> &pattern) {
    submission.whole("zeCommandListAppendMemoryFill", [&](const Order &order) {
        return submission.api().zeCommandListAppendMemoryFill(
            submission.list(), address, pattern.data(), pattern.size(), size, order.signal,
            order.wait_count, order.waits);
    });
}

std::vector<std::byte> make_strip(uint64_t size, const std::vector<std::byte> &pattern) {
    std::vector<std::byte> strip(std::min<uint64_t>(size, 4096));
    fill_bytes(strip.data(), strip.size(), pattern);
    return strip;
}

/// Copies the beginning from the host, then doubles what is there.
void append_fill_from(const std::vector<std::byte> &strip, Submission &submission,
                      std::byte *address, uint64_t size) {
    const End begin{const_cast<std::byte *>(strip.data())}, memory{address};
    append_range(submission, strip.size() == size, begin, 0, memory, 0, strip.size());
    for (uint64_t done = strip.size(); done < size; done *= 2) {
        submission.barrier();
        append_range(submission, false, memory, 0, memory, done, std::min(done, size - done));
    }
}

} // namespace pi::level_zero
