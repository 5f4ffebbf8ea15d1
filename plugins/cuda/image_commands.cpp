// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on images: those on buffers, once pixels are bytes.
#include "commands.hpp"
#include "entries.hpp"
#include "submission.hpp"

#include <pi/sdk/image_region.hpp>
#include <pi/sdk/pixel.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

namespace {

/// A strip of pixels in pinned memory, and copies of it: for what no fill of bytes reaches, or not in one.
class PaintCommand final : public StreamCommand {
public:
    PaintCommand(const Target &target, Mem &mem, const Rectangle &pixels,
                 const std::vector<std::byte> &pixel)
        : StreamCommand(target.queue), mem_(target, mem), pixels_(pixels),
          size_(std::min(pixels.row, most)), strip_(target.queue.primary(), size_) {
        fill_bytes(strip_.begin(), size_, pixel);
    }

private:
    static constexpr uint64_t most = 4096; ///< what staging has at least

    void issue(Submission &submission) override {
        const End strip{reinterpret_cast<CUdeviceptr>(strip_.begin()), nullptr, strip_.begin()};
        paint(submission, end_of(*mem_), pixels_, strip, size_);
    }
    const Held<Mem> mem_;
    const Rectangle pixels_;
    const uint64_t size_;
    const Staging strip_;
};

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemImageRead(pi_queue queue, const pi_image_read_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_READ_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_image(self.primary(), self.host(), known.image, "image");
        require(known.host_ptr, "host_ptr");
        enqueue_transfer(self, {known.flags, known.type, wait_count, wait_list, out_event},
                         Direction::TO_HOST, mem, static_cast<std::byte *>(known.host_ptr),
                         Regions(read_byte_regions(known, *mem.image(), ImageEnd::SOURCE)));
    });
}

pi_result PI_CALL piEnqueueMemImageWrite(pi_queue queue, const pi_image_write_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_WRITE_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_image(self.primary(), self.host(), known.image, "image");
        require(known.host_ptr, "host_ptr");
        enqueue_transfer(self, {known.flags, known.type, wait_count, wait_list, out_event},
                         Direction::TO_DEVICE, mem,
                         static_cast<std::byte *>(const_cast<void *>(known.host_ptr)),
                         Regions(read_byte_regions(known, *mem.image(), ImageEnd::DESTINATION)));
    });
}

pi_result PI_CALL piEnqueueMemImageCopy(pi_queue queue, const pi_image_copy_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_COPY_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &src = checked<Mem>(self.host(), known.src, "src");
        Mem &dst = checked<Mem>(self.host(), known.dst, "dst");
        check_copy(self, src, dst);
        Regions regions(read_byte_regions(known, src, dst));
        check_overlap(regions, src, dst);
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, src, dst,
                     std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_image(self.primary(), self.host(), known.image, "image");
        const LinearImage &image = *mem.image();
        const Rectangle pixels =
            image.bytes(read_box(image.shape, known.origin, known.extent, 0, "image"));
        auto color = pack_color(image.shape.format, require(known.color, "color"));
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (!mem.array() && pixels.dense())
            enqueue_fill(self, arguments, mem, std::move(color), pixels.offset, pixels.bytes());
        else
            enqueue_stream<PaintCommand>(self, arguments, mem, pixels, color);
    });
}

} // namespace entries
} // namespace pi::cuda
