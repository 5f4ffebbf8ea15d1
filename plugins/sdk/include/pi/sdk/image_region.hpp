// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of images (pi_image_region, pi_image_copy_region): checks, and conversion to bytes where
// images are linear.
#pragma once

#include <pi/sdk/image.hpp>

#include <utility>

namespace pi::sdk {

using ImageBox = checks::Box;
using checks::ImageCopy;
using checks::ImageCopyEnds;
using checks::ImageTransfer;

/// An image with linear pixels, in memory or as a plugin's commands count them.
struct LinearImage {
    ImageShape shape;
    Rectangle pixels; ///< from the object's first byte (see read_image_pitches, ImageShape::dense)

    /// The bytes of a box of level 0.
    Rectangle bytes(const ImageBox &box) const {
        const uint64_t pixel = shape.format.bytes();
        return {pixels.offset + box.origin[2] * pixels.slice_pitch +
                    box.origin[1] * pixels.row_pitch + box.origin[0] * pixel,
                box.extent[0] * pixel,
                box.extent[1],
                box.extent[2],
                pixels.row_pitch,
                pixels.slice_pitch};
    }
    /// The box of these bytes, which are whole pixels.
    ImageBox box(const Rectangle &bytes) const {
        const uint64_t pixel = shape.format.bytes(), begin = bytes.offset - pixels.offset;
        const uint64_t in_slice = begin % pixels.slice_pitch;
        return {{in_slice % pixels.row_pitch / pixel, in_slice / pixels.row_pitch,
                 begin / pixels.slice_pitch},
                {bytes.row / pixel, bytes.rows, bytes.slices}};
    }
};

/// Converts a box to the convention that the layers of a 1-D array are the second axis.
inline ImageBox with_layers_second(ImageBox box, const ImageType &type) {
    if (type.layers && !type.height) {
        std::swap(box.origin[1], box.origin[2]);
        std::swap(box.extent[1], box.extent[2]);
    }
    return box;
}

/// PI_ERROR_INVALID_MEM_OBJECT unless the memory object is a buffer, or is an image, as required.
/// It has `image()`.
template <class Mem>
void require_buffer(const Mem &mem, const ArgumentName &name) {
    if (mem.image())
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is an image (", mem.image()->shape.type->name,
             "); a buffer is needed");
}
template <class Mem>
void require_image(const Mem &mem, const ArgumentName &name) {
    if (!mem.image())
        fail(PI_ERROR_INVALID_MEM_OBJECT, name, " is a buffer; an image is needed");
}

/// PI_MEM_INFO_PITCHES where the driver chooses the layout of images: only views of buffers have
/// pitches.
template <class Mem>
std::vector<uint64_t> view_pitches(const Mem &mem) {
    if (!mem.image())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "a linear buffer has no pitches");
    if (!mem.parent())
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "the driver lays an image out as it likes: only views of buffers have pitches");
    return image_pitches(mem.image()->shape, mem.image()->pixels);
}

/// Calls `copy(src_offset, dst_offset, bytes)` for each contiguous piece of two rectangles of equal
/// rows, as few as possible.
template <class Copy>
void for_each_piece(const Rectangle &from, const Rectangle &to, Copy &&copy) {
    if (from.dense() && to.dense())
        return copy(from.offset, to.offset, from.bytes());
    for (uint64_t i = 0; i < from.rows * from.slices; ++i)
        copy(from.row_offset(i), to.row_offset(i), from.row);
}

/// Reads the box of a fill.
inline ImageBox read_fill_box(const pi_image_fill_desc &desc, const ImageShape &image) {
    ImageBox box;
    enforce([&](checks::Check &check) { checks::read_fill_box(check, desc, image, box); });
    return box;
}

namespace detail {
/// Reads each region by `read(check, element, region, read region)` and converts it by `make`. A
/// command may have very many.
template <class Read, class Region, class Reader, class Make>
auto each_region(uint32_t count, const Region *regions, const Reader &read, const Make &make) {
    std::vector<decltype(make(Read{}))> made;
    enforce([&](checks::Check &check) {
        if (!checks::some_regions(check, count, regions))
            return;
        made.reserve(count);
        Read one;
        for (uint32_t i = 0; i < count && read(check, {"desc->regions", i}, regions[i], one); ++i)
            made.push_back(make(one));
    });
    return made;
}
template <class Make>
auto each_transfer(uint32_t count, const pi_image_region *regions, const ImageShape &image,
                   const Make &make) {
    return each_region<ImageTransfer>(
        count, regions,
        [&](checks::Check &check, const ArgumentName &element, const pi_image_region &region,
            ImageTransfer &out) {
            return checks::read_image_transfer(check, element, region, image, out);
        },
        make);
}
template <class Make>
auto each_copy(uint32_t count, const pi_image_copy_region *regions, const ImageCopyEnds &ends,
               const Make &make) {
    enforce<checks::check_image_copy_ends>(ends);
    return each_region<ImageCopy>(
        count, regions,
        [&](checks::Check &check, const ArgumentName &element, const pi_image_copy_region &region,
            ImageCopy &out) { return checks::read_image_copy(check, element, region, ends, out); },
        make);
}
} // namespace detail

/// Reads and checks the regions of a read or write of the image.
inline std::vector<ImageTransfer> read_image_regions(uint32_t count, const pi_image_region *regions,
                                                     const ImageShape &image) {
    return detail::each_transfer(count, regions, image,
                                 [](const ImageTransfer &transfer) { return transfer; });
}

/// The end of a transfer that is the image: SOURCE for a read, DESTINATION for a write.
enum class ImageEnd { SOURCE, DESTINATION };

/// Converts a transfer to bytes. `image` is the region's end that is the image; the other end is
/// host memory.
inline pi_region byte_region(const ImageTransfer &transfer, const LinearImage &of, ImageEnd image) {
    const Rectangle pixels = of.bytes(transfer.box);
    return image == ImageEnd::SOURCE ? region_of(pixels, transfer.host)
                                     : region_of(transfer.host, pixels);
}
inline std::vector<pi_region> byte_regions(const std::vector<ImageTransfer> &transfers,
                                           const LinearImage &of, ImageEnd image) {
    std::vector<pi_region> regions;
    regions.reserve(transfers.size());
    for (const ImageTransfer &transfer : transfers)
        regions.push_back(byte_region(transfer, of, image));
    return regions;
}

/// Reads and checks the regions of a read's or write's descriptor, and converts them to bytes.
template <class Desc>
std::vector<pi_region> read_byte_regions(const Desc &desc, const LinearImage &of, ImageEnd image) {
    return detail::each_transfer(
        desc.region_count, desc.regions, of.shape,
        [&](const ImageTransfer &transfer) { return byte_region(transfer, of, image); });
}

/// The ends of a copy between memory objects, which have `image()`, a LinearImage or NULL, and
/// `size()`.
template <class Mem>
ImageCopyEnds image_copy_ends(const Mem &src, const Mem &dst) {
    const auto shape = [](const Mem &mem) -> const ImageShape * {
        return mem.image() ? &mem.image()->shape : nullptr;
    };
    return {shape(src), shape(dst), (src.image() ? dst : src).size()};
}

/// Reads and checks the regions of a copy and its ends. The plugin checks overlap: it knows which
/// objects share storage.
inline std::vector<ImageCopy> read_image_copy_regions(uint32_t count,
                                                      const pi_image_copy_region *regions,
                                                      const ImageCopyEnds &ends) {
    return detail::each_copy(count, regions, ends, [](const ImageCopy &copy) { return copy; });
}

/// Converts a copy's region to bytes from each object's first byte. An end that is a buffer is
/// NULL.
inline pi_region byte_region(const ImageCopy &copy, const LinearImage *src,
                             const LinearImage *dst) {
    return region_of(src ? src->bytes(copy.src) : copy.buffer,
                     dst ? dst->bytes(copy.dst) : copy.buffer);
}
inline std::vector<pi_region> byte_regions(const std::vector<ImageCopy> &copies,
                                           const LinearImage *src, const LinearImage *dst) {
    std::vector<pi_region> regions;
    regions.reserve(copies.size());
    for (const ImageCopy &copy : copies)
        regions.push_back(byte_region(copy, src, dst));
    return regions;
}

/// Reads and checks the regions of a copy's descriptor between memory objects (see
/// image_copy_ends), and converts them to bytes. Does not check overlap.
template <class Mem>
std::vector<pi_region> read_byte_regions(const pi_image_copy_desc &desc, const Mem &src,
                                         const Mem &dst) {
    return detail::each_copy(
        desc.region_count, desc.regions, image_copy_ends(src, dst),
        [&](const ImageCopy &copy) { return byte_region(copy, src.image(), dst.image()); });
}

} // namespace pi::sdk
