// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions of images (pi_image_region, pi_image_copy_region): checks, and conversion to bytes where
// images are linear.
#pragma once

#include <pi/sdk/image.hpp>

#include <utility>

namespace pi::sdk {

/// A checked box of an image; no extent is 0.
struct ImageBox {
    Pixels origin{};
    Pixels extent{1, 1, 1};
    uint32_t mip_level = 0;
};

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

/// Whether two boxes of one image share a pixel.
inline bool overlap(const ImageBox &a, const ImageBox &b) {
    for (size_t axis = 0; axis < 3; ++axis)
        if (a.origin[axis] + a.extent[axis] <= b.origin[axis] ||
            b.origin[axis] + b.extent[axis] <= a.origin[axis])
            return false;
    return a.mip_level == b.mip_level;
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

namespace detail {
inline Pixels filled_extent(const uint64_t (&extent)[3]) {
    if (!extent[0])
        fail(PI_ERROR_INVALID_SIZE, "a region's extent[0] is 0 pixels; at least 1 is needed");
    return {extent[0], extent[1] ? extent[1] : 1, extent[2] ? extent[2] : 1};
}
inline void check_no_origin(const uint64_t (&origin)[3], uint32_t mip_level, const char *end) {
    if (origin[0] || origin[1] || origin[2] || mip_level)
        fail(PI_ERROR_INVALID_VALUE, "a region's ", end, "_origin is {", origin[0], ", ", origin[1],
             ", ", origin[2], "} and its ", end, "_mip_level ", mip_level, ", but ", end,
             " is a buffer: all must be 0");
}
inline void check_region_count(uint32_t count) {
    if (!count)
        fail(PI_ERROR_INVALID_SIZE, "region_count is 0; at least 1 is needed");
}
inline void check_reserved(uint64_t reserved) {
    if (reserved)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "a region's reserved word is ", reserved,
             "; it must be 0");
}
} // namespace detail

/// Reads a box of the image. `end` names the image in messages.
inline ImageBox read_box(const ImageShape &image, const uint64_t (&origin)[3],
                         const uint64_t (&extent)[3], uint32_t mip_level, const char *end) {
    static constexpr const char *axes[] = {"width", "height", "depth"};
    const Pixels pixels = detail::filled_extent(extent);
    if (mip_level >= image.mip_levels)
        fail(PI_ERROR_INVALID_VALUE, "a region's mip level is ", mip_level, "; ", end, " has ",
             image.mip_levels, ", numbered from 0");
    const Pixels limit = image.level(mip_level);
    for (size_t axis = 0; axis < 3; ++axis)
        if (origin[axis] > limit[axis] || pixels[axis] > limit[axis] - origin[axis])
            fail(PI_ERROR_INVALID_SIZE, "a region of ", pixels[axis], " pixels from ", origin[axis],
                 " goes past the end of ", end, ", whose ",
                 axis == 2 && image.type->layers ? "array_size" : axes[axis], " is ", limit[axis]);
    return {{origin[0], origin[1], origin[2]}, pixels, mip_level};
}

/// The bytes of an image transfer's other end, in host memory or a buffer.
inline Rectangle read_linear_end(const Pixels &extent, const PixelFormat &format, uint64_t offset,
                                 uint64_t row_pitch, uint64_t slice_pitch, const char *end) {
    const uint64_t bytes[3] = {detail::multiply(extent[0], format.bytes(), "a region's row"),
                               extent[1], extent[2]};
    const uint64_t pitch[2] = {row_pitch, slice_pitch};
    return detail::rectangle(offset, bytes, pitch, end);
}

/// A region of a read or write.
struct ImageTransfer {
    ImageBox box;
    Rectangle host; ///< relative to host_ptr
};

namespace detail {
inline ImageTransfer image_transfer(const pi_image_region &region, const ImageShape &image) {
    for (const uint32_t word : region.reserved)
        check_reserved(word);
    const ImageBox box = read_box(image, region.origin, region.extent, region.mip_level, "image");
    return {box, read_linear_end(box.extent, image.format, region.offset, region.row_pitch,
                                 region.slice_pitch, "host")};
}

/// Converts each region by `make`. A command may have very many.
template <class Region, class Make>
auto each_region(uint32_t count, const Region *regions, const Make &make) {
    check_region_count(count);
    const auto given = read_array(count, regions, "regions");
    std::vector<decltype(make(given[0]))> made;
    made.reserve(count);
    for (const Region &region : given)
        made.push_back(make(region));
    return made;
}
} // namespace detail

/// Reads and checks the regions of a read or write of the image.
inline std::vector<ImageTransfer> read_image_regions(uint32_t count, const pi_image_region *regions,
                                                     const ImageShape &image) {
    return detail::each_region(count, regions, [&](const pi_image_region &region) {
        return detail::image_transfer(region, image);
    });
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
    return detail::each_region(desc.region_count, desc.regions, [&](const pi_image_region &region) {
        return byte_region(detail::image_transfer(region, of.shape), of, image);
    });
}

/// A region of a copy. The box of an end that is a buffer is unused; between two images `buffer` is
/// unused.
struct ImageCopy {
    ImageBox src;
    ImageBox dst;
    Rectangle buffer;
};

/// The ends of a copy: images, or NULL for a buffer of that size.
struct ImageCopyEnds {
    const ImageShape *src;
    const ImageShape *dst;
    uint64_t buffer_size = 0;
};

/// The ends of a copy between memory objects, which have `image()`, a LinearImage or NULL, and
/// `size()`.
template <class Mem>
ImageCopyEnds image_copy_ends(const Mem &src, const Mem &dst) {
    const auto shape = [](const Mem &mem) { return mem.image() ? &mem.image()->shape : nullptr; };
    return {shape(src), shape(dst), (src.image() ? dst : src).size()};
}

/// Checks that the ends can be copied: at least one is an image, and two images have the same
/// format.
inline void check_image_copy_ends(const ImageCopyEnds &ends) {
    if (!ends.src && !ends.dst)
        fail(PI_ERROR_INVALID_MEM_OBJECT, "src and dst are buffers; one at least is to be an image "
                                          "(piEnqueueMemBufferCopy copies between buffers)");
    if (ends.src && ends.dst && ends.src->format != ends.dst->format)
        fail(PI_ERROR_INVALID_VALUE, "src has pixels of ", ends.src->format, ", dst of ",
             ends.dst->format, "; images that are copied have one format");
}

namespace detail {
inline ImageCopy image_copy(const pi_image_copy_region &region, const ImageCopyEnds &ends) {
    check_reserved(region.reserved);
    ImageCopy copy;
    if (ends.src)
        copy.src =
            read_box(*ends.src, region.src_origin, region.extent, region.src_mip_level, "src");
    else
        check_no_origin(region.src_origin, region.src_mip_level, "src");
    if (ends.dst)
        copy.dst =
            read_box(*ends.dst, region.dst_origin, region.extent, region.dst_mip_level, "dst");
    else
        check_no_origin(region.dst_origin, region.dst_mip_level, "dst");
    if (ends.src && ends.dst) {
        if (region.buffer_offset || region.buffer_row_pitch || region.buffer_slice_pitch)
            fail(PI_ERROR_INVALID_VALUE, "a region's buffer words are {", region.buffer_offset,
                 ", ", region.buffer_row_pitch, ", ", region.buffer_slice_pitch,
                 "}, but both ends are images: all must be 0");
        return copy;
    }
    const ImageShape &image = ends.src ? *ends.src : *ends.dst;
    copy.buffer = read_linear_end(filled_extent(region.extent), image.format, region.buffer_offset,
                                  region.buffer_row_pitch, region.buffer_slice_pitch, "buffer");
    check_within(copy.buffer, ends.buffer_size, "the buffer");
    return copy;
}
} // namespace detail

/// Reads and checks the regions of a copy and its ends. The plugin checks overlap: it knows which
/// objects share storage.
inline std::vector<ImageCopy> read_image_copy_regions(uint32_t count,
                                                      const pi_image_copy_region *regions,
                                                      const ImageCopyEnds &ends) {
    check_image_copy_ends(ends);
    return detail::each_region(count, regions, [&](const pi_image_copy_region &region) {
        return detail::image_copy(region, ends);
    });
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
    const ImageCopyEnds ends = image_copy_ends(src, dst);
    check_image_copy_ends(ends);
    return detail::each_region(
        desc.region_count, desc.regions, [&](const pi_image_copy_region &region) {
            return byte_region(detail::image_copy(region, ends), src.image(), dst.image());
        });
}

} // namespace pi::sdk
