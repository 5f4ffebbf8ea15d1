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

Rectangle bytes_of(const ImageShape &shape, const ImageBox &box) {
    return box_bytes(box, shape.dense(), shape.format);
}

Regions read_regions(uint32_t count, const pi_image_region *given, const ImageShape &shape,
                     Direction direction) {
    std::vector<pi_region> regions;
    for (const auto &[box, host] : read_image_regions(count, given, shape))
        regions.push_back(direction == Direction::TO_HOST ? region_of(bytes_of(shape, box), host)
                                                          : region_of(host, bytes_of(shape, box)));
    return Regions(regions);
}

Regions read_regions(const pi_image_copy_desc &desc, const Mem &src, const Mem &dst) {
    const auto shape = [](const Mem &mem) { return mem.image() ? &mem.image()->shape() : nullptr; };
    const ImageCopyEnds ends{shape(src), shape(dst), (src.image() ? dst : src).size()};
    std::vector<pi_region> regions;
    for (const ImageCopy &copy : read_image_copy_regions(desc.region_count, desc.regions, ends))
        regions.push_back(region_of(ends.src ? bytes_of(*ends.src, copy.src) : copy.buffer,
                                    ends.dst ? bytes_of(*ends.dst, copy.dst) : copy.buffer));
    if (&src == &dst) // no other object has the pixels of an image
        check_overlap(regions, nullptr, nullptr);
    return Regions(regions);
}

/// A strip of pixels in pinned memory, and copies of it.
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
                         read_regions(known.region_count, known.regions, mem.image()->shape(),
                                      Direction::TO_HOST));
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
                         read_regions(known.region_count, known.regions, mem.image()->shape(),
                                      Direction::TO_DEVICE));
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
        enqueue_copy(self, {known.flags, known.type, wait_count, wait_list, out_event}, src, dst,
                     read_regions(known, src, dst));
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &mem = checked_image(self.primary(), self.host(), known.image, "image");
        const ImageShape &shape = mem.image()->shape();
        const Rectangle pixels =
            bytes_of(shape, read_box(shape, known.origin, known.extent, 0, "image"));
        enqueue_stream<PaintCommand>(
            self, {known.flags, known.type, wait_count, wait_list, out_event}, mem, pixels,
            pack_color(shape.format, require(known.color, "color")));
    });
}

} // namespace entries
} // namespace pi::cuda
