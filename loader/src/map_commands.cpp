// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "map_commands.hpp"

#include "descriptor.hpp"
#include "error.hpp"
#include "functions.hpp"
#include "map_work.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace pi::loader {
namespace {

// One side of a region, with defaults filled in.
struct Side {
    uint64_t offset;
    uint64_t row_pitch;
    uint64_t slice_pitch;
};

// A region, with 1 for each omitted extent.
struct Box {
    std::array<uint64_t, 3> extent;
    Side src;
    Side dst;
};

// The first byte after the box; nothing if it exceeds 64 bits.
std::optional<uint64_t> end_of(const Box &box, const Side &side) {
    uint64_t rows = 0;
    uint64_t slices = 0;
    uint64_t end = 0;
    if (__builtin_mul_overflow(box.extent[1] - 1, side.row_pitch, &rows) ||
        __builtin_mul_overflow(box.extent[2] - 1, side.slice_pitch, &slices) ||
        __builtin_add_overflow(side.offset, box.extent[0], &end) ||
        __builtin_add_overflow(end, rows, &end) || __builtin_add_overflow(end, slices, &end))
        return std::nullopt;
    return end;
}

pi_result read_side(const char *function, uint32_t index, const char *name, const Box &box,
                    uint64_t offset, const uint64_t *pitch, Side &out) {
    out = {offset, pitch[0] != 0 ? pitch[0] : box.extent[0], pitch[1]};
    if (out.row_pitch < box.extent[0])
        return fail(PI_ERROR_INVALID_SIZE,
                    "{}: desc->regions[{}].{}_pitch[0] is {}, should be at least a row's {} bytes",
                    function, index, name, pitch[0], box.extent[0]);
    uint64_t dense = 0;
    if (__builtin_mul_overflow(out.row_pitch, box.extent[1], &dense))
        return fail(PI_ERROR_INVALID_SIZE,
                    "{}: desc->regions[{}] has more bytes than 64 bits count", function, index);
    if (out.slice_pitch == 0)
        out.slice_pitch = dense;
    if (out.slice_pitch < dense)
        return fail(
            PI_ERROR_INVALID_SIZE,
            "{}: desc->regions[{}].{}_pitch[1] is {}, should be at least a slice's {} bytes",
            function, index, name, pitch[1], dense);
    if (!end_of(box, out))
        return fail(PI_ERROR_INVALID_SIZE,
                    "{}: desc->regions[{}] ends at more than 64 bits count in {}", function, index,
                    name);
    return PI_SUCCESS;
}

pi_result read_regions(const char *function, uint32_t count, const pi_region *regions,
                       std::vector<Box> &out) {
    if (count == 0)
        return fail(PI_ERROR_INVALID_SIZE, "{}: desc->region_count is 0, should be at least 1",
                    function);
    if (regions == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: desc->regions is NULL", function);
    for (uint32_t i = 0; i < count; ++i) {
        const pi_region &region = regions[i];
        if (region.reserved != 0)
            return fail(PI_ERROR_UNSUPPORTED_FEATURE,
                        "{}: desc->regions[{}].reserved is {}, should be 0", function, i,
                        region.reserved);
        if (region.extent[0] == 0)
            return fail(PI_ERROR_INVALID_SIZE,
                        "{}: desc->regions[{}].extent[0] is 0, should be at least 1", function, i);
        Box box{{region.extent[0], std::max<uint64_t>(region.extent[1], 1),
                 std::max<uint64_t>(region.extent[2], 1)},
                {},
                {}};
        if (const pi_result result =
                read_side(function, i, "src", box, region.src_offset, region.src_pitch, box.src))
            return result;
        if (const pi_result result =
                read_side(function, i, "dst", box, region.dst_offset, region.dst_pitch, box.dst))
            return result;
        out.push_back(box);
    }
    return PI_SUCCESS;
}

struct Range {
    uint64_t begin;
    uint64_t end;
};

// The bytes from the first to the last that any box touches on that side.
Range bounds(const std::vector<Box> &boxes, Side Box::*side) {
    Range range{UINT64_MAX, 0};
    for (const Box &box : boxes) {
        range.begin = std::min(range.begin, (box.*side).offset);
        range.end = std::max(range.end, *end_of(box, box.*side));
    }
    return range;
}

bool is_dense(const Box &box, const Side &side) {
    return (box.extent[1] == 1 || side.row_pitch == box.extent[0]) &&
           (box.extent[2] == 1 || side.slice_pitch == box.extent[0] * box.extent[1]);
}

void copy_boxes(const std::vector<Box> &boxes, const unsigned char *src, unsigned char *dst,
                uint64_t src_base, uint64_t dst_base) {
    for (const Box &box : boxes) {
        if (is_dense(box, box.src) && is_dense(box, box.dst)) {
            std::memcpy(dst + (box.dst.offset - dst_base), src + (box.src.offset - src_base),
                        box.extent[0] * box.extent[1] * box.extent[2]);
            continue;
        }
        for (uint64_t slice = 0; slice < box.extent[2]; ++slice) {
            for (uint64_t row = 0; row < box.extent[1]; ++row)
                std::memcpy(dst + (box.dst.offset - dst_base + slice * box.dst.slice_pitch +
                                   row * box.dst.row_pitch),
                            src + (box.src.offset - src_base + slice * box.src.slice_pitch +
                                   row * box.src.row_pitch),
                            box.extent[0]);
        }
    }
}

// Fills the first bytes with the pattern, then copies them on in doubling steps.
void fill(unsigned char *mapped, uint64_t size, const unsigned char *pattern,
          uint64_t pattern_size) {
    std::memcpy(mapped, pattern, pattern_size);
    for (uint64_t done = pattern_size; done < size;) {
        const uint64_t step = std::min(done, size - done);
        std::memcpy(mapped + done, mapped, step);
        done += step;
    }
}

pi_result check_mem(const char *function, pi_queue queue, pi_mem mem) {
    if (mem == nullptr)
        return fail(PI_ERROR_INVALID_MEM_OBJECT, "{}: desc->mem is NULL", function);
    if (!belongs_to(mem, dispatch_of(queue)))
        return fail(PI_ERROR_INVALID_MEM_OBJECT,
                    "{}: desc->mem belongs to another plugin instance than the queue", function);
    return PI_SUCCESS;
}

// Common part of read and write; `side` is the side of the device memory.
template <typename Descriptor>
pi_result read_transfer(const char *function, pi_queue queue, const Descriptor *desc,
                        pi_struct_type type, Descriptor &read, std::vector<Box> &boxes) {
    if (const pi_result result = read_descriptor(function, "desc", desc, type, read))
        return result;
    if (const pi_result result = check_flags(function, read.flags, PI_COMMAND_BLOCKING))
        return result;
    if (const pi_result result = check_mem(function, queue, read.mem))
        return result;
    if (read.host_ptr == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: desc->host_ptr is NULL", function);
    return read_regions(function, read.region_count, read.regions, boxes);
}

pi_result read_fill(const char *function, pi_queue queue, const pi_buffer_fill_desc *desc,
                    pi_buffer_fill_desc &read) {
    if (const pi_result result =
            read_descriptor(function, "desc", desc, PI_TYPE_BUFFER_FILL_DESC, read))
        return result;
    if (const pi_result result = check_flags(function, read.flags, PI_COMMAND_BLOCKING))
        return result;
    if (const pi_result result = check_mem(function, queue, read.mem))
        return result;
    if (read.pattern == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER, "{}: desc->pattern is NULL", function);
    const uint64_t unit = read.pattern_size;
    if (unit == 0 || unit > 128 || (unit & (unit - 1)) != 0)
        return fail(PI_ERROR_INVALID_SIZE,
                    "{}: desc->pattern_size is {}, should be a power of two from 1 to 128",
                    function, unit);
    if (read.size == 0)
        return fail(PI_ERROR_INVALID_SIZE, "{}: desc->size is 0, should be at least 1", function);
    if (read.offset % unit != 0 || read.size % unit != 0)
        return fail(PI_ERROR_INVALID_SIZE,
                    "{}: desc->offset {} and size {} should be multiples of pattern_size {}",
                    function, read.offset, read.size, unit);
    return PI_SUCCESS;
}

} // namespace

pi_result defaults::piEnqueueMemBufferRead(pi_queue queue, const pi_buffer_read_desc *desc,
                                           uint32_t wait_count, const pi_event *wait_list,
                                           pi_event *out_event) noexcept {
    constexpr const char *function = "piEnqueueMemBufferRead";
    return guarded(function, [&] {
        pi_buffer_read_desc read;
        std::vector<Box> boxes;
        if (const pi_result result =
                read_transfer(function, queue, desc, PI_TYPE_BUFFER_READ_DESC, read, boxes))
            return result;
        const Range range = bounds(boxes, &Box::src);
        auto *host = static_cast<unsigned char *>(read.host_ptr);
        MapWork work{function,
                     read.mem,
                     PI_MAP_READ,
                     range.begin,
                     range.end - range.begin,
                     (read.flags & PI_COMMAND_BLOCKING) != 0,
                     [boxes = std::move(boxes), host, range](unsigned char *mapped) {
                         copy_boxes(boxes, mapped, host, range.begin, 0);
                     }};
        return enqueue_map_work(queue, std::move(work), wait_count, wait_list, out_event);
    });
}

pi_result defaults::piEnqueueMemBufferWrite(pi_queue queue, const pi_buffer_write_desc *desc,
                                            uint32_t wait_count, const pi_event *wait_list,
                                            pi_event *out_event) noexcept {
    constexpr const char *function = "piEnqueueMemBufferWrite";
    return guarded(function, [&] {
        pi_buffer_write_desc read;
        std::vector<Box> boxes;
        if (const pi_result result =
                read_transfer(function, queue, desc, PI_TYPE_BUFFER_WRITE_DESC, read, boxes))
            return result;
        const Range range = bounds(boxes, &Box::dst);
        // Old bytes between the regions must survive; without gaps no read is needed.
        const bool whole = boxes.size() == 1 && is_dense(boxes[0], boxes[0].dst);
        const auto *host = static_cast<const unsigned char *>(read.host_ptr);
        MapWork work{function,
                     read.mem,
                     static_cast<uint64_t>(whole ? PI_MAP_WRITE_DISCARD : PI_MAP_WRITE),
                     range.begin,
                     range.end - range.begin,
                     (read.flags & PI_COMMAND_BLOCKING) != 0,
                     [boxes = std::move(boxes), host, range](unsigned char *mapped) {
                         copy_boxes(boxes, host, mapped, 0, range.begin);
                     }};
        return enqueue_map_work(queue, std::move(work), wait_count, wait_list, out_event);
    });
}

pi_result defaults::piEnqueueMemBufferFill(pi_queue queue, const pi_buffer_fill_desc *desc,
                                           uint32_t wait_count, const pi_event *wait_list,
                                           pi_event *out_event) noexcept {
    constexpr const char *function = "piEnqueueMemBufferFill";
    return guarded(function, [&] {
        pi_buffer_fill_desc read;
        if (const pi_result result = read_fill(function, queue, desc, read))
            return result;
        std::array<unsigned char, 128> pattern{};
        std::memcpy(pattern.data(), read.pattern, read.pattern_size);
        MapWork work{function,
                     read.mem,
                     PI_MAP_WRITE_DISCARD,
                     read.offset,
                     read.size,
                     (read.flags & PI_COMMAND_BLOCKING) != 0,
                     [pattern, size = read.size, unit = read.pattern_size](unsigned char *mapped) {
                         fill(mapped, size, pattern.data(), unit);
                     }};
        return enqueue_map_work(queue, std::move(work), wait_count, wait_list, out_event);
    });
}

} // namespace pi::loader
