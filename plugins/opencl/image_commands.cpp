// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on images. Those on views are commands on their buffers: the vendor's image of a view is for kernels only,
// since PoCL crashes when it copies or fills one.
#include "commands.hpp"
#include "entries.hpp"
#include "image.hpp"

#include <pi/sdk/image_region.hpp>
#include <pi/sdk/pixel.hpp>

namespace pi::opencl {

using namespace sdk;

namespace {

using Triple = std::array<size_t, 3>;

/// A box in the vendor's words.
struct VendorBox {
    Triple origin, extent;
};
VendorBox vendor_box(const ImageBox &box, const ImageType &type) {
    const ImageBox vendors = with_layers_second(box, type);
    const Pixels &o = vendors.origin, &e = vendors.extent;
    return {{o[0], o[1], o[2]}, {e[0], e[1], e[2]}};
}

/// The slice `index` of a box.
ImageBox slice_of(ImageBox box, uint64_t index) {
    box.origin[2] += index;
    box.extent[2] = 1;
    return box;
}
ImageBox row_of(ImageBox box, uint64_t index) {
    box.origin[1] += index;
    box.extent[1] = 1;
    return box;
}

/// Whether it is bytes of a buffer: a buffer, or a view of one as an image.
bool is_linear(const Mem &mem) {
    return !mem.image() || mem.is_view();
}

// ----- read and write -----------------------------------------------------------------------------

/// `Byte` is const for a write.
template <class Byte>
class ImageTransferCommand final : public VendorCommand {
public:
    ImageTransferCommand(Queue &queue, Mem &image, Byte *host, std::vector<ImageTransfer> transfers)
        : VendorCommand(queue), image_(image), host_(host), transfers_(std::move(transfers)) {}

private:
    void issue(Submission &submission) override {
        const Api &cl = queue().api();
        const ImageType &type = *image_->image()->shape.type;
        for (const ImageTransfer &transfer : transfers_) {
            const VendorBox box = vendor_box(transfer.box, type);
            const VendorPitches pitches = vendor_pitches(type, transfer.host);
            const auto add = [&](const char *name, auto function) {
                // Blocking, Intel's driver returns early.
                submission.add(name, function, image_->id(), CL_FALSE, box.origin.data(),
                               box.extent.data(), pitches.row, pitches.slice,
                               host_ + transfer.host.offset);
            };
            if constexpr (std::is_const_v<Byte>)
                add("clEnqueueWriteImage", cl.clEnqueueWriteImage);
            else
                add("clEnqueueReadImage", cl.clEnqueueReadImage);
        }
    }

    const Ref<Mem> image_;
    Byte *const host_;
    const std::vector<ImageTransfer> transfers_;
};

/// Both entry points.
template <class Byte, class Desc>
void enqueue_transfer(Queue &queue, const Desc &known, const EnqueueArguments &arguments) {
    check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
    Mem &image = checked_image(queue.context(), queue.device(), known.image, "image");
    auto *const host = static_cast<Byte *>(require(known.host_ptr, "host_ptr"));
    auto transfers = read_image_regions(known.region_count, known.regions, image.image()->shape);
    if (!is_linear(image))
        return enqueue_vendor<ImageTransferCommand<Byte>>(queue, arguments, image, host,
                                                          std::move(transfers));
    const auto regions = [&](ImageEnd end) {
        return Regions(byte_regions(transfers, *image.image(), end));
    };
    if constexpr (std::is_const_v<Byte>)
        enqueue_write(queue, arguments, image, host, regions(ImageEnd::DESTINATION));
    else
        enqueue_read(queue, arguments, image, host, regions(ImageEnd::SOURCE));
}

// ----- copy ---------------------------------------------------------------------------------------

/// One end at least is no view.
class ImageCopyCommand final : public VendorCommand {
public:
    ImageCopyCommand(Queue &queue, Mem &src, Mem &dst, std::vector<ImageCopy> copies)
        : VendorCommand(queue), src_(src), dst_(dst), copies_(std::move(copies)) {}

private:
    void issue(Submission &submission) override {
        for (const ImageCopy &copy : copies_) {
            if (!is_linear(*src_) && !is_linear(*dst_))
                between_images(submission, copy);
            else
                with_buffer(submission, copy);
        }
    }

    void between_images(Submission &submission, const ImageCopy &copy) {
        const ImageType &from = *src_->image()->shape.type, &to = *dst_->image()->shape.type;
        const Device &device = queue().device();
        if ((&from != &to && device.quirk(QUIRK_NO_UNLIKE_IMAGE_COPIES)) ||
            (&*src_ == &*dst_ && from.layers && device.quirk(QUIRK_NO_COPIES_WITHIN_ARRAYS)))
            return through_buffer(submission, copy);
        if (vendor_box(copy.src, from).extent == vendor_box(copy.dst, to).extent)
            return images(submission, copy.src, copy.dst);
        // One end counts its layers in y, the other in z.
        for (uint64_t i = 0; i < copy.src.extent[2]; ++i)
            images(submission, slice_of(copy.src, i), slice_of(copy.dst, i));
    }
    void images(Submission &submission, const ImageBox &from, const ImageBox &to) {
        const VendorBox src = vendor_box(from, *src_->image()->shape.type);
        const VendorBox dst = vendor_box(to, *dst_->image()->shape.type);
        submission.add("clEnqueueCopyImage", queue().api().clEnqueueCopyImage, src_->id(),
                       dst_->id(), src.origin.data(), dst.origin.data(), src.extent.data());
    }

    void through_buffer(Submission &submission, const ImageCopy &copy) {
        const Api &cl = queue().api();
        const Image &image = *src_->image();
        const Pixels &extent = copy.src.extent;
        const size_t size = extent[0] * extent[1] * extent[2] * image.shape.format.bytes();
        cl_int code = CL_SUCCESS;
        MemOwner staging(
            cl, cl.clCreateBuffer(queue().context().id(), CL_MEM_READ_WRITE, size, nullptr, &code));
        check(code, "clCreateBuffer", size, " bytes between two images on ",
              queue().device().name());
        const VendorBox from = vendor_box(copy.src, *image.shape.type);
        const VendorBox to = vendor_box(copy.dst, *dst_->image()->shape.type);
        submission.add("clEnqueueCopyImageToBuffer", cl.clEnqueueCopyImageToBuffer, src_->id(),
                       staging.get(), from.origin.data(), from.extent.data(), size_t{0});
        submission.order();
        submission.add("clEnqueueCopyBufferToImage", cl.clEnqueueCopyBufferToImage, staging.get(),
                       dst_->id(), size_t{0}, to.origin.data(), to.extent.data());
        staging_.push_back(std::move(staging));
    }

    /// The vendor only knows dense pixels in a buffer.
    void with_buffer(Submission &submission, const ImageCopy &copy) {
        const bool reads = is_linear(*dst_);
        const ImageBox &box = reads ? copy.src : copy.dst;
        const pi_region region = byte_region(copy, src_->image(), dst_->image());
        const Rectangle bytes = reads ? destination(region) : source(region);
        if (bytes.dense())
            return dense(submission, box, bytes.offset);
        for (uint64_t z = 0; z < bytes.slices; ++z) {
            const ImageBox slice = slice_of(box, z);
            const uint64_t begin = bytes.offset + z * bytes.slice_pitch;
            if (bytes.rows == 1 || bytes.row_pitch == bytes.row)
                dense(submission, slice, begin);
            else
                for (uint64_t y = 0; y < bytes.rows; ++y)
                    dense(submission, row_of(slice, y), begin + y * bytes.row_pitch);
        }
    }
    void dense(Submission &submission, const ImageBox &box, uint64_t offset) {
        const Api &cl = queue().api();
        if (is_linear(*dst_)) {
            const VendorBox from = vendor_box(box, *src_->image()->shape.type);
            submission.add("clEnqueueCopyImageToBuffer", cl.clEnqueueCopyImageToBuffer, src_->id(),
                           dst_->root().id(), from.origin.data(), from.extent.data(),
                           dst_->offset() + offset);
        } else {
            const VendorBox to = vendor_box(box, *dst_->image()->shape.type);
            submission.add("clEnqueueCopyBufferToImage", cl.clEnqueueCopyBufferToImage,
                           src_->root().id(), dst_->id(), src_->offset() + offset, to.origin.data(),
                           to.extent.data());
        }
    }

    const Ref<Mem> src_, dst_;
    const std::vector<ImageCopy> copies_;
    std::vector<MemOwner> staging_;
};

/// PI_ERROR_MEM_COPY_OVERLAP if a region's ends share a pixel of one image or a byte of one buffer.
void check_overlap(Mem &src, Mem &dst, std::span<const ImageCopy> copies) {
    if (!src.may_share_storage(dst))
        return;
    const auto in_storage = [](const Mem &mem, Rectangle bytes) {
        bytes.offset += mem.offset() + mem.storage_begin();
        return bytes;
    };
    for (const ImageCopy &copy : copies) {
        const pi_region region = byte_region(copy, src.image(), dst.image());
        if (overlap(in_storage(src, source(region)), in_storage(dst, destination(region))))
            fail(PI_ERROR_MEM_COPY_OVERLAP, "a region's source (pixels {", copy.src.origin[0], ", ",
                 copy.src.origin[1], ", ", copy.src.origin[2],
                 "} on) overlaps its destination (pixels {", copy.dst.origin[0], ", ",
                 copy.dst.origin[1], ", ", copy.dst.origin[2],
                 "} on): src and dst share their storage");
    }
}

// ----- fill ---------------------------------------------------------------------------------------

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

// ----- entry points -------------------------------------------------------------------------------

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
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &src = checked_mem(self.context(), known.src, "src");
        Mem &dst = checked_mem(self.context(), known.dst, "dst");
        for (Mem *end : {&src, &dst})
            if (end->image())
                require_image_device(self.device(), end == &src ? "src" : "dst");
        auto copies =
            read_image_copy_regions(known.region_count, known.regions, image_copy_ends(src, dst));
        check_overlap(src, dst, copies);
        const EnqueueArguments arguments{known.flags, known.type, wait_count, wait_list, out_event};
        if (!is_linear(src) || !is_linear(dst))
            return enqueue_vendor<ImageCopyCommand>(self, arguments, src, dst, std::move(copies));
        enqueue_copy(self, arguments, src, dst,
                     Regions(byte_regions(copies, src.image(), dst.image())));
    });
}

pi_result PI_CALL piEnqueueMemImageFill(pi_queue queue, const pi_image_fill_desc *desc,
                                        uint32_t wait_count, const pi_event *wait_list,
                                        pi_event *out_event) {
    return call<Queue>(queue, [&](Queue &self) {
        const auto known = read_desc(desc, PI_TYPE_IMAGE_FILL_DESC);
        check_flags(known.flags, PI_COMMAND_BLOCKING, "flags");
        Mem &image = checked_image(self.context(), self.device(), known.image, "image");
        require(known.color, "color");
        const ImageBox box = read_box(image.image()->shape, known.origin, known.extent, 0, "image");
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
