// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on images: those on buffers, with pixels as bytes.
#include "commands.hpp"
#include "entries.hpp"

#include <pi/sdk/pixel.hpp>

namespace pi::level_zero {

using namespace sdk;

namespace {

/// Copies a strip of pixels in pinned memory to all rows: the driver has no fills of images.
class PaintCommand final : public ListCommand {
public:
    PaintCommand(const Target &target, Mem &mem, const Rectangle &pixels,
                 const std::vector<std::byte> &pixel)
        : ListCommand(target.queue), mem_(target, mem),
          strip_(target.queue.place().context(), size_of_strip(pixels)) {
        fill_bytes(strip_.begin(), size_of_strip(pixels), pixel);
        for_each_part(
            pixels, pixels, {most, most, false}, [&](const Rectangle &, const Rectangle &part) {
                const Rectangle from{0, part.row, part.rows, 1, part.row, part.row * part.rows};
                regions_.push_back(region_of(from, part));
            });
    }

private:
    static constexpr uint64_t most = uint64_t{256} << 10; ///< bytes; a multiple of every pixel size
    static uint64_t size_of_strip(const Rectangle &pixels) {
        return std::min(pixels.bytes(), most);
    }

    void issue(Submission &submission) override {
        const End strip{strip_.begin(), &submission.place(), true};
        append_regions(submission, strip, end_of(*mem_), Regions(regions_));
    }
    const CommandRef<Mem> mem_;
    const Staging strip_;
    std::vector<pi_region> regions_;
};

Mem &checked_image(const Queue &queue, pi_mem mem) {
    return level_zero::checked_image(queue.place(), queue.host(), mem, "image");
}

/// Two images overlap only if they are the same; a buffer and an image never do.
void check_image_overlap(const std::vector<pi_region> &regions, const Mem &src, const Mem &dst) {
    if (&src == &dst)
        check_overlap(regions, nullptr, nullptr);
}

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemImageRead(pi_queue queue, const pi_image_read_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_READ_DESC);
        Mem &mem = checked_image(self, known.image);
        require(known.host_ptr, "host_ptr");
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, end_of(mem),
                     End{static_cast<std::byte *>(known.host_ptr)}, {&mem, nullptr},
                     Regions(read_byte_regions(known, *mem.image(), ImageEnd::SOURCE)));
    });
}

pi_result PI_CALL piEnqueueMemImageWrite(pi_queue queue, const pi_image_write_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_WRITE_DESC);
        Mem &mem = checked_image(self, known.image);
        require(known.host_ptr, "host_ptr");
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event},
                     End{static_cast<std::byte *>(const_cast<void *>(known.host_ptr))}, end_of(mem),
                     {nullptr, &mem},
                     Regions(read_byte_regions(known, *mem.image(), ImageEnd::DESTINATION)));
    });
}

pi_result PI_CALL piEnqueueMemImageCopy(pi_queue queue, const pi_image_copy_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_COPY_DESC);
        Mem &src = checked<Mem>(self.host(), known.src, "src");
        Mem &dst = checked<Mem>(self.host(), known.dst, "dst");
        check_copy(self, src, dst);
        auto regions = read_byte_regions(known, src, dst);
        check_image_overlap(regions, src, dst);
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, end_of(src),
                     end_of(dst), {&src, &dst}, Regions(std::move(regions)));
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        Mem &mem = checked_image(self, known.image);
        const LinearImage &image = *mem.image();
        const Rectangle pixels = image.bytes(read_fill_box(known, image.shape));
        enqueue_list<PaintCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, mem, pixels,
            pack_color(image.shape.format, require(known.color, "color")));
    });
}

} // namespace entries
} // namespace pi::level_zero
