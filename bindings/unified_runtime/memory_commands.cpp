// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on buffers and images. Each is written once: facade::Command knows whether a buffer is a
// storage.
#include "functions.hpp"
#include "info.hpp"
#include "memory.hpp"

#include <pi/describe/descriptor.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace pi::unified_runtime {

using runtime::Access;

namespace {

void require_size(bool holds, const char *text) {
    if (!holds) {
        throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, text);
    }
}

uint64_t multiply_add(uint64_t a, uint64_t b, uint64_t c) {
    uint64_t result = 0;
    require_size(!__builtin_mul_overflow(a, b, &result) &&
                     !__builtin_add_overflow(result, c, &result),
                 "the rectangle exceeds 64 bits");
    return result;
}

// ----- Buffers ----------------------------------------------------------------------------------

/// A command's bytes in a buffer or in host memory.
struct End {
    uint64_t begin = 0;
    uint64_t size = 0; // from the first byte to the last one, with the gaps
    uint64_t pitch[2] = {0, 0};
};

End line(size_t offset, size_t size) {
    return {offset, size, {0, 0}};
}

void check_region(const ur_rect_region_t &region) {
    require_size(region.width != 0 && region.height != 0 && region.depth != 0,
                 "the region's width, height and depth must not be 0");
}

End rectangle(const ur_rect_offset_t &origin, const ur_rect_region_t &region, size_t row_pitch,
              size_t slice_pitch) {
    check_region(region);
    const uint64_t row = row_pitch != 0 ? row_pitch : region.width;
    require_size(row >= region.width, "a row pitch is smaller than the region's width");
    const uint64_t dense = multiply_add(row, region.height, 0);
    const uint64_t slice = slice_pitch != 0 ? slice_pitch : dense;
    require_size(slice >= dense && slice % row == 0,
                 "a slice pitch is smaller than a slice, or not a multiple of the row pitch");
    End end{0, 0, {row, slice}};
    end.begin = multiply_add(slice, origin.z, multiply_add(row, origin.y, origin.x));
    end.size =
        multiply_add(slice, region.depth - 1, multiply_add(row, region.height - 1, region.width));
    return end;
}

/// Bytes from one end to another.
struct Shape {
    End src, dst;
    ur_rect_region_t region{};

    /// No byte of dst keeps its value.
    bool is_dense() const { return dst.size == region.width * region.height * region.depth; }
    pi_region pi(uint64_t src_offset, uint64_t dst_offset) const {
        pi_region out{};
        out.src_offset = src_offset;
        out.dst_offset = dst_offset;
        out.extent[0] = region.width;
        out.extent[1] = region.height;
        out.extent[2] = region.depth;
        std::copy_n(src.pitch, 2, out.src_pitch);
        std::copy_n(dst.pitch, 2, out.dst_pitch);
        return out;
    }
};

Shape line_shape(size_t src_offset, size_t dst_offset, size_t size) {
    return {line(src_offset, size), line(dst_offset, size), {size, 1, 1}};
}

size_t use(Enqueue &enqueue, ur_mem_handle_t buffer, Access access, const End &end) {
    return enqueue.command().use(*buffer_of(buffer).core, access, end.begin, end.size);
}
size_t use_dst(Enqueue &enqueue, ur_mem_handle_t buffer, const Shape &shape) {
    return use(enqueue, buffer, shape.is_dense() ? Access::discard_write : Access::write,
               shape.dst);
}

void read(Enqueue enqueue, ur_mem_handle_t buffer, bool is_blocking, const Shape &shape,
          void *host) {
    const auto src = enqueue.command().operand(use(enqueue, buffer, Access::read, shape.src));
    const pi_region region = shape.pi(src.offset, shape.dst.begin);
    auto desc = pi::desc<pi_buffer_read_desc>();
    desc.flags = blocking(is_blocking);
    desc.mem = src.mem;
    desc.host_ptr = needed(host);
    desc.region_count = 1;
    desc.regions = &region;
    enqueue.run("piEnqueueMemBufferRead", piEnqueueMemBufferRead, desc);
}

void write(Enqueue enqueue, ur_mem_handle_t buffer, bool is_blocking, const Shape &shape,
           const void *host) {
    const auto dst = enqueue.command().operand(use_dst(enqueue, buffer, shape));
    const pi_region region = shape.pi(shape.src.begin, dst.offset);
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.flags = blocking(is_blocking);
    desc.mem = dst.mem;
    desc.host_ptr = needed(host);
    desc.region_count = 1;
    desc.regions = &region;
    enqueue.run("piEnqueueMemBufferWrite", piEnqueueMemBufferWrite, desc);
}

void copy(Enqueue enqueue, ur_mem_handle_t from, ur_mem_handle_t to, const Shape &shape) {
    const size_t src_use = use(enqueue, from, Access::read, shape.src);
    const size_t dst_use = use_dst(enqueue, to, shape);
    const auto src = enqueue.command().operand(src_use);
    const auto dst = enqueue.command().operand(dst_use);
    const pi_region region = shape.pi(src.offset, dst.offset);
    auto desc = pi::desc<pi_buffer_copy_desc>();
    desc.src = src.mem;
    desc.dst = dst.mem;
    desc.region_count = 1;
    desc.regions = &region;
    enqueue.run("piEnqueueMemBufferCopy", piEnqueueMemBufferCopy, desc);
}

// ----- Fills ------------------------------------------------------------------------------------

constexpr size_t largest_pi_pattern = 128;

/// For patterns that PI does not fill with: writes that repeat one piece of host memory, which
/// lives until the command is complete.
void write_repeated(Enqueue &enqueue, const facade::Command::Operand &dst, const void *pattern,
                    size_t pattern_size, size_t size) {
    constexpr size_t piece = 65536;
    auto bytes =
        std::make_unique<std::vector<std::byte>>(std::min(size, std::max(piece, pattern_size)));
    for (size_t at = 0; at < bytes->size(); at += pattern_size) {
        std::memcpy(bytes->data() + at, pattern, pattern_size);
    }
    std::vector<pi_region> regions;
    for (size_t at = 0; at < size; at += bytes->size()) {
        const size_t count = std::min(bytes->size(), size - at);
        regions.push_back(line_shape(0, 0, count).pi(0, dst.offset + at));
    }
    auto desc = pi::desc<pi_buffer_write_desc>();
    desc.mem = dst.mem;
    desc.host_ptr = bytes->data();
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    facade::Event event =
        enqueue.command().enqueue("piEnqueueMemBufferWrite", piEnqueueMemBufferWrite, desc, true);
    constexpr auto free_bytes = [](pi_event, pi_result, void *data) {
        delete static_cast<std::vector<std::byte> *>(data);
    };
    if (piEventSetCallback(event.get(), free_bytes, bytes.get()) == PI_SUCCESS) {
        bytes.release();
    } else {
        event.wait();
    }
    enqueue.finish(std::move(event));
}

void fill(Enqueue enqueue, ur_mem_handle_t buffer, const void *pattern, size_t pattern_size,
          size_t offset, size_t size) {
    needed(pattern);
    require_size(std::has_single_bit(pattern_size), "the pattern's size is not a power of two");
    require_size(size != 0 && size % pattern_size == 0 && offset % pattern_size == 0,
                 "a fill's size and offset must be multiples of the pattern's size");
    const auto dst =
        enqueue.command().operand(use(enqueue, buffer, Access::discard_write, line(offset, size)));
    if (pattern_size > largest_pi_pattern || dst.offset % pattern_size != 0) {
        return write_repeated(enqueue, dst, pattern, pattern_size, size);
    }
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = dst.mem;
    desc.pattern = pattern;
    desc.pattern_size = pattern_size;
    desc.offset = dst.offset;
    desc.size = size;
    enqueue.run("piEnqueueMemBufferFill", piEnqueueMemBufferFill, desc);
}

// ----- Images -----------------------------------------------------------------------------------

pi_mem use_image(Enqueue &enqueue, ur_mem_handle_t image, Access access) {
    const facade::Memory &core = *image->core;
    return enqueue.command().operand(enqueue.command().use(core, access, 0, core.size())).mem;
}

/// The layer is UR's second axis in 1-D arrays, and always PI's third.
struct Pixels {
    Pixels(const ur_mem_handle_t_::Image &image, const ur_rect_offset_t &at,
           const ur_rect_region_t &region)
        : origin{at.x, at.y, at.z}, extent{region.width, region.height, region.depth} {
        check_region(region);
        if (image.desc.type == UR_MEM_TYPE_IMAGE1D_ARRAY) {
            require_size(at.z == 0 && region.depth == 1, "a 1-D array has no third axis");
            std::swap(origin[1], origin[2]);
            std::swap(extent[1], extent[2]);
        }
    }
    uint64_t origin[3];
    uint64_t extent[3];
};

/// A read or a write.
template <class Desc, class Host, class Function>
void image_transfer(Enqueue enqueue, ur_mem_handle_t image, Access access, bool is_blocking,
                    const ur_rect_offset_t &origin, const ur_rect_region_t &extent,
                    size_t row_pitch, size_t slice_pitch, Host *host, const char *name,
                    Function function) {
    const Pixels pixels(image_of(image), origin, extent);
    pi_image_region region{};
    std::copy_n(pixels.origin, 3, region.origin);
    std::copy_n(pixels.extent, 3, region.extent);
    region.row_pitch = row_pitch;
    region.slice_pitch = slice_pitch;
    auto desc = pi::desc<Desc>();
    desc.flags = blocking(is_blocking);
    desc.host_ptr = needed(host);
    desc.region_count = 1;
    desc.regions = &region;
    desc.image = use_image(enqueue, image, access);
    enqueue.run(name, function, desc);
}

void copy_image(Enqueue enqueue, ur_mem_handle_t from, ur_mem_handle_t to,
                const ur_rect_offset_t &src_origin, const ur_rect_offset_t &dst_origin,
                const ur_rect_region_t &extent) {
    const Pixels src(image_of(from), src_origin, extent);
    const Pixels dst(image_of(to), dst_origin, extent);
    pi_image_copy_region region{};
    std::copy_n(src.origin, 3, region.src_origin);
    std::copy_n(dst.origin, 3, region.dst_origin);
    std::copy_n(src.extent, 3, region.extent);
    require_size(std::equal(src.extent, src.extent + 3, dst.extent),
                 "the region has layers in one of the images only");
    auto desc = pi::desc<pi_image_copy_desc>();
    desc.region_count = 1;
    desc.regions = &region;
    desc.src = use_image(enqueue, from, Access::read);
    desc.dst = use_image(enqueue, to, Access::write);
    enqueue.run("piEnqueueMemImageCopy", piEnqueueMemImageCopy, desc);
}

// ----- Maps -------------------------------------------------------------------------------------

constexpr std::array<std::pair<ur_map_flags_t, uint64_t>, 3> map_flags{{
    {UR_MAP_FLAG_READ, PI_MAP_READ},
    {UR_MAP_FLAG_WRITE, PI_MAP_WRITE},
    {UR_MAP_FLAG_WRITE_INVALIDATE_REGION, PI_MAP_WRITE_DISCARD},
}};

uint64_t pi_map_flags(ur_map_flags_t flags) {
    if ((flags & UR_MAP_FLAGS_MASK) != 0) {
        throw Refusal(UR_RESULT_ERROR_INVALID_ENUMERATION, "urEnqueueMemBufferMap: unknown flags");
    }
    // Without flags the host may do anything.
    return flags != 0 ? translate_bits<uint64_t>(map_flags, flags) : PI_MAP_READ | PI_MAP_WRITE;
}

} // namespace

ur_result_t UR_APICALL urEnqueueMemBufferRead(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                              bool is_blocking, size_t offset, size_t size,
                                              void *host, uint32_t wait_count,
                                              const ur_event_handle_t *waits,
                                              ur_event_handle_t *out_event) {
    return boundary([&] {
        read({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_READ, out_event}, buffer,
             is_blocking, line_shape(offset, 0, size), host);
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferWrite(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                               bool is_blocking, size_t offset, size_t size,
                                               const void *host, uint32_t wait_count,
                                               const ur_event_handle_t *waits,
                                               ur_event_handle_t *out_event) {
    return boundary([&] {
        write({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_WRITE, out_event}, buffer,
              is_blocking, line_shape(0, offset, size), host);
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferReadRect(
    ur_queue_handle_t queue, ur_mem_handle_t buffer, bool is_blocking,
    ur_rect_offset_t buffer_origin, ur_rect_offset_t host_origin, ur_rect_region_t region,
    size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
    size_t host_slice_pitch, void *host, uint32_t wait_count, const ur_event_handle_t *waits,
    ur_event_handle_t *out_event) {
    return boundary([&] {
        read({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_READ_RECT, out_event}, buffer,
             is_blocking,
             {rectangle(buffer_origin, region, buffer_row_pitch, buffer_slice_pitch),
              rectangle(host_origin, region, host_row_pitch, host_slice_pitch), region},
             host);
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferWriteRect(
    ur_queue_handle_t queue, ur_mem_handle_t buffer, bool is_blocking,
    ur_rect_offset_t buffer_origin, ur_rect_offset_t host_origin, ur_rect_region_t region,
    size_t buffer_row_pitch, size_t buffer_slice_pitch, size_t host_row_pitch,
    size_t host_slice_pitch, void *host, uint32_t wait_count, const ur_event_handle_t *waits,
    ur_event_handle_t *out_event) {
    return boundary([&] {
        write({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_WRITE_RECT, out_event}, buffer,
              is_blocking,
              {rectangle(host_origin, region, host_row_pitch, host_slice_pitch),
               rectangle(buffer_origin, region, buffer_row_pitch, buffer_slice_pitch), region},
              host);
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferCopy(ur_queue_handle_t queue, ur_mem_handle_t src,
                                              ur_mem_handle_t dst, size_t src_offset,
                                              size_t dst_offset, size_t size, uint32_t wait_count,
                                              const ur_event_handle_t *waits,
                                              ur_event_handle_t *out_event) {
    return boundary([&] {
        copy({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_COPY, out_event}, src, dst,
             line_shape(src_offset, dst_offset, size));
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferCopyRect(
    ur_queue_handle_t queue, ur_mem_handle_t src, ur_mem_handle_t dst, ur_rect_offset_t src_origin,
    ur_rect_offset_t dst_origin, ur_rect_region_t region, size_t src_row_pitch,
    size_t src_slice_pitch, size_t dst_row_pitch, size_t dst_slice_pitch, uint32_t wait_count,
    const ur_event_handle_t *waits, ur_event_handle_t *out_event) {
    return boundary([&] {
        copy({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_COPY_RECT, out_event}, src, dst,
             {rectangle(src_origin, region, src_row_pitch, src_slice_pitch),
              rectangle(dst_origin, region, dst_row_pitch, dst_slice_pitch), region});
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferFill(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                              const void *pattern, size_t pattern_size,
                                              size_t offset, size_t size, uint32_t wait_count,
                                              const ur_event_handle_t *waits,
                                              ur_event_handle_t *out_event) {
    return boundary([&] {
        fill({queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_FILL, out_event}, buffer, pattern,
             pattern_size, offset, size);
    });
}

ur_result_t UR_APICALL urEnqueueMemImageRead(ur_queue_handle_t queue, ur_mem_handle_t image,
                                             bool is_blocking, ur_rect_offset_t origin,
                                             ur_rect_region_t region, size_t row_pitch,
                                             size_t slice_pitch, void *host, uint32_t wait_count,
                                             const ur_event_handle_t *waits,
                                             ur_event_handle_t *out_event) {
    return boundary([&] {
        image_transfer<pi_image_read_desc>(
            {queue, {wait_count, waits}, UR_COMMAND_MEM_IMAGE_READ, out_event}, image, Access::read,
            is_blocking, origin, region, row_pitch, slice_pitch, host, "piEnqueueMemImageRead",
            piEnqueueMemImageRead);
    });
}

ur_result_t UR_APICALL urEnqueueMemImageWrite(ur_queue_handle_t queue, ur_mem_handle_t image,
                                              bool is_blocking, ur_rect_offset_t origin,
                                              ur_rect_region_t region, size_t row_pitch,
                                              size_t slice_pitch, void *host, uint32_t wait_count,
                                              const ur_event_handle_t *waits,
                                              ur_event_handle_t *out_event) {
    return boundary([&] {
        image_transfer<pi_image_write_desc>(
            {queue, {wait_count, waits}, UR_COMMAND_MEM_IMAGE_WRITE, out_event}, image,
            Access::write, is_blocking, origin, region, row_pitch, slice_pitch, host,
            "piEnqueueMemImageWrite", piEnqueueMemImageWrite);
    });
}

ur_result_t UR_APICALL urEnqueueMemImageCopy(ur_queue_handle_t queue, ur_mem_handle_t src,
                                             ur_mem_handle_t dst, ur_rect_offset_t src_origin,
                                             ur_rect_offset_t dst_origin, ur_rect_region_t region,
                                             uint32_t wait_count, const ur_event_handle_t *waits,
                                             ur_event_handle_t *out_event) {
    return boundary([&] {
        copy_image({queue, {wait_count, waits}, UR_COMMAND_MEM_IMAGE_COPY, out_event}, src, dst,
                   src_origin, dst_origin, region);
    });
}

ur_result_t UR_APICALL urEnqueueMemBufferMap(ur_queue_handle_t queue, ur_mem_handle_t buffer,
                                             bool is_blocking, ur_map_flags_t flags, size_t offset,
                                             size_t size, uint32_t wait_count,
                                             const ur_event_handle_t *waits,
                                             ur_event_handle_t *out_event, void **out_address) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, waits}, UR_COMMAND_MEM_BUFFER_MAP, out_event);
        facade::Memory &memory = *buffer_of(buffer).core;
        needed(out_address);
        const uint64_t pi_flags = pi_map_flags(flags) | blocking(is_blocking);
        facade::Event event;
        *out_address = memory.map(enqueue.command(), pi_flags, offset, size, event);
        enqueue.finish(std::move(event));
    });
}

ur_result_t UR_APICALL urEnqueueMemUnmap(ur_queue_handle_t queue, ur_mem_handle_t mem,
                                         void *address, uint32_t wait_count,
                                         const ur_event_handle_t *waits,
                                         ur_event_handle_t *out_event) {
    return boundary([&] {
        Enqueue enqueue(queue, {wait_count, waits}, UR_COMMAND_MEM_UNMAP, out_event);
        facade::Event event;
        buffer_of(mem).core->unmap(enqueue.command(), needed(address), event);
        enqueue.finish(std::move(event));
    });
}

} // namespace pi::unified_runtime
