// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "images.hpp"

#include "layers/layers.hpp"

namespace pi::loader::validate {
namespace {

// Indexed by enumerator; index 0 is unused.
constexpr ImageType image_types[] = {{nullptr, false, false, false},
                                     {"PI_IMAGE_1D", false, false, false},
                                     {"PI_IMAGE_2D", true, false, false},
                                     {"PI_IMAGE_3D", true, true, false},
                                     {"PI_IMAGE_1D_ARRAY", false, false, true},
                                     {"PI_IMAGE_2D_ARRAY", true, false, true}};
static_assert(std::size(image_types) == PI_IMAGE_2D_ARRAY + 1);

constexpr const char *axis_names[] = {"width", "height", "depth"};

void check_axis(Check &check, const char *member, uint64_t given, bool has,
                const ImageType &type) noexcept {
    if (has && given == 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->", -1, member},
                     "is 0; {} needs at least 1 pixel", type.name);
    if (!has && given != 0)
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->", -1, member},
                     "is {}; {} has no such axis, so it must be 0", given, type.name);
}

} // namespace

bool is_known_image(const pi_mem_image_desc &desc) noexcept {
    return desc.image_type < std::size(image_types) &&
           pixel_bytes(desc.channel_order, desc.channel_type) != 0;
}

bool read_shape(Check &check, const pi_mem_image_desc &desc, ImageShape &out) noexcept {
    check.enumeration(desc.image_type, PI_LOADER_ENUMERATOR(PI_IMAGE_1D),
                      PI_LOADER_ENUMERATOR(PI_IMAGE_2D_ARRAY), {"desc->image_type"});
    check.enumeration(desc.channel_order, PI_LOADER_ENUMERATOR(PI_CHANNEL_ORDER_R),
                      PI_LOADER_ENUMERATOR(PI_CHANNEL_ORDER_BGRA), {"desc->channel_order"});
    check.enumeration(desc.channel_type, PI_LOADER_ENUMERATOR(PI_CHANNEL_UNORM8),
                      PI_LOADER_ENUMERATOR(PI_CHANNEL_FLOAT), {"desc->channel_type"});
    if (check.failed() || !is_known_image(desc))
        return false;
    const ImageType &type = image_types[desc.image_type];
    check_axis(check, "width", desc.width, true, type);
    check_axis(check, "height", desc.height, type.height, type);
    check_axis(check, "depth", desc.depth, type.depth, type);
    check_axis(check, "array_size", desc.array_size, type.layers, type);
    out = shape_of(desc);
    uint64_t bytes = out.pixel;
    for (const uint64_t pixels : out.extent) {
        if (__builtin_mul_overflow(bytes, pixels, &bytes))
            check.refuse(PI_ERROR_INVALID_SIZE, {"desc->width"},
                         "is {}; with the other axes the image's bytes exceed 64 bits", desc.width);
    }
    return !check.failed();
}

ImageShape shape_of(const pi_mem_image_desc &desc) noexcept {
    const ImageType &type = image_types[desc.image_type];
    ImageShape shape;
    shape.type = &type;
    shape.mip_levels = desc.mip_levels != 0 ? desc.mip_levels : 1;
    shape.pixel = pixel_bytes(desc.channel_order, desc.channel_type);
    shape.order = desc.channel_order;
    shape.channel = desc.channel_type;
    shape.extent = {desc.width, type.height ? desc.height : 1,
                    type.layers  ? desc.array_size
                    : type.depth ? desc.depth
                                 : 1};
    return shape;
}

bool read_pitches(Check &check, const pi_mem_image_desc &desc, const ImageShape &shape,
                  Rectangle &out) noexcept {
    static constexpr End names = {"desc->offset", "desc->row_pitch", "desc->slice_pitch",
                                  false,          "the image",       "the image's extent"};
    if (desc.slice_pitch != 0 && !shape.type->has_slices())
        check.refuse(PI_ERROR_INVALID_VALUE, {"desc->slice_pitch"},
                     "is {}; {} has no slices, so it must be 0", desc.slice_pitch,
                     shape.type->name);
    if (desc.row_pitch % shape.pixel != 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->row_pitch"},
                     "is {}; a multiple of a pixel's {} bytes is needed", desc.row_pitch,
                     shape.pixel);
    const uint64_t bytes[3] = {shape.extent[0] * shape.pixel, shape.extent[1], shape.extent[2]};
    if (!read_rectangle(check, {""}, names, desc.offset, bytes, desc.row_pitch, desc.slice_pitch,
                        out))
        return false;
    if (out.slice_pitch % out.row_pitch != 0)
        check.refuse(PI_ERROR_INVALID_SIZE, {"desc->slice_pitch"},
                     "is {}; a multiple of the row pitch, {}, is needed", desc.slice_pitch,
                     out.row_pitch);
    return !check.failed();
}

bool overlap(const Box &a, const Box &b) noexcept {
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (a.origin[axis] + a.extent[axis] <= b.origin[axis] ||
            b.origin[axis] + b.extent[axis] <= a.origin[axis])
            return false;
    }
    return a.mip_level == b.mip_level;
}

bool read_box(Check &check, const Name &element, const BoxNames &names, const ImageShape &image,
              const uint64_t (&origin)[3], const uint64_t (&extent)[3], uint32_t mip_level,
              Box &out) noexcept {
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
    const auto limit = image.level(mip_level);
    for (std::size_t axis = 0; axis < 3; ++axis) {
        if (origin[axis] > limit[axis] || out.extent[axis] > limit[axis] - origin[axis])
            check.refuse(
                PI_ERROR_INVALID_SIZE, element.at(names.origin, static_cast<int64_t>(axis)),
                "is {}; with {} pixels it goes past the end of {}, whose {} is {}", origin[axis],
                out.extent[axis], names.memory,
                axis == 2 && image.type->layers ? "array_size" : axis_names[axis], limit[axis]);
    }
    return !check.failed();
}

bool read_linear_end(Check &check, const Name &element, const End &end, const Box &box,
                     const ImageShape &image, uint64_t offset, uint64_t row_pitch,
                     uint64_t slice_pitch, Rectangle &out) noexcept {
    // It is inside the image, so this does not overflow.
    const uint64_t bytes[3] = {box.extent[0] * image.pixel, box.extent[1], box.extent[2]};
    return read_rectangle(check, element, end, offset, bytes, row_pitch, slice_pitch, out);
}

} // namespace pi::loader::validate
