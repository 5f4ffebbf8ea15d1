// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images as pi.h defines them: formats, shapes, and checks of descriptors, also of samplers.
// Regions of images are in image_region.hpp, colours in pixel.hpp.
#pragma once

#include <pi/sdk/memory.hpp>
#include <pi/sdk/region.hpp>

#include <array>
#include <cstdint>
#include <vector>

namespace pi::sdk {

// ----- Formats -----------------------------------------------------------------------------------

/// How kernels and fills see a channel's values.
enum class ColorKind { FLOAT, SINT, UINT };

struct ChannelType {
    pi_channel_type type;
    const char *name;
    uint32_t bytes;
    ColorKind kind;
};
inline constexpr ChannelType channel_types[] = {
    {PI_CHANNEL_UNORM8, "UNORM8", 1, ColorKind::FLOAT},
    {PI_CHANNEL_UNORM16, "UNORM16", 2, ColorKind::FLOAT},
    {PI_CHANNEL_SNORM8, "SNORM8", 1, ColorKind::FLOAT},
    {PI_CHANNEL_SNORM16, "SNORM16", 2, ColorKind::FLOAT},
    {PI_CHANNEL_UINT8, "UINT8", 1, ColorKind::UINT},
    {PI_CHANNEL_UINT16, "UINT16", 2, ColorKind::UINT},
    {PI_CHANNEL_UINT32, "UINT32", 4, ColorKind::UINT},
    {PI_CHANNEL_SINT8, "SINT8", 1, ColorKind::SINT},
    {PI_CHANNEL_SINT16, "SINT16", 2, ColorKind::SINT},
    {PI_CHANNEL_SINT32, "SINT32", 4, ColorKind::SINT},
    {PI_CHANNEL_HALF, "HALF", 2, ColorKind::FLOAT},
    {PI_CHANNEL_FLOAT, "FLOAT", 4, ColorKind::FLOAT},
};

struct ChannelOrder {
    pi_channel_order order;
    const char *name;
    uint32_t channels;
};
inline constexpr ChannelOrder channel_orders[] = {
    {PI_CHANNEL_ORDER_R, "R", 1},
    {PI_CHANNEL_ORDER_RG, "RG", 2},
    {PI_CHANNEL_ORDER_RGBA, "RGBA", 4},
    {PI_CHANNEL_ORDER_BGRA, "BGRA", 4},
};

/// A row of a table; PI_ERROR_INVALID_ENUMERATION without one.
inline const ChannelType &find_channel_type(pi_channel_type type) {
    for (const ChannelType &row : channel_types)
        if (row.type == type)
            return row;
    fail(PI_ERROR_INVALID_ENUMERATION, "channel_type is ", type,
         ", which is not a PI_CHANNEL_ type: ", "these are ", PI_CHANNEL_UNORM8, " to ",
         PI_CHANNEL_FLOAT);
}
inline const ChannelOrder &find_channel_order(pi_channel_order order) {
    for (const ChannelOrder &row : channel_orders)
        if (row.order == order)
            return row;
    fail(PI_ERROR_INVALID_ENUMERATION, "channel_order is ", order,
         ", which is not a PI_CHANNEL_ORDER_: these are ", PI_CHANNEL_ORDER_R, " to ",
         PI_CHANNEL_ORDER_BGRA);
}

/// A pair of channel order and type. Every pair is valid, though few devices support all. In
/// messages: "RGBA of UNORM8".
class PixelFormat {
public:
    PixelFormat(pi_channel_order order, pi_channel_type type)
        : order_(&find_channel_order(order)), type_(&find_channel_type(type)) {}

    pi_channel_order order() const { return order_->order; }
    pi_channel_type type() const { return type_->type; }
    uint32_t channels() const { return order_->channels; }
    uint32_t channel_bytes() const { return type_->bytes; }
    /// From 1 to 16.
    uint32_t bytes() const { return channels() * channel_bytes(); }
    ColorKind kind() const { return type_->kind; }
    friend bool operator==(const PixelFormat &, const PixelFormat &) = default;
    friend std::ostream &operator<<(std::ostream &stream, const PixelFormat &self) {
        return stream << self.order_->name << " of " << self.type_->name;
    }

private:
    const ChannelOrder *order_;
    const ChannelType *type_;
};

// ----- Shapes ------------------------------------------------------------------------------------

/// The descriptor's words that a type of image uses.
struct ImageType {
    pi_image_type type;
    const char *name;
    bool height, depth, layers;
    bool has_slices() const { return depth || layers; }
    /// The number of pitches in PI_MEM_INFO_PITCHES: of pixels, and of each further axis.
    uint32_t pitch_count() const { return 1u + height + has_slices(); }
};
inline constexpr ImageType image_types[] = {
    {PI_IMAGE_1D, "PI_IMAGE_1D", false, false, false},
    {PI_IMAGE_2D, "PI_IMAGE_2D", true, false, false},
    {PI_IMAGE_3D, "PI_IMAGE_3D", true, true, false},
    {PI_IMAGE_1D_ARRAY, "PI_IMAGE_1D_ARRAY", false, false, true},
    {PI_IMAGE_2D_ARRAY, "PI_IMAGE_2D_ARRAY", true, false, true},
};
inline const ImageType &find_image_type(pi_image_type type) {
    for (const ImageType &row : image_types)
        if (row.type == type)
            return row;
    fail(PI_ERROR_INVALID_ENUMERATION, "image_type is ", type,
         ", which is not a PI_IMAGE_ type: ", "these are ", PI_IMAGE_1D, " to ", PI_IMAGE_2D_ARRAY);
}

/// Pixels on each axis: {width, height, depth or layers}.
using Pixels = std::array<uint64_t, 3>;

/// A device's limits for images of each type.
struct ImageLimits {
    std::array<uint64_t, 2> size_2d; ///< of 1-D images, by its width, and of arrays, too
    Pixels size_3d;
    uint64_t layers;
    uint32_t mip_levels = 1;
    uint32_t samples = 1;
};

/// Type, format and extents of a checked image.
struct ImageShape {
    const ImageType *type;
    PixelFormat format;
    Pixels extent; ///< 1 on an axis that the type does not have
    uint32_t mip_levels;

    /// The extents of a level; the number of layers does not change.
    Pixels level(uint32_t mip_level) const {
        const auto shrink = [=](uint64_t pixels) {
            return std::max<uint64_t>(1, mip_level < 64 ? pixels >> mip_level : 0);
        };
        return {shrink(extent[0]), shrink(extent[1]), type->layers ? extent[2] : shrink(extent[2])};
    }
    /// The bytes of all pixels of level 0 without gaps: PI_MEM_INFO_SIZE.
    uint64_t bytes() const { return extent[0] * extent[1] * extent[2] * format.bytes(); }
    /// Its pixels without gaps.
    Rectangle dense() const {
        const uint64_t row = extent[0] * format.bytes();
        return {0, row, extent[1], extent[2], row, row * extent[1]};
    }
};

namespace detail {
inline uint64_t image_axis(const char *name, uint64_t given, bool has, uint64_t limit,
                           const ImageType &type) {
    if (!has && given)
        fail(PI_ERROR_INVALID_VALUE, name, " is ", given, ", but ", type.name,
             " has no such axis: it must be 0");
    if (has && !given)
        fail(PI_ERROR_INVALID_SIZE, name, " is 0; at least 1 is needed for ", type.name);
    if (has && given > limit)
        fail(PI_ERROR_INVALID_SIZE, name, " is ", given, "; the device's images of type ",
             type.name, " have at most ", limit);
    return has ? given : 1;
}
inline uint32_t image_count(const char *name, uint32_t given, uint32_t limit) {
    if (given > limit)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, name, " is ", given, "; the device has at most ", limit);
    return given ? given : 1;
}
} // namespace detail

/// Reads type, format, extents, mip levels and samples of a descriptor. The plugin checks whether
/// the device supports the format.
inline ImageShape read_image_shape(const pi_mem_image_desc &desc, const ImageLimits &limits) {
    const ImageType &type = find_image_type(desc.image_type);
    const PixelFormat format(desc.channel_order, desc.channel_type);
    const Pixels limit =
        type.depth ? limits.size_3d : Pixels{limits.size_2d[0], limits.size_2d[1], limits.layers};
    const uint64_t width = detail::image_axis("width", desc.width, true, limit[0], type);
    const uint64_t height = detail::image_axis("height", desc.height, type.height, limit[1], type);
    const uint64_t depth = detail::image_axis("depth", desc.depth, type.depth, limit[2], type);
    const uint64_t layers =
        detail::image_axis("array_size", desc.array_size, type.layers, limit[2], type);
    const uint32_t mips = detail::image_count("mip_levels", desc.mip_levels, limits.mip_levels);
    detail::image_count("samples", desc.samples, limits.samples);
    const ImageShape shape{&type, format, {width, height, type.layers ? layers : depth}, mips};
    uint64_t bytes = format.bytes();
    for (const uint64_t pixels : shape.extent)
        bytes = detail::multiply(bytes, pixels, "the image");
    return shape;
}

/// PI_MEM_INFO_PITCHES of an image with this layout of pixels.
inline std::vector<uint64_t> image_pitches(const ImageShape &shape, const Rectangle &pixels) {
    std::vector<uint64_t> bytes;
    if (shape.type->has_slices())
        bytes.push_back(pixels.slice_pitch);
    if (shape.type->height)
        bytes.push_back(pixels.row_pitch);
    bytes.push_back(shape.format.bytes());
    return bytes;
}

// ----- Descriptors -------------------------------------------------------------------------------

/// The layout of the pixels of host_ptr or of a viewed buffer from `desc.offset` on. Checks the
/// pitches and fills in defaults.
inline Rectangle read_image_pitches(const pi_mem_image_desc &desc, const ImageShape &shape) {
    if (desc.slice_pitch && !shape.type->has_slices())
        fail(PI_ERROR_INVALID_VALUE, "slice_pitch is ", desc.slice_pitch, ", but ",
             shape.type->name, " has no slices: it must be 0");
    Rectangle pixels = shape.dense();
    pixels.offset = desc.offset;
    if (desc.row_pitch)
        pixels.row_pitch = desc.row_pitch;
    if (pixels.row_pitch < pixels.row || pixels.row_pitch % shape.format.bytes())
        fail(PI_ERROR_INVALID_SIZE, "row_pitch is ", pixels.row_pitch, "; a multiple of a pixel's ",
             shape.format.bytes(), " bytes is needed, and at least a row's ", pixels.row);
    const uint64_t slice = detail::multiply(pixels.row_pitch, pixels.rows, "a slice");
    pixels.slice_pitch = desc.slice_pitch ? desc.slice_pitch : slice;
    if (pixels.slice_pitch < slice || pixels.slice_pitch % pixels.row_pitch)
        fail(PI_ERROR_INVALID_SIZE, "slice_pitch is ", pixels.slice_pitch,
             "; a multiple of row_pitch, ", pixels.row_pitch,
             ", is needed, and at least a slice's ", slice);
    detail::check_end(pixels, "the image");
    return pixels;
}

/// Checks flags, host_ptr and its pitches for piMemImageCreate. `known` are the flags that the
/// plugin accepts. Returns the layout of the pixels of host_ptr; dense without one.
inline Rectangle check_image_create(const pi_mem_image_desc &desc, const ImageShape &shape,
                                    uint64_t known) {
    check_flags(desc.flags, known, "flags");
    check_mem_access(desc.flags);
    check_mem_host_ptr(desc.flags, desc.host_ptr);
    if (!desc.host_ptr && (desc.row_pitch || desc.slice_pitch))
        fail(PI_ERROR_INVALID_VALUE, "row_pitch is ", desc.row_pitch, " and slice_pitch ",
             desc.slice_pitch, ", but host_ptr is NULL: both must be 0");
    if (desc.offset)
        fail(PI_ERROR_INVALID_VALUE, "offset is ", desc.offset,
             "; only views of buffers begin at an offset, so it must be 0");
    return read_image_pitches(desc, shape);
}

/// Checks a descriptor of piMemImageViewCreate for a buffer of `size` bytes with the access flags
/// `inherited`. Returns the layout of the pixels from the buffer's start. Alignments are in bytes.
inline Rectangle check_image_view(const pi_mem_image_desc &desc, const ImageShape &shape,
                                  uint64_t size, uint64_t inherited, uint64_t offset_alignment,
                                  uint64_t pitch_alignment) {
    check_view_access(desc.flags, inherited);
    if (desc.host_ptr)
        fail(PI_ERROR_INVALID_VALUE, "host_ptr is ", desc.host_ptr,
             "; a view has the buffer's bytes, so it must be NULL");
    const Rectangle pixels = read_image_pitches(desc, shape);
    if (desc.offset % offset_alignment)
        fail(PI_ERROR_MISALIGNED_OFFSET, "offset is ", desc.offset,
             "; the device's views of buffers begin at multiples of ", offset_alignment, " bytes");
    if (shape.type->pitch_count() > 1 && pixels.row_pitch % pitch_alignment)
        fail(PI_ERROR_MISALIGNED_OFFSET, "row_pitch is ", pixels.row_pitch,
             "; the device's views of buffers have rows at multiples of ", pitch_alignment,
             " bytes");
    if (pixels.end() > size)
        fail(PI_ERROR_INVALID_SIZE, "the image needs ", pixels.end(), " bytes of mem (",
             pixels.end() - pixels.offset, " from offset ", pixels.offset, "), which has ", size);
    return pixels;
}

// ----- Samplers ----------------------------------------------------------------------------------

/// Checks a sampler's descriptor.
inline void check_sampler(const pi_sampler_desc &desc) {
    if (desc.addressing > PI_ADDRESSING_MIRRORED_REPEAT)
        fail(PI_ERROR_INVALID_ENUMERATION, "addressing is ", desc.addressing,
             ", which is not a PI_ADDRESSING_ mode: these are ", PI_ADDRESSING_NONE, " to ",
             PI_ADDRESSING_MIRRORED_REPEAT);
    if (desc.filter > PI_FILTER_LINEAR)
        fail(PI_ERROR_INVALID_ENUMERATION, "filter is ", desc.filter,
             ", which is not a PI_FILTER_ mode: these are ", PI_FILTER_NEAREST, " and ",
             PI_FILTER_LINEAR);
    if (desc.normalized_coordinates > 1)
        fail(PI_ERROR_INVALID_VALUE, "normalized_coordinates is ", desc.normalized_coordinates,
             "; it is 0 or 1");
    if (!desc.normalized_coordinates && desc.addressing >= PI_ADDRESSING_REPEAT)
        fail(PI_ERROR_INVALID_VALUE, "addressing is ", desc.addressing,
             ": images repeat for normalized coordinates only, and normalized_coordinates is 0");
}

} // namespace pi::sdk
