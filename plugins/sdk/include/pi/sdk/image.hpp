// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images as pi.h defines them: formats, shapes, and checks of descriptors, also of samplers.
// Regions of images are in image_region.hpp, colours in pixel.hpp.
#pragma once

#include <pi/describe/checks/image.hpp>
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

using checks::image_types;
using checks::ImageType;
using checks::Pixels;

/// PI_ERROR_INVALID_ENUMERATION without one.
inline const ImageType &find_image_type(pi_image_type type) {
    enforce([&](checks::Check &check) { checks::check_image_type(check, type); });
    return *checks::image_type_of(type);
}

/// A device's limits for images of each type.
struct ImageLimits {
    std::array<uint64_t, 2> size_2d; ///< of 1-D images, by its width, and of arrays, too
    Pixels size_3d;
    uint64_t layers;
    uint32_t mip_levels = 1;
    uint32_t samples = 1;
};

/// Type, format and extents of a checked image.
struct ImageShape : checks::ImageShape {
    explicit ImageShape(const checks::ImageShape &shape)
        : checks::ImageShape(shape), format(order, channel) {}
    ImageShape(const ImageType *of, const PixelFormat &pixels, const Pixels &extents,
               uint32_t levels)
        : checks::ImageShape{of, pixels.order(), pixels.type(), extents, levels}, format(pixels) {}

    PixelFormat format;
};

namespace detail {
inline void check_image_limit(const char *name, uint64_t given, uint64_t limit,
                              const ImageType &type) {
    if (given > limit)
        fail(PI_ERROR_INVALID_SIZE, "desc->", name, " is ", given, "; the device's images of type ",
             type.name, " have at most ", limit);
}
inline void check_image_count(const char *name, uint32_t given, uint32_t limit) {
    if (given > limit)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "desc->", name, " is ", given,
             "; the device has at most ", limit);
}
} // namespace detail

/// Reads type, format, extents, mip levels and samples of a descriptor. The plugin checks whether
/// the device supports the format.
inline ImageShape read_image_shape(const pi_mem_image_desc &desc, const ImageLimits &limits) {
    checks::ImageShape shape;
    enforce([&](checks::Check &check) { checks::read_shape(check, desc, shape); });
    const ImageType &type = *shape.type;
    const Pixels limit =
        type.depth ? limits.size_3d : Pixels{limits.size_2d[0], limits.size_2d[1], limits.layers};
    detail::check_image_limit("width", desc.width, limit[0], type);
    detail::check_image_limit("height", desc.height, limit[1], type);
    detail::check_image_limit(type.layers ? "array_size" : "depth",
                              type.layers ? desc.array_size : desc.depth, limit[2], type);
    detail::check_image_count("mip_levels", desc.mip_levels, limits.mip_levels);
    detail::check_image_count("samples", desc.samples, limits.samples);
    return ImageShape(shape);
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

/// Checks flags, host_ptr and its pitches for piMemImageCreate. `known` are the flags that the
/// plugin accepts. Returns the layout of the pixels of host_ptr; dense without one.
inline Rectangle check_image_create(const pi_mem_image_desc &desc, const ImageShape &shape,
                                    uint64_t known) {
    check_flags(desc.flags, known, "desc->flags");
    Rectangle pixels;
    enforce([&](checks::Check &check) { checks::check_image_create(check, desc, shape, pixels); });
    return pixels;
}

/// Checks a descriptor of piMemImageViewCreate for a buffer of `size` bytes with the access flags
/// `inherited`. Returns the layout of the pixels from the buffer's start. Alignments are in bytes.
inline Rectangle check_image_view(const pi_mem_image_desc &desc, const ImageShape &shape,
                                  uint64_t size, uint64_t inherited, uint64_t offset_alignment,
                                  uint64_t pitch_alignment) {
    Rectangle pixels;
    enforce([&](checks::Check &check) {
        checks::check_image_view(check, desc, shape, size, inherited,
                                 {offset_alignment, pitch_alignment}, pixels);
    });
    return pixels;
}

// ----- Samplers ----------------------------------------------------------------------------------

/// Checks a sampler's descriptor.
inline void check_sampler(const pi_sampler_desc &desc) {
    enforce<checks::check_sampler>(desc);
}

} // namespace pi::sdk
