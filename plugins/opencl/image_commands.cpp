// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on images. Commands on views are commands on their buffers: the vendor's image of a view
// is used by kernels only, since PoCL crashes when it copies or fills one.
#include "commands.hpp"
#include "entries.hpp"
#include "image.hpp"
#include "rectangle_copy.hpp"

#include <pi/sdk/image_region.hpp>
#include <pi/sdk/pixel.hpp>

namespace pi::opencl {

using namespace sdk;

namespace {

using Triple = std::array<size_t, 3>;

/// A box in the vendor's coordinates.
struct VendorBox {
    Triple origin, extent;
};
VendorBox vendor_box(const ImageBox &box, const ImageType &type) {
    const ImageBox vendors = with_layers_second(box, type);
    const Pixels &o = vendors.origin, &e = vendors.extent;
    return {{o[0], o[1], o[2]}, {e[0], e[1], e[2]}};
}
VendorBox vendor_box(const LinearImage &image, const Rectangle &pixels) {
    return vendor_box(image.box(pixels), *image.shape.type);
}

/// One slice of the pixels.
Rectangle slice_of(Rectangle pixels, uint64_t index) {
    pixels.offset += index * pixels.slice_pitch;
    pixels.slices = 1;
    return pixels;
}

/// Whether it consists of a buffer's bytes: a buffer, or a view of one as an image.
bool is_linear(const Mem &mem) {
    return !mem.image() || mem.is_view();
}

// ----- read and write ----------------------------------------------------------------------------

/// `Byte` is const for a write.
template <class Byte>
class ImageTransferCommand final : public VendorCommand {
public:
    ImageTransferCommand(Queue &queue, Mem &image, Byte *host, Regions &&regions)
        : VendorCommand(queue), image_(image), host_(host), regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        const Api &cl = queue().api();
        const LinearImage &image = *image_->image();
        for (const pi_region &region : regions_) {
            constexpr bool writes = std::is_const_v<Byte>;
            const Rectangle host = writes ? source(region) : destination(region);
            const VendorBox box = vendor_box(image, writes ? destination(region) : source(region));
            const VendorPitches pitches = vendor_pitches(*image.shape.type, host);
            const auto add = [&](const char *name, auto function) {
                // Not blocking: Intel's driver then returns early.
                submission.add(name, function, image_->id(), CL_FALSE, box.origin.data(),
                               box.extent.data(), pitches.row, pitches.slice, host_ + host.offset);
            };
            if constexpr (writes)
                add("clEnqueueWriteImage", cl.clEnqueueWriteImage);
            else
                add("clEnqueueReadImage", cl.clEnqueueReadImage);
        }
    }

    const Ref<Mem> image_;
    Byte *const host_;
    const Regions regions_;
};

/// The body of both entry points.
template <class Byte, class Desc>
void enqueue_transfer(Queue &queue, const Desc &known, const EnqueueArguments &arguments) {
    Mem &image = checked_image(queue.context(), queue.device(), known.image, "image");
    auto *const host = static_cast<Byte *>(require(known.host_ptr, "host_ptr"));
    constexpr bool writes = std::is_const_v<Byte>;
    Regions regions(read_byte_regions(known, *image.image(),
                                      writes ? ImageEnd::DESTINATION : ImageEnd::SOURCE));
    if (!is_linear(image))
        enqueue_vendor<ImageTransferCommand<Byte>>(queue, arguments, image, host,
                                                   std::move(regions));
    else if constexpr (writes)
        enqueue_write(queue, arguments, image, host, std::move(regions));
    else
        enqueue_read(queue, arguments, image, host, std::move(regions));
}

// ----- copy --------------------------------------------------------------------------------------

/// At least one end is an image that is not a view.
class ImageCopyCommand final : public VendorCommand {
public:
    ImageCopyCommand(Queue &queue, Mem &src, Mem &dst, Regions &&regions)
        : VendorCommand(queue), src_(src), dst_(dst), regions_(std::move(regions)) {}

private:
    void issue(Submission &submission) override {
        for (const pi_region &region : regions_) {
            const Rectangle from = source(region), to = destination(region);
            if (!is_linear(*src_) && !is_linear(*dst_))
                between_images(submission, from, to);
            else
                with_buffer(submission, from, to);
        }
    }

    void between_images(Submission &submission, const Rectangle &from, const Rectangle &to) {
        const LinearImage &src = *src_->image(), &dst = *dst_->image();
        const Device &device = queue().device();
        if ((src.shape.type != dst.shape.type && device.quirk(QUIRK_NO_UNLIKE_IMAGE_COPIES)) ||
            (&*src_ == &*dst_ && src.shape.type->layers &&
             device.quirk(QUIRK_NO_COPIES_WITHIN_ARRAYS)))
            return through_buffer(submission, from, to);
        if (vendor_box(src, from).extent == vendor_box(dst, to).extent)
            return images(submission, from, to);
        // One end has its layers in y, the other in z.
        for (uint64_t i = 0; i < from.slices; ++i)
            images(submission, slice_of(from, i), slice_of(to, i));
    }
    void images(Submission &submission, const Rectangle &from, const Rectangle &to) {
        const VendorBox src = vendor_box(*src_->image(), from),
                        dst = vendor_box(*dst_->image(), to);
        submission.add("clEnqueueCopyImage", queue().api().clEnqueueCopyImage, src_->id(),
                       dst_->id(), src.origin.data(), dst.origin.data(), src.extent.data());
    }

    void through_buffer(Submission &submission, const Rectangle &from, const Rectangle &to) {
        const Api &cl = queue().api();
        const size_t size = from.bytes();
        cl_int code = CL_SUCCESS;
        MemOwner staging(
            cl, cl.clCreateBuffer(queue().context().id(), CL_MEM_READ_WRITE, size, nullptr, &code));
        check(code, "clCreateBuffer", size, " bytes between two images on ",
              queue().device().name());
        to_buffer(submission, from, staging.get(), 0);
        submission.order();
        from_buffer(submission, staging.get(), 0, to);
        staging_.push_back(std::move(staging));
    }

    /// The vendor supports only dense pixels in a buffer.
    void with_buffer(Submission &submission, const Rectangle &from, const Rectangle &to) {
        const bool reads = is_linear(*dst_);
        const Rectangle &pixels = reads ? from : to, &bytes = reads ? to : from;
        const auto dense = [&](const Rectangle &part, uint64_t offset) {
            reads ? to_buffer(submission, part, dst_->root().id(), dst_->offset() + offset)
                  : from_buffer(submission, src_->root().id(), src_->offset() + offset, part);
        };
        if (bytes.dense())
            return dense(pixels, bytes.offset);
        const uint64_t staged =
            1 + (bytes.flat().slices_are_rows() ? 1 : std::min(bytes.rows, bytes.slices));
        if (bytes.slices <= staged && (bytes.rows == 1 || bytes.row_pitch == bytes.row)) {
            for (uint64_t i = 0; i < bytes.slices; ++i)
                dense(slice_of(pixels, i), bytes.offset + i * bytes.slice_pitch);
            return;
        }
        const BufferCopies::Staging staging = copies_.staging(queue(), bytes.bytes());
        for_each_part(pixels, bytes, {staging.size, staging.size, false, true},
                      [&](const Rectangle &part, Rectangle there) {
                          there.offset += reads ? dst_->offset() : src_->offset();
                          const BufferEnd buffer{(reads ? dst_ : src_)->root().id(), there};
                          const BufferEnd between{staging.mem, packed(part)};
                          submission.order(); // after the previous part
                          if (reads)
                              to_buffer(submission, part, staging.mem, 0);
                          else
                              copies_.copy(submission, buffer, between);
                          submission.order();
                          if (reads)
                              copies_.copy(submission, between, buffer);
                          else
                              from_buffer(submission, staging.mem, 0, part);
                      });
    }
    void to_buffer(Submission &submission, const Rectangle &pixels, cl_mem buffer, size_t offset) {
        const VendorBox from = vendor_box(*src_->image(), pixels);
        submission.add("clEnqueueCopyImageToBuffer", queue().api().clEnqueueCopyImageToBuffer,
                       src_->id(), buffer, from.origin.data(), from.extent.data(), offset);
    }
    void from_buffer(Submission &submission, cl_mem buffer, size_t offset,
                     const Rectangle &pixels) {
        const VendorBox to = vendor_box(*dst_->image(), pixels);
        submission.add("clEnqueueCopyBufferToImage", queue().api().clEnqueueCopyBufferToImage,
                       buffer, dst_->id(), offset, to.origin.data(), to.extent.data());
    }

    const Ref<Mem> src_, dst_;
    const Regions regions_;
    std::vector<MemOwner> staging_;
    BufferCopies copies_;
};

// ----- fill --------------------------------------------------------------------------------------

class ImageFillCommand final : public VendorCommand {
public:
    ImageFillCommand(Queue &queue, Mem &image, const void *color, const ImageBox &box)
        : VendorCommand(queue), image_(image), box_(box) {
        std::memcpy(color_.data(), color, sizeof color_);
    }

private:
    void issue(Submission &submission) override {
        const VendorBox box = vendor_box(box_, *image_->image()->shape.type);
        submission.add("clEnqueueFillImage", queue().api().clEnqueueFillImage, image_->id(),
                       color_.data(), box.origin.data(), box.extent.data());
    }

    const Ref<Mem> image_;
    const ImageBox box_;
    std::array<cl_uint, 4> color_;
};

} // namespace

// ----- entry points ------------------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piEnqueueMemImageRead(pi_queue queue, const pi_image_read_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_READ_DESC);
        enqueue_transfer<std::byte>(self, known,
                                    {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

pi_result PI_CALL piEnqueueMemImageWrite(pi_queue queue, const pi_image_write_desc *desc,
                                         uint32_t wait_count, const pi_event *wait_list,
                                         pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_WRITE_DESC);
        enqueue_transfer<const std::byte>(
            self, known, {known.flags, known.type, wait_count, wait_list, out_event});
    });
}

pi_result PI_CALL piEnqueueMemImageCopy(pi_queue queue, const pi_image_copy_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_COPY_DESC);
        Mem &src = checked_mem(self.context(), known.src, "src");
        Mem &dst = checked_mem(self.context(), known.dst, "dst");
        for (Mem *end : {&src, &dst})
            if (end->image())
                require_image_device(self.device(), end == &src ? "src" : "dst");
        Regions regions(read_byte_regions(known, src, dst));
        check_overlap(src, dst, {regions.data(), regions.size()});
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (is_linear(src) && is_linear(dst))
            enqueue_copy(self, arguments, src, dst, std::move(regions));
        else
            enqueue_vendor<ImageCopyCommand>(self, arguments, src, dst, std::move(regions));
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        Mem &image = checked_image(self.context(), self.device(), known.image, "image");
        require(known.color, "color");
        const ImageBox box = read_fill_box(known, image.image()->shape);
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (is_linear(image))
            enqueue_fill(self, arguments, image,
                         pack_color(image.image()->shape.format, known.color),
                         image.image()->bytes(box));
        else
            enqueue_vendor<ImageFillCommand>(self, arguments, image, known.color, box);
    });
}

} // namespace entries
} // namespace pi::opencl
