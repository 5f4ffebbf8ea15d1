// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: shapes and layouts from descriptors, and the boxes of regions.
#pragma once

#include <pi/describe/checks/memory.hpp>
#include <pi/describe/checks/region.hpp>
#include <pi/describe/pixel.hpp>

#include <array>

namespace pi::checks {

using describe::pixel_bytes;

/// A type of images: which members of a descriptor it uses.
struct ImageType {
    pi_image_type type;
    const char *name;
    bool height, depth, layers;

    bool has_slices() const noexcept { return depth || layers; }
    /// The number of pitches in PI_MEM_INFO_PITCHES: of pixels, and of each further axis.
    uint32_t pitch_count() const noexcept { return 1u + height + has_slices(); }
};
inline constexpr ImageType image_types[] = {
    {PI_IMAGE_1D, "PI_IMAGE_1D", false, false, false},
    {PI_IMAGE_2D, "PI_IMAGE_2D", true, false, false},
    {PI_IMAGE_3D, "PI_IMAGE_3D", true, true, false},
    {PI_IMAGE_1D_ARRAY, "PI_IMAGE_1D_ARRAY", false, false, true},
    {PI_IMAGE_2D_ARRAY, "PI_IMAGE_2D_ARRAY", true, false, true},
};
/// nullptr for an unknown type.
inline const ImageType *image_type_of(pi_image_type type) noexcept {
    for (const ImageType &row : image_types) {
        if (row.type == type)
            return &row;
    }
    return nullptr;
}

/// Pixels on each axis: {width, height, depth or layers}.
using Pixels = std::array<uint64_t, 3>;

/// Type, format and extents of a checked image.
struct ImageShape {
    const ImageType *type = nullptr; ///< nullptr: unknown
    pi_channel_order order = 0;
    pi_channel_type channel = 0;
    Pixels extent{1, 1, 1}; ///< 1 on an axis that the type does not have
    uint32_t mip_levels = 1;

    /// The bytes of a pixel.
    uint32_t pixel() const noexcept { return pixel_bytes(order, channel); }
    /// The extents of a level; the number of layers does not change.
    Pixels level(uint32_t mip_level) const noexcept {
        const auto shrink = [=](uint64_t pixels) {
            const uint64_t shrunk = mip_level < 64 ? pixels >> mip_level : 0;
            return shrunk != 0 ? shrunk : 1;
        };
        return {shrink(extent[0]), shrink(extent[1]), type->layers ? extent[2] : shrink(extent[2])};
    }
    /// The bytes of all pixels of level 0 without gaps: PI_MEM_INFO_SIZE.
    uint64_t bytes() const noexcept { return extent[0] * extent[1] * extent[2] * pixel(); }
    /// Its pixels without gaps.
    Rectangle dense() const noexcept {
        const uint64_t row = extent[0] * pixel();
        return {0, row, extent[1], extent[2], row, row * extent[1]};
    }
};

/// False for a vendor's own type or format (PI_VENDOR_BIT), whose pixels are unknown here.
inline bool is_known_image(const pi_mem_image_desc &desc) noexcept {
    return image_type_of(desc.image_type) != nullptr &&
           pixel_bytes(desc.channel_order, desc.channel_type) != 0;
}

/// The shape of a checked and known descriptor.
inline ImageShape shape_of(const pi_mem_image_desc &desc) noexcept {
    const ImageType &type = *image_type_of(desc.image_type);
    return {&type,
            desc.channel_order,
            desc.channel_type,
            {desc.width, type.height ? desc.height : 1,
             type.layers  ? desc.array_size
             : type.depth ? desc.depth
                          : 1},
            desc.mip_levels != 0 ? desc.mip_levels : 1};
}

namespace detail {
inline void check_axis(Check &check, const Name &name, uint64_t given, bool has,
                       const ImageType &type) noexcept {
    if (has && given == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, name, "is 0; {} needs at least 1 pixel", type.name);
    if (!has && given != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, name, "is {}; {} has no such axis, so it must be 0",
                     given, type.name);
}
} // namespace detail

inline void check_image_type(Check &check, pi_image_type type) noexcept {
    check.enumeration(type, PI_ENUMERATOR(PI_IMAGE_1D), PI_ENUMERATOR(PI_IMAGE_2D_ARRAY),
                      {"desc->image_type"});
}

/// Type, format and extents of a descriptor. The plugin checks its devices' limits. False if it is
/// refused, or unknown.
inline bool read_shape(Check &check, const pi_mem_image_desc &desc, ImageShape &out) noexcept {
    check_image_type(check, desc.image_type);
    check.enumeration(desc.channel_order, PI_ENUMERATOR(PI_CHANNEL_ORDER_R),
                      PI_ENUMERATOR(PI_CHANNEL_ORDER_BGRA), {"desc->channel_order"});
    check.enumeration(desc.channel_type, PI_ENUMERATOR(PI_CHANNEL_UNORM8),
                      PI_ENUMERATOR(PI_CHANNEL_FLOAT), {"desc->channel_type"});
    if (check.failed() || !is_known_image(desc))
        return false;
    out = shape_of(desc);
    const ImageType &type = *out.type;
    detail::check_axis(check, {"desc->width"}, desc.width, true, type);
    detail::check_axis(check, {"desc->height"}, desc.height, type.height, type);
    detail::check_axis(check, {"desc->depth"}, desc.depth, type.depth, type);
    detail::check_axis(check, {"desc->array_size"}, desc.array_size, type.layers, type);
    uint64_t bytes = out.pixel();
    for (const uint64_t pixels : out.extent) {
        if (__builtin_mul_overflow(bytes, pixels, &bytes))
            check.refuse(PI_ERROR_INVALID_SIZE, {"desc->width"},
                         "is {}; with the other axes the image's bytes exceed 64 bits", desc.width);
    }
    return !check.failed();
}

/// The layout of the pixels of host_ptr or of a viewed buffer from `desc.offset` on, with the
/// defaults filled in; PI_ERROR_INVALID_SIZE for impossible pitches. False if it is refused.
inline bool read_pitches(Check &check, const pi_mem_image_desc &desc, const ImageShape &shape,
                         Rectangle &out) noexcept {
    constexpr End names = {"desc->offset", "desc->row_pitch", "desc->slice_pitch",
                           false,          "the image",       "the image's extent"};
    if (desc.slice_pitch != 0 && !shape.type->has_slices())
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->slice_pitch"},
                     "is {}; {} has no slices, so it must be 0", desc.slice_pitch,
                     shape.type->name);
    if (desc.row_pitch % shape.pixel() != 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->row_pitch"},
                     "is {}; a multiple of a pixel's {} bytes is needed", desc.row_pitch,
                     shape.pixel());
    const uint64_t bytes[3] = {shape.extent[0] * shape.pixel(), shape.extent[1], shape.extent[2]};
    if (!read_rectangle(check, {""}, names, desc.offset, bytes, desc.row_pitch, desc.slice_pitch,
                        out))
        return false;
    if (desc.slice_pitch != 0)
        out.slice_pitch = desc.slice_pitch;
    if (out.slice_pitch % out.row_pitch != 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->slice_pitch"},
                     "is {}; a multiple of the row pitch, {}, is needed", desc.slice_pitch,
                     out.row_pitch);
    return !check.failed();
}

/// A descriptor of piMemImageCreate. `pixels`: the layout of host_ptr, dense without one.
inline void check_image_create(Check &check, const pi_mem_image_desc &desc, const ImageShape &shape,
                               Rectangle &pixels) noexcept {
    check.flags(desc.flags, mem_create_flags, {"desc->flags"});
    check_access(check, desc.flags);
    check_host_ptr(check, desc.flags, desc.host_ptr);
    if (desc.offset != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->offset"},
                     "is {}; only a view of a buffer has an offset, so it must be 0", desc.offset);
    if (desc.host_ptr == nullptr && desc.row_pitch != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->row_pitch"},
                     "is {}; without host_ptr it must be 0", desc.row_pitch);
    if (desc.host_ptr == nullptr && desc.slice_pitch != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->slice_pitch"},
                     "is {}; without host_ptr it must be 0", desc.slice_pitch);
    read_pitches(check, desc, shape, pixels);
}

/// A device's alignments of views of buffers as images, in bytes.
struct ViewAlignment {
    uint64_t offset = 1;
    uint64_t pitch = 1;
};

/// A descriptor of piMemImageViewCreate for a buffer of `size` bytes and flags `inherited`.
/// `pixels`: their layout from the buffer's begin.
inline void check_image_view(Check &check, const pi_mem_image_desc &desc, const ImageShape &shape,
                             uint64_t size, uint64_t inherited, const ViewAlignment &alignment,
                             Rectangle &pixels) noexcept {
    check_view_access(check, desc.flags, inherited);
    if (desc.host_ptr != nullptr)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->host_ptr"},
                     "is {}; a view uses the bytes of its buffer, so it must be NULL",
                     desc.host_ptr);
    if (desc.scope != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->scope"},
                     "is {}; a view is in the scope of its buffer, so it must be 0", desc.scope);
    if (!read_pitches(check, desc, shape, pixels))
        return;
    if (desc.offset % alignment.offset != 0)
        check.refuse(PI_ERROR_MISALIGNED_OFFSET, {"desc->offset"},
                     "is {}; the device's views of buffers begin at multiples of {} bytes",
                     desc.offset, alignment.offset);
    if (shape.type->pitch_count() > 1 && pixels.row_pitch % alignment.pitch != 0)
        check.refuse(PI_ERROR_MISALIGNED_OFFSET, {"desc->row_pitch"},
                     "is {}; the device's views of buffers have rows at multiples of {} bytes",
                     pixels.row_pitch, alignment.pitch);
    if (pixels.end() > size)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->offset"},
                     "is {}; its pixels end at byte {}, and mem has {} bytes", desc.offset,
                     pixels.end(), size);
}

// ----- Regions -----------------------------------------------------------------------------------

/// A part of an image; no extent is 0.
struct Box {
    Pixels origin{};
    Pixels extent{1, 1, 1};
    uint32_t mip_level = 0;
};
/// Whether two boxes of one image share a pixel.
inline bool overlap(const Box &a, const Box &b) noexcept {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (a.origin[axis] + a.extent[axis] <= b.origin[axis] ||
            b.origin[axis] + b.extent[axis] <= a.origin[axis])
            return false;
    }
    return a.mip_level == b.mip_level;
}

/// The names of a box's members.
struct BoxNames {
    const char *origin;
    const char *mip_level;
    const char *memory; ///< "desc->image"
};

/// A box of an image. False if it is refused.
inline bool read_box(Check &check, const Name &element, const BoxNames &names,
                     const ImageShape &image, const uint64_t (&origin)[3],
                     const uint64_t (&extent)[3], uint32_t mip_level, Box &out) noexcept {
    constexpr const char *axes[] = {"width", "height", "depth"};
    out = {{origin[0], origin[1], origin[2]},
           {extent[0], extent[1] != 0 ? extent[1] : 1, extent[2] != 0 ? extent[2] : 1},
           mip_level};
    if (out.extent[0] == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, element.at("extent", 0),
                     "is 0 pixels; at least 1 is needed");
    if (mip_level >= image.mip_levels)
        check.refuse(PI_ERROR_INVALID_VALUE, element.at(names.mip_level),
                     "is {}; {} has {} mip levels, counted from 0", mip_level, names.memory,
                     image.mip_levels);
    const Pixels limit = image.level(mip_level);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (origin[axis] > limit[axis] || out.extent[axis] > limit[axis] - origin[axis])
            check.refuse(PI_ERROR_INVALID_SIZE,
                         element.at(names.origin, static_cast<int64_t>(axis)),
                         "is {}; with {} pixels it goes past the end of {}, whose {} is {}",
                         origin[axis], out.extent[axis], names.memory,
                         axis == 2 && image.type->layers ? "array_size" : axes[axis], limit[axis]);
    }
    return !check.failed();
}

/// The box of a fill.
inline bool read_fill_box(Check &check, const pi_image_fill_desc &desc, const ImageShape &image,
                          Box &out) noexcept {
    constexpr BoxNames names = {"origin", "", "desc->image"};
    return read_box(check, {"desc->"}, names, image, desc.origin, desc.extent, 0, out);
}

/// The linear bytes of a checked box, in host memory or a buffer. False if it is refused.
inline bool read_linear_end(Check &check, const Name &element, const End &end, const Box &box,
                            const ImageShape &image, uint64_t offset, uint64_t row_pitch,
                            uint64_t slice_pitch, Rectangle &out) noexcept {
    // It is inside the image, so this does not overflow.
    const uint64_t bytes[3] = {box.extent[0] * image.pixel(), box.extent[1], box.extent[2]};
    return read_rectangle(check, element, end, offset, bytes, row_pitch, slice_pitch, out);
}

inline constexpr End image_host_end = {"offset", "row_pitch", "slice_pitch", false,
                                       "desc->host_ptr"};

/// A region of a read or write: the image's box, and the bytes from host_ptr on.
struct ImageTransfer {
    Box box;
    Rectangle host;
};

/// Does not know where host_ptr's memory ends. False if it is refused.
inline bool read_image_transfer(Check &check, const Name &element, const pi_image_region &region,
                                const ImageShape &image, ImageTransfer &out) noexcept {
    constexpr BoxNames image_names = {"origin", "mip_level", "desc->image"};
    for (const uint32_t word : region.reserved)
        check.reserved(word, element.at("reserved"));
    return read_box(check, element, image_names, image, region.origin, region.extent,
                    region.mip_level, out.box) &&
           read_linear_end(check, element, image_host_end, out.box, image, region.offset,
                           region.row_pitch, region.slice_pitch, out.host);
}

/// The ends of a copy: images, or nullptr for a buffer of that size.
struct ImageCopyEnds {
    const ImageShape *src;
    const ImageShape *dst;
    uint64_t buffer_size = 0;
};

/// Whether two ends can be copied: at least one is an image, and two images have the same format.
inline void check_image_copy_ends(Check &check, const ImageCopyEnds &ends) noexcept {
    if (ends.src == nullptr && ends.dst == nullptr)
        check.refuse(PI_ERROR_INVALID_MEM_OBJECT, {"desc->dst"},
                     "is a buffer, as is desc->src; at least one must be an image "
                     "(piEnqueueMemBufferCopy copies between buffers)");
    if (ends.src != nullptr && ends.dst != nullptr &&
        (ends.src->order != ends.dst->order || ends.src->channel != ends.dst->channel))
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->dst"},
                     "has channel order {} and type {}, desc->src has {} and {}; both images need "
                     "the same format",
                     name_channel_order(ends.dst->order), name_channel_type(ends.dst->channel),
                     name_channel_order(ends.src->order), name_channel_type(ends.src->channel));
}

/// A region of a copy. The box of an end that is a buffer is unused; between two images `buffer` is
/// unused.
struct ImageCopy {
    Box src;
    Box dst;
    Rectangle buffer;
};

namespace detail {
/// The box of one end of a copy; of a buffer, `image` is nullptr, and the members must be 0.
inline bool read_copy_end(Check &check, const Name &element, const BoxNames &names,
                          const ImageShape *image, const uint64_t (&origin)[3],
                          const uint64_t (&extent)[3], uint32_t mip_level, Box &out) noexcept {
    if (image != nullptr)
        return read_box(check, element, names, *image, origin, extent, mip_level, out);
    for (int64_t axis = 0; axis < 3; ++axis) {
        if (origin[axis] != 0)
            check.refuse(PI_ERROR_INVALID_VALUE, element.at(names.origin, axis),
                         "is {}; {} is a buffer, so it must be 0", origin[axis], names.memory);
    }
    if (mip_level != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, element.at(names.mip_level),
                     "is {}; {} is a buffer, so it must be 0", mip_level, names.memory);
    return !check.failed();
}
} // namespace detail

/// A region of a copy between checked ends, without overlap. False if it is refused.
inline bool read_image_copy(Check &check, const Name &element, const pi_image_copy_region &region,
                            const ImageCopyEnds &ends, ImageCopy &out) noexcept {
    constexpr BoxNames src = {"src_origin", "src_mip_level", "desc->src"};
    constexpr BoxNames dst = {"dst_origin", "dst_mip_level", "desc->dst"};
    constexpr End buffer = {"buffer_offset", "buffer_row_pitch", "buffer_slice_pitch", false,
                            "the buffer"};
    check.reserved(region.reserved, element.at("reserved"));
    if (!detail::read_copy_end(check, element, src, ends.src, region.src_origin, region.extent,
                               region.src_mip_level, out.src) ||
        !detail::read_copy_end(check, element, dst, ends.dst, region.dst_origin, region.extent,
                               region.dst_mip_level, out.dst))
        return false;
    if (ends.src != nullptr && ends.dst != nullptr) {
        const std::pair<const char *, uint64_t> words[] = {
            {buffer.offset, region.buffer_offset},
            {buffer.row_pitch, region.buffer_row_pitch},
            {buffer.slice_pitch, region.buffer_slice_pitch}};
        for (const auto &[member, value] : words) {
            if (value != 0)
                check.refuse(PI_ERROR_INVALID_VALUE, element.at(member),
                             "is {}; both ends are images, so it must be 0", value);
        }
        return !check.failed();
    }
    if (!read_linear_end(check, element, buffer, ends.src != nullptr ? out.src : out.dst,
                         ends.src != nullptr ? *ends.src : *ends.dst, region.buffer_offset,
                         region.buffer_row_pitch, region.buffer_slice_pitch, out.buffer))
        return false;
    check_within(check, element, buffer, out.buffer, ends.buffer_size);
    return !check.failed();
}

inline void check_sampler(Check &check, const pi_sampler_desc &desc) noexcept {
    check.enumeration(desc.addressing, PI_ENUMERATOR(PI_ADDRESSING_NONE),
                      PI_ENUMERATOR(PI_ADDRESSING_MIRRORED_REPEAT), {"desc->addressing"});
    check.enumeration(desc.filter, PI_ENUMERATOR(PI_FILTER_NEAREST),
                      PI_ENUMERATOR(PI_FILTER_LINEAR), {"desc->filter"});
    if (desc.normalized_coordinates > 1)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->normalized_coordinates"},
                     "is {}; 0 or 1 is needed", desc.normalized_coordinates);
    // Larger values may be a vendor's, which the plugin judges.
    const bool repeats =
        desc.addressing == PI_ADDRESSING_REPEAT || desc.addressing == PI_ADDRESSING_MIRRORED_REPEAT;
    if (desc.normalized_coordinates == 0 && repeats)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->addressing"},
                     "is {}, which repeats and needs normalized_coordinates to be 1",
                     name_addressing(desc.addressing));
}

} // namespace pi::checks
