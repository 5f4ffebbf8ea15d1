// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image_copy.hpp"
#include "image.hpp"

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

namespace {

using Order = Submission::Order;

/// Image extents always fit 32 bits.
ze_image_region_t region_in(const Image &image, const Rectangle &bytes) {
    const ImageBox box = with_layers_second(image.box(bytes), *image.shape.type);
    const Pixels &o = box.origin, &e = box.extent;
    return {narrow(o[0]), narrow(o[1]), narrow(o[2]), narrow(e[0]), narrow(e[1]), narrow(e[2])};
}

template <class Append>
void add(Submission &submission, bool whole, const char *call, Append &&append) {
    whole ? submission.whole(call, append) : submission.part(call, append);
}

void between_images(Submission &submission, bool whole, const Image &src, const Rectangle &from,
                    const Image &dst, const Rectangle &to) {
    const ze_image_region_t in = region_in(src, from), out = region_in(dst, to);
    add(submission, whole, "zeCommandListAppendImageCopyRegion", [&](const Order &order) {
        return submission.api().zeCommandListAppendImageCopyRegion(
            submission.list(), dst.id(), src.id(), &out, &in, order.signal, order.wait_count,
            order.waits);
    });
}

/// A copy between an image and memory. The memory has pitches if the driver supports those,
/// otherwise it is dense.
void with_memory(Submission &submission, bool whole, const Image &image, const Rectangle &pixels,
                 std::byte *memory, const Rectangle &bytes, bool to_memory) {
    const Api &ze = submission.api();
    const auto list = submission.list();
    const ze_image_region_t region = region_in(image, pixels);
    std::byte *const at = memory + bytes.offset;
    if (bytes.dense())
        return to_memory ? add(submission, whole, "zeCommandListAppendImageCopyToMemory",
                               [&](const Order &order) {
                                   return ze.zeCommandListAppendImageCopyToMemory(
                                       list, at, image.id(), &region, order.signal,
                                       order.wait_count, order.waits);
                               })
                         : add(submission, whole, "zeCommandListAppendImageCopyFromMemory",
                               [&](const Order &order) {
                                   return ze.zeCommandListAppendImageCopyFromMemory(
                                       list, image.id(), at, &region, order.signal,
                                       order.wait_count, order.waits);
                               });
    // In 1-D arrays layers are the second axis: either pitch may be the step between them.
    const bool rows_are_layers = image.shape.type->layers && !image.shape.type->height;
    const uint32_t slice =
        narrow(bytes.slices > 1 ? bytes.slice_pitch : bytes.row_pitch * bytes.rows);
    const uint32_t row = rows_are_layers ? slice : narrow(bytes.row_pitch);
    to_memory
        ? add(submission, whole, "zeCommandListAppendImageCopyToMemoryExt",
              [&](const Order &order) {
                  return ze.zeCommandListAppendImageCopyToMemoryExt(list, at, image.id(), &region,
                                                                    row, slice, order.signal,
                                                                    order.wait_count, order.waits);
              })
        : add(submission, whole, "zeCommandListAppendImageCopyFromMemoryExt",
              [&](const Order &order) {
                  return ze.zeCommandListAppendImageCopyFromMemoryExt(
                      list, image.id(), at, &region, row, slice, order.signal, order.wait_count,
                      order.waits);
              });
}

/// Calls visit(from, to) for each row or slice; `count` selects which.
template <class Visit>
void for_each_of(uint64_t Rectangle::*count, uint64_t Rectangle::*step, Rectangle from,
                 Rectangle to, Visit &&visit) {
    const uint64_t number = from.*count;
    from.*count = to.*count = 1;
    for (uint64_t i = 0; i < number; ++i, from.offset += from.*step, to.offset += to.*step)
        visit(from, to);
}

template <class Visit>
void for_each_slice(const Rectangle &from, const Rectangle &to, Visit &&visit) {
    for_each_of(&Rectangle::slices, &Rectangle::slice_pitch, from, to, visit);
}
template <class Visit>
void for_each_row(const Rectangle &from, const Rectangle &to, Visit &&visit) {
    for_each_slice(from, to, [&](const Rectangle &a, const Rectangle &b) {
        for_each_of(&Rectangle::rows, &Rectangle::row_pitch, a, b, visit);
    });
}

bool alike(const ze_image_region_t &a, const ze_image_region_t &b) {
    return a.width == b.width && a.height == b.height && a.depth == b.depth;
}

bool pitches_fit(const Rectangle &r) {
    return std::max(r.row_pitch * r.rows, r.slice_pitch) <= UINT32_MAX;
}

} // namespace

void append_pixels(Submission &submission, bool whole, const End &src, const Rectangle &from,
                   const End &dst, const Rectangle &to) {
    if (src.image && dst.image) {
        if (alike(region_in(*src.image, from), region_in(*dst.image, to)))
            return between_images(submission, whole, *src.image, from, *dst.image, to);
        // One end has its layers on the second axis, the other on the third.
        return for_each_slice(from, to, [&](const Rectangle &a, const Rectangle &b) {
            between_images(submission, false, *src.image, a, *dst.image, b);
        });
    }
    const bool to_memory = src.image;
    const Image &image = to_memory ? *src.image : *dst.image;
    std::byte *const memory = to_memory ? dst.address : src.address;
    const Rectangle &bytes = to_memory ? to : from;
    const auto append = [&](bool alone, const Rectangle &a, const Rectangle &b) {
        with_memory(submission, alone, image, to_memory ? a : b, memory, to_memory ? b : a,
                    to_memory);
    };
    const auto part = [&](const Rectangle &a, const Rectangle &b) { append(false, a, b); };
    if (bytes.dense() || (submission.place().device().image_pitches() && pitches_fit(bytes)))
        append(whole, from, to);
    else if (bytes.rows == 1 || bytes.row_pitch == bytes.row)
        for_each_slice(from, to, part);
    else
        for_each_row(from, to, part);
}

} // namespace pi::level_zero
