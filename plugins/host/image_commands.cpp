// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on images: rectangles of bytes, as on buffers, once pixels are converted.
#include "commands.hpp"
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/pixel.hpp>

#include <algorithm>

namespace pi::host {

using sdk::fail;
using sdk::Rectangle;
using sdk::Ref;

namespace {

using sdk::ImageEnd;

void fill(const Rectangle &bytes, std::byte *data, const std::vector<std::byte> &pixel) {
    sdk::for_each_piece(bytes, bytes, [&](uint64_t offset, uint64_t, uint64_t size) {
        sdk::fill_bytes(data + offset, size, pixel);
    });
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemImageRead(pi_queue queue, const pi_image_read_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_IMAGE_READ_DESC);
        Mem &image = checked_image(self.host(), known.image);
        sdk::require(known.host_ptr, "host_ptr");
        auto regions = sdk::read_byte_regions(known, *image.image(), ImageEnd::SOURCE);
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [src = Ref<Mem>(image), dst = known.host_ptr, regions = std::move(regions)] {
                         sdk::copy_regions(regions, src->bytes(), dst);
                     });
    });
}

pi_result PI_CALL piEnqueueMemImageWrite(pi_queue queue, const pi_image_write_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_IMAGE_WRITE_DESC);
        Mem &image = checked_image(self.host(), known.image);
        sdk::require(known.host_ptr, "host_ptr");
        auto regions = sdk::read_byte_regions(known, *image.image(), ImageEnd::DESTINATION);
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [src = known.host_ptr, dst = Ref<Mem>(image), regions = std::move(regions)] {
                         sdk::copy_regions(regions, src, dst->bytes());
                     });
    });
}

pi_result PI_CALL piEnqueueMemImageCopy(pi_queue queue, const pi_image_copy_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_IMAGE_COPY_DESC);
        Mem &src = sdk::checked<Mem>(self.host(), known.src, "src");
        Mem &dst = sdk::checked<Mem>(self.host(), known.dst, "dst");
        std::vector<pi_region> regions = sdk::read_byte_regions(known, src, dst);
        sdk::check_overlap(regions, src.bytes().identity(), dst.bytes().identity());
        const Cost cost = cost_of(regions);
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [from = Ref<Mem>(src), to = Ref<Mem>(dst), regions = std::move(regions)] {
                         sdk::copy_regions(regions, from->bytes(), to->bytes());
                     });
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return sdk::call<Queue>(queue, [&](Queue &self) {
        const auto known = sdk::read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        Mem &image = checked_image(self.host(), known.image);
        const sdk::ImageShape &shape = image.image()->shape;
        const Rectangle bytes = image.image()->bytes(sdk::read_fill_box(known, shape));
        auto pixel = sdk::pack_color(shape.format, sdk::require(known.color, "color"));
        const Cost cost = cost_of(std::vector{sdk::region_of(bytes, bytes)});
        self.enqueue({known.flags, known.type, wait_count, wait_list, out_event}, cost,
                     [dst = Ref<Mem>(image), bytes, pixel = std::move(pixel)] {
                         fill(bytes, dst->data(), pixel);
                     });
    });
}

} // namespace entries

} // namespace pi::host
