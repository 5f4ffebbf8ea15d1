// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace pi::cuda {

using namespace sdk;

namespace {

/// Whether the submission's context cannot use both ends, so that the driver must be given the
/// context of each. An image is usable in its own context only.
bool between_contexts(Primary &user, const End &src, const End &dst) {
    const auto reaches = [&](const End &end) {
        return !end.owner || end.owner == &user ||
               (!end.image && !end.granted_apart && user.access(*end.owner).granted);
    };
    return !reaches(src) || !reaches(dst);
}

/// A CUDA_MEMCPY3D, or a CUDA_MEMCPY3D_PEER, which has the contexts in addition.
template <class Copy>
Copy box(const End &src, const Rectangle &from, const End &dst, const Rectangle &to) {
    Copy copy{};
    if (src.image) {
        const ImageBox box = src.image->box(from);
        copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.srcArray = src.image->id();
        copy.srcXInBytes = box.origin[0] * src.image->shape.format.bytes();
        copy.srcY = box.origin[1];
        copy.srcZ = box.origin[2];
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.srcDevice = src.address + from.offset;
        copy.srcPitch = from.row_pitch;
        copy.srcHeight = from.slice_pitch / from.row_pitch;
    }
    if (dst.image) {
        const ImageBox box = dst.image->box(to);
        copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
        copy.dstArray = dst.image->id();
        copy.dstXInBytes = box.origin[0] * dst.image->shape.format.bytes();
        copy.dstY = box.origin[1];
        copy.dstZ = box.origin[2];
    } else {
        copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
        copy.dstDevice = dst.address + to.offset;
        copy.dstPitch = to.row_pitch;
        copy.dstHeight = to.slice_pitch / to.row_pitch;
    }
    copy.WidthInBytes = from.row;
    copy.Height = from.rows;
    copy.Depth = from.slices;
    return copy;
}

/// Adds a copy between contexts. Its error may stem from either context: an error of the other one
/// must not mark the submission's own as lost.
template <class... Parts>
void add_between(Submission &submission, const End &src, const End &dst, CUresult code,
                 const Parts &...parts) {
    if (to_result(code) == PI_ERROR_DEVICE_LOST)
        for (Primary *owner : {src.owner, dst.owner})
            if (owner && owner != &submission.primary()) {
                owner->look();
                owner->require_alive();
            }
    submission.add(code, parts...);
}

void add_box(Submission &submission, bool peers, const End &src, const Rectangle &from,
             const End &dst, const Rectangle &to) {
    if (!peers) {
        const CUDA_MEMCPY3D copy = box_copy(src, from, dst, to);
        return submission.add(submission.api().cuMemcpy3DAsync_v2(&copy, submission.stream()),
                              "cuMemcpy3DAsync_v2");
    }
    auto copy = box<CUDA_MEMCPY3D_PEER>(src, from, dst, to);
    // Host memory belongs to no context: it has its own memory type.
    if (src.owner) {
        if (!src.image)
            copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.srcContext = src.owner->id();
    } else {
        copy.srcMemoryType = CU_MEMORYTYPE_HOST;
        copy.srcHost = src.host + from.offset;
        copy.srcContext = submission.primary().id();
    }
    if (dst.owner) {
        if (!dst.image)
            copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
        copy.dstContext = dst.owner->id();
    } else {
        copy.dstMemoryType = CU_MEMORYTYPE_HOST;
        copy.dstHost = dst.host + to.offset;
        copy.dstContext = submission.primary().id();
    }
    add_between(submission, src, dst,
                submission.api().cuMemcpy3DPeerAsync(&copy, submission.stream()),
                "cuMemcpy3DPeerAsync");
}

/// A range of an image lies within one row.
void add_range(Submission &submission, bool peers, const End &src, uint64_t from, const End &dst,
               uint64_t to, uint64_t bytes) {
    const Api &cu = submission.api();
    const bool linear = !src.image && !dst.image;
    if (linear && !peers)
        return submission.add(
            cu.cuMemcpyAsync(dst.address + to, src.address + from, bytes, submission.stream()),
            "cuMemcpyAsync", bytes, " bytes");
    if (linear && src.owner && dst.owner)
        return add_between(submission, src, dst,
                           cu.cuMemcpyPeerAsync(dst.address + to, dst.owner->id(),
                                                src.address + from, src.owner->id(), bytes,
                                                submission.stream()),
                           "cuMemcpyPeerAsync", bytes, " bytes");
    const uint64_t most = submission.primary().device().max_row();
    for (uint64_t done = 0; done < bytes; done += most) {
        const uint64_t row = std::min(bytes - done, most);
        add_box(submission, peers, src, {from + done, row, 1, 1, row, row}, dst,
                {to + done, row, 1, 1, row, row});
    }
}

/// The driver's slices consist of whole rows, and its pitches are limited.
bool fits_driver(const Rectangle &r, uint64_t max_pitch) {
    return r.row_pitch <= max_pitch && r.slices_are_rows();
}

void copy_box(Submission &submission, bool peers, const End &src, Rectangle from, const End &dst,
              Rectangle to) {
    const bool linear = !src.image && !dst.image;
    if (linear && from.dense() && to.dense())
        return add_range(submission, peers, src, from.offset, dst, to.offset, from.bytes());
    if (linear) {
        from = from.flat();
        to = to.flat();
    } else if (from.rows == 1) {
        // Driver 580.159 on an H100 steps from layer to layer of a 1-D image by the row pitch and
        // ignores the height.
        from.row_pitch = from.slice_pitch;
        to.row_pitch = to.slice_pitch;
    }
    const uint64_t max_pitch = submission.primary().device().max_pitch();
    const auto fits = [&](const End &end, const Rectangle &r) {
        return end.image || fits_driver(r, max_pitch);
    };
    const auto too_far = [&](const End &end, const Rectangle &r) {
        return !end.image && r.row_pitch > max_pitch;
    };
    if (too_far(src, from) || too_far(dst, to)) {
        for (uint64_t i = 0; i < from.rows * from.slices; ++i)
            add_range(submission, peers, src, from.row_offset(i), dst, to.row_offset(i), from.row);
        return;
    }
    if (fits(src, from) && fits(dst, to))
        return add_box(submission, peers, src, from, dst, to);
    for_each_grid(from, to, max_pitch, [&](const Rectangle &in, const Rectangle &out) {
        linear ? add_box(submission, peers, src, in.flat(), dst, out.flat())
               : add_box(submission, peers, src, in, dst, out);
    });
}

void copy_region(Submission &submission, bool peers, const End &src, const End &dst,
                 const pi_region &region) {
    const bool linear = !src.image && !dst.image;
    if (linear && is_row(region))
        return add_range(submission, peers, src, region.src_offset, dst, region.dst_offset,
                         region.extent[0]);
    copy_box(submission, peers, src, source(region), dst, destination(region));
}

/// Limits for copies through `size` bytes of memory at once, in whole pixels.
PartLimits parts_of(const Submission &submission, uint64_t size) {
    return {size, std::min(size, submission.primary().device().max_row()), false, true};
}

/// The same bytes, dense, from offset 0.
Rectangle packed(const Rectangle &r) {
    return {0, r.row, r.rows, r.slices, r.row, r.row * r.rows};
}

template <class Word>
Word word_at(const std::byte *bytes) {
    Word word;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

} // namespace

CUDA_MEMCPY3D box_copy(const End &src, const Rectangle &from, const End &dst, const Rectangle &to) {
    return box<CUDA_MEMCPY3D>(src, from, dst, to);
}

void paint(Submission &submission, const End &image, const Rectangle &pixels, const End &strip,
           uint64_t size) {
    for_each_part(pixels, pixels, parts_of(submission, size),
                  [&](const Rectangle &part, const Rectangle &) {
                      copy_box(submission, false, strip, packed(part), image, part);
                  });
}

void copy_within(Submission &submission, const End &image, const Regions &regions,
                 const End &between, uint64_t size) {
    for (const pi_region &region : regions)
        for_each_part(source(region), destination(region), parts_of(submission, size),
                      [&](const Rectangle &from, const Rectangle &to) {
                          copy_box(submission, false, image, from, between, packed(from));
                          copy_box(submission, false, between, packed(from), image, to);
                      });
}

void copy_regions(Submission &submission, const End &src, const End &dst, const Regions &regions) {
    const bool peers = between_contexts(submission.primary(), src, dst);
    for (const pi_region &region : regions)
        copy_region(submission, peers, src, dst, region);
}

uint64_t period(const std::vector<std::byte> &pattern) {
    uint64_t size = pattern.size();
    while (size > 1 && std::memcmp(pattern.data(), pattern.data() + size / 2, size / 2) == 0)
        size /= 2;
    return size;
}

namespace {

/// Repeats a word of 1, 2 or 4 bytes `count` times in each of `rows` rows. The address and the
/// pitch are multiples of `size`.
void set_words(Submission &submission, CUdeviceptr to, uint64_t pitch, const std::byte *word,
               uint64_t size, uint64_t count, uint64_t rows) {
    const Api &cu = submission.api();
    const CUstream stream = submission.stream();
    const auto set = [&](auto value, auto linear, const char *linear_name, auto pitched,
                         const char *pitched_name) {
        if (rows == 1)
            return submission.add(linear(to, value, count, stream), linear_name);
        submission.add(pitched(to, pitch, value, count, rows, stream), pitched_name);
    };
    if (size == 1)
        return set(word_at<uint8_t>(word), cu.cuMemsetD8Async, "cuMemsetD8Async",
                   cu.cuMemsetD2D8Async, "cuMemsetD2D8Async");
    if (size == 2)
        return set(word_at<uint16_t>(word), cu.cuMemsetD16Async, "cuMemsetD16Async",
                   cu.cuMemsetD2D16Async, "cuMemsetD2D16Async");
    set(word_at<uint32_t>(word), cu.cuMemsetD32Async, "cuMemsetD32Async", cu.cuMemsetD2D32Async,
        "cuMemsetD2D32Async");
}

} // namespace

void fill(Submission &submission, CUdeviceptr address, const Rectangle &rows,
          const std::vector<std::byte> &pattern) {
    const CUdeviceptr begin = address + rows.offset;
    const uint64_t repeat = period(pattern);
    // The driver sets aligned words of up to 4 bytes; a view may begin at any address.
    const uint64_t steps = begin | (rows.rows > 1 ? rows.row_pitch : 0) | 4;
    const uint64_t word = std::min(repeat, steps & -steps);
    const bool pitched = rows.row_pitch <= submission.primary().device().max_pitch();
    if (word == repeat && (rows.rows == 1 || pitched))
        return set_words(submission, begin, rows.row_pitch, pattern.data(), word, rows.row / word,
                         rows.rows);
    // One word of each repetition at a time: rows of one word, one pattern apart.
    const uint64_t set = pitched ? 1 : rows.rows;
    for (uint64_t row = 0; row < set; ++row)
        for (uint64_t i = 0; i < repeat; i += word)
            set_words(submission, begin + row * rows.row_pitch + i, repeat, pattern.data() + i,
                      word, 1, rows.row / repeat);
    // All further rows are copied from the ones before.
    for (uint64_t done = set; done < rows.rows; done *= 2) {
        const uint64_t count = std::min(done, rows.rows - done);
        const auto part = [&](uint64_t row) {
            return Rectangle{row * rows.row_pitch,  rows.row, count, 1, rows.row_pitch,
                             rows.row_pitch * count};
        };
        copy_box(submission, false, {begin}, part(0), {begin}, part(done));
    }
}

} // namespace pi::cuda
