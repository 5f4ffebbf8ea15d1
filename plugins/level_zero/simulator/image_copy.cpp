// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <cstring>

namespace pi::level_zero::simulated {

namespace {

/// A block of pixels in an image.
struct Block {
    std::shared_ptr<Image> image;
    size_t first = 0, row = 0; ///< byte offset of the block, and its bytes in each row
    size_t rows = 0, slices = 0;
};

/// The whole image, unless there is a region. In arrays of rows the layers are the region's second
/// axis.
Block block_of(ze_image_handle_t handle, const ze_image_region_t *region, const List &list,
               Command &command) {
    const std::shared_ptr<Image> image = find(driver().images, handle);
    need(image->device == list.device, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    command.uses.push_back(image);
    ze_image_region_t r{0,
                        0,
                        0,
                        static_cast<uint32_t>(image->width),
                        static_cast<uint32_t>(image->height),
                        static_cast<uint32_t>(image->depth)};
    if (region) {
        r = *region;
        if (image->descriptor.type == ZE_IMAGE_TYPE_1DARRAY) {
            std::swap(r.originY, r.originZ);
            std::swap(r.height, r.depth);
        }
    }
    // Axes that the image lacks may be 0.
    if (image->height == 1)
        r.height += r.height == 0;
    if (image->depth == 1)
        r.depth += r.depth == 0;
    need(r.width && r.height && r.depth && size_t(r.originX) + r.width <= image->width &&
             size_t(r.originY) + r.height <= image->height &&
             size_t(r.originZ) + r.depth <= image->depth,
         ZE_RESULT_ERROR_INVALID_SIZE);
    return {image, r.originZ * image->slice + r.originY * image->row + r.originX * image->pixel,
            r.width * image->pixel, r.height, r.depth};
}

void copy(char *to, size_t to_row, size_t to_slice, const char *from, size_t from_row,
          size_t from_slice, const Block &shape) {
    for (size_t z = 0; z < shape.slices; ++z)
        for (size_t y = 0; y < shape.rows; ++y)
            std::memcpy(to + z * to_slice + y * to_row, from + z * from_slice + y * from_row,
                        shape.row);
}

bool same_shape(const Block &a, const Block &b) {
    return a.row == b.row && a.rows == b.rows && a.slices == b.slices;
}

/// Compares regions as given: the layers of an array of rows are their own axis.
bool same_extent(const ze_image_region_t *a, const ze_image_region_t *b) {
    return !a || !b || (a->width == b->width && a->height == b->height && a->depth == b->depth);
}

/// Whether two blocks of one shape in one image overlap.
bool overlap(const Block &a, const Block &b) {
    const auto apart = [](size_t x, size_t y, size_t size) {
        return x + size <= y || y + size <= x;
    };
    const size_t slice = a.image->slice, row = a.image->row;
    return !apart(a.first / slice, b.first / slice, a.slices) &&
           !apart(a.first % slice / row, b.first % slice / row, a.rows) &&
           !apart(a.first % row, b.first % row, a.row);
}

ze_result_t append_images(ze_command_list_handle_t list, ze_image_handle_t to,
                          ze_image_handle_t from, const ze_image_region_t *to_region,
                          const ze_image_region_t *from_region, const Order &order) {
    return append(list, order, [&](List &target, Command &command) {
        const Block out = block_of(to, to_region, target, command);
        const Block in = block_of(from, from_region, target, command);
        need(same_shape(out, in) && same_extent(to_region, from_region),
             ZE_RESULT_ERROR_INVALID_SIZE);
        need(out.image != in.image || !overlap(out, in), ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
        command.work = [out, in] {
            copy(out.image->pixels.data() + out.first, out.image->row, out.image->slice,
                 in.image->pixels.data() + in.first, in.image->row, in.image->slice, out);
        };
    });
}

/// The memory end of a copy, with its pitches; 0 means dense.
struct MemoryEnd {
    size_t row, slice, size;
};

MemoryEnd memory_end(const Block &block, size_t row, size_t slice) {
    row = row ? row : block.row;
    slice = slice ? slice : row * block.rows;
    need(row >= block.row && slice >= row * block.rows, ZE_RESULT_ERROR_INVALID_SIZE);
    return {row, slice, (block.slices - 1) * slice + (block.rows - 1) * row + block.row};
}

struct Pitches {
    std::uint32_t row = 0, slice = 0;
};

ze_result_t append_to_memory(ze_command_list_handle_t list, void *to, ze_image_handle_t from,
                             const ze_image_region_t *region, Pitches pitches, const Order &order) {
    if (!to)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, order, [&](List &target, Command &command) {
        const Block in = block_of(from, region, target, command);
        const MemoryEnd out = memory_end(in, pitches.row, pitches.slice);
        const Reach memory(to, out.size, target.device);
        memory.keep(command);
        command.work = [memory, out, in] {
            const Bytes bytes = memory.take();
            copy(bytes.data, out.row, out.slice, in.image->pixels.data() + in.first, in.image->row,
                 in.image->slice, in);
        };
    });
}

ze_result_t append_from_memory(ze_command_list_handle_t list, ze_image_handle_t to,
                               const void *from, const ze_image_region_t *region, Pitches pitches,
                               const Order &order) {
    if (!from)
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return append(list, order, [&](List &target, Command &command) {
        const Block out = block_of(to, region, target, command);
        const MemoryEnd in = memory_end(out, pitches.row, pitches.slice);
        const Reach memory(from, in.size, target.device);
        memory.keep(command);
        command.work = [memory, out, in] {
            const Bytes bytes = memory.take();
            copy(out.image->pixels.data() + out.first, out.image->row, out.image->slice, bytes.data,
                 in.row, in.slice, out);
        };
    });
}

/// Drivers without the extension still have its functions.
bool without_pitches() {
    return !driver().config.image_pitches;
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeCommandListAppendImageCopyRegion(
    ze_command_list_handle_t list, ze_image_handle_t to, ze_image_handle_t from,
    const ze_image_region_t *to_region, const ze_image_region_t *from_region,
    ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    return append_images(list, to, from, to_region, from_region, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopy(ze_command_list_handle_t list,
                                                    ze_image_handle_t to, ze_image_handle_t from,
                                                    ze_event_handle_t signal, uint32_t count,
                                                    ze_event_handle_t *waits) {
    return append_images(list, to, from, nullptr, nullptr, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyToMemoryExt(
    ze_command_list_handle_t list, void *to, ze_image_handle_t from,
    const ze_image_region_t *region, uint32_t row, uint32_t slice, ze_event_handle_t signal,
    uint32_t count, ze_event_handle_t *waits) {
    if (without_pitches())
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return append_to_memory(list, to, from, region, {row, slice}, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyFromMemoryExt(
    ze_command_list_handle_t list, ze_image_handle_t to, const void *from,
    const ze_image_region_t *region, uint32_t row, uint32_t slice, ze_event_handle_t signal,
    uint32_t count, ze_event_handle_t *waits) {
    if (without_pitches())
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    return append_from_memory(list, to, from, region, {row, slice}, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyToMemory(ze_command_list_handle_t list, void *to,
                                                            ze_image_handle_t from,
                                                            const ze_image_region_t *region,
                                                            ze_event_handle_t signal,
                                                            uint32_t count,
                                                            ze_event_handle_t *waits) {
    return append_to_memory(list, to, from, region, {}, {signal, count, waits});
}

ze_result_t ZE_APICALL zeCommandListAppendImageCopyFromMemory(
    ze_command_list_handle_t list, ze_image_handle_t to, const void *from,
    const ze_image_region_t *region, ze_event_handle_t signal, uint32_t count,
    ze_event_handle_t *waits) {
    return append_from_memory(list, to, from, region, {}, {signal, count, waits});
}
