// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The commands on images: those on buffers, with pixels as bytes.
#include "commands.hpp"
#include "entries.hpp"
#include "submission.hpp"

#include <pi/sdk/image_region.hpp>
#include <pi/sdk/pixel.hpp>

#include <algorithm>

namespace pi::cuda {

using namespace sdk;

namespace {

/// Memory of the queue's device for the duration of a command: the requested size, at most a
/// mebibyte; whole pixels of any format.
class Scratch {
public:
    Scratch(Primary &primary, uint64_t wanted)
        : size_(std::min(wanted, uint64_t{1} << 20)),
          memory_(Storage::pooled(primary, size_, cuda::min_alignment)), primary_(primary) {}
    CUdeviceptr address() const { return memory_.address(); }
    uint64_t size() const { return size_; }
    End end() const { return {memory_.address(), &primary_}; }

private:
    const uint64_t size_;
    const Storage memory_;
    Primary &primary_;
};

/// Paints pixels of one colour, then copies them: the driver cannot fill arrays. Also for views
/// whose rows have gaps.
class PaintCommand final : public StreamCommand {
public:
    PaintCommand(const Target &target, Mem &mem, const Rectangle &pixels,
                 std::vector<std::byte> pixel)
        : StreamCommand(target.queue), mem_(target, mem), pixels_(pixels), pixel_(std::move(pixel)),
          strip_(target.queue.primary(), pixels.bytes()) {}

private:
    void issue(Submission &submission) override {
        const uint64_t size = strip_.size();
        fill(submission, strip_.address(), {0, size, 1, 1, size, size}, pixel_);
        paint(submission, end_of(*mem_), pixels_, strip_.end(), size);
    }
    const CommandRef<Mem> mem_;
    const Rectangle pixels_;
    const std::vector<std::byte> pixel_;
    const Scratch strip_;
};

/// A copy within an array of 2-D layers: the driver's own copies read the layer that they write
/// (580.159 on an H200).
class LayersCommand final : public StreamCommand {
public:
    LayersCommand(const Target &target, Mem &mem, Regions &&regions)
        : StreamCommand(target.queue), mem_(target, mem), regions_(std::move(regions)),
          between_(target.queue.primary(), largest(regions_)) {}

private:
    static uint64_t largest(const Regions &regions) {
        uint64_t bytes = 0;
        for (const pi_region &region : regions)
            bytes = std::max(bytes, source(region).bytes());
        return bytes;
    }
    void issue(Submission &submission) override {
        copy_within(submission, end_of(*mem_), regions_, between_.end(), between_.size());
    }
    const CommandRef<Mem> mem_;
    const Regions regions_;
    const Scratch between_;
};

} // namespace

namespace entries {

pi_result PI_CALL piEnqueueMemImageRead(pi_queue queue, const pi_image_read_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_READ_DESC);
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
        Mem &src = checked<Mem>(self.host(), known.src, "src");
        Mem &dst = checked<Mem>(self.host(), known.dst, "dst");
        check_copy(self, src, dst);
        Regions regions(read_byte_regions(known, src, dst));
        check_overlap(regions, src, dst);
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (&src == &dst && src.array() && src.image()->shape.type->type == PI_IMAGE_2D_ARRAY)
            enqueue_stream<LayersCommand>(self, arguments, src, std::move(regions));
        else
            enqueue_copy(self, arguments, src, dst, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        Mem &mem = checked_image(self.primary(), self.host(), known.image, "image");
        const LinearImage &image = *mem.image();
        const Rectangle pixels = image.bytes(read_fill_box(known, image.shape));
        auto color = pack_color(image.shape.format, require(known.color, "color"));
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (!mem.array() && pixels.dense())
            enqueue_fill(self, arguments, mem, std::move(color), pixels.offset, pixels.bytes());
        else
            enqueue_stream<PaintCommand>(self, arguments, mem, pixels, std::move(color));
    });
}

} // namespace entries
} // namespace pi::cuda
