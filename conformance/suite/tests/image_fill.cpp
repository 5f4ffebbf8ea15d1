// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fills of images: the colour in every format.

#include "checks.hpp"
#include "image.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pi::suite {
namespace {

using Color = std::array<std::byte, 16>;

// A channel's bytes as an integer, or as the value of a half or float.
double channel_of(PixelFormat format, const std::byte *at) {
    const auto as = [&](auto value) {
        std::memcpy(&value, at, sizeof value);
        return static_cast<double>(value);
    };
    switch (format.type) {
    case PI_CHANNEL_UNORM8:
    case PI_CHANNEL_UINT8:
        return as(uint8_t{});
    case PI_CHANNEL_UNORM16:
    case PI_CHANNEL_UINT16:
        return as(uint16_t{});
    case PI_CHANNEL_UINT32:
        return as(uint32_t{});
    case PI_CHANNEL_SNORM8:
    case PI_CHANNEL_SINT8:
        return as(int8_t{});
    case PI_CHANNEL_SNORM16:
    case PI_CHANNEL_SINT16:
        return as(int16_t{});
    case PI_CHANNEL_SINT32:
        return as(int32_t{});
    case PI_CHANNEL_HALF: {
        uint16_t bits = 0;
        std::memcpy(&bits, at, sizeof bits);
        const int exponent = (bits >> 10) & 0x1F, mantissa = bits & 0x3FF;
        const double value =
            exponent == 0 ? std::ldexp(mantissa, -24) : std::ldexp(1024 + mantissa, exponent - 25);
        return (bits & 0x8000) != 0 ? -value : value;
    }
    default:
        return as(float{});
    }
}

// Conversion of a colour to a channel type: the largest value, and whether the colour is scaled to
// it.
struct Scale {
    double max;
    bool norm, has_sign;
};
Scale scale_of(pi_channel_type type) {
    switch (type) {
    case PI_CHANNEL_UNORM8:
        return {UINT8_MAX, true, false};
    case PI_CHANNEL_UNORM16:
        return {UINT16_MAX, true, false};
    case PI_CHANNEL_SNORM8:
        return {INT8_MAX, true, true};
    case PI_CHANNEL_SNORM16:
        return {INT16_MAX, true, true};
    case PI_CHANNEL_UINT8:
        return {UINT8_MAX, false, false};
    case PI_CHANNEL_UINT16:
        return {UINT16_MAX, false, false};
    case PI_CHANNEL_UINT32:
        return {UINT32_MAX, false, false};
    case PI_CHANNEL_SINT8:
        return {INT8_MAX, false, true};
    case PI_CHANNEL_SINT16:
        return {INT16_MAX, false, true};
    case PI_CHANNEL_SINT32:
        return {INT32_MAX, false, true};
    default:
        return {1024, false, true};
    }
}

bool is_float(pi_channel_type type) {
    return type == PI_CHANNEL_HALF || type == PI_CHANNEL_FLOAT || scale_of(type).norm;
}

// A colour and its four channels, {r, g, b, a}, in the units of channel_of.
struct Paint {
    Color color{};
    std::array<double, 4> expected{};
};

Paint random_paint(Fixture &fixture, pi_channel_type type) {
    const Scale scale = scale_of(type);
    Paint paint;
    for (std::size_t i = 0; i < 4; ++i) {
        const bool negative = (scale.has_sign || scale.norm) && fixture.random(0, 1) != 0;
        if (is_float(type)) {
            // Eighths, which halves represent exactly; also beyond the range of the format.
            double value = static_cast<double>(fixture.random(0, scale.norm ? 16 : 2047)) / 8;
            if (type == PI_CHANNEL_HALF && fixture.random(0, 3) == 0)
                value = std::ldexp(value * 8, -24); // some are subnormal
            value = negative ? -value : value;
            paint.expected[i] =
                scale.norm ? std::clamp(value, scale.has_sign ? -1. : 0., 1.) * scale.max : value;
            const auto given = static_cast<float>(value);
            std::memcpy(&paint.color[4 * i], &given, 4);
        } else {
            const auto max = static_cast<uint64_t>(scale.max);
            const auto value = static_cast<int64_t>(fixture.random(0, max));
            paint.expected[i] = static_cast<double>(negative ? -value : value);
            const auto given = static_cast<uint32_t>(negative ? -value : value);
            std::memcpy(&paint.color[4 * i], &given, 4);
        }
    }
    return paint;
}

void require_painted(const std::byte *pixel, PixelFormat format, const Paint &paint,
                     const std::string &what) {
    static constexpr std::size_t straight[] = {0, 1, 2, 3}, swapped[] = {2, 1, 0, 3};
    const std::size_t *source = format.order == PI_CHANNEL_ORDER_BGRA ? swapped : straight;
    // The nearest value or a neighbour of it.
    const double tolerance = scale_of(format.type).norm ? 1.5 : 0;
    for (uint32_t i = 0; i < format.channels(); ++i) {
        const double actual = channel_of(format, pixel + i * format.channel_size());
        const double expected = paint.expected[source[i]];
        require(std::fabs(actual - expected) <= tolerance, what, ": channel ", i, " is ", actual,
                ", should be ", expected);
    }
}

CONFORMANCE_TEST(
    "image",
    "a fill gives every pixel of its box the colour, in every format, and no other pixel") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        for (const PixelFormat &format : formats_of(fixture, type)) {
            const pi_mem_image_desc desc = image_desc(
                type, format, {fixture.random(1, 30), fixture.random(1, 9), fixture.random(1, 4)});
            const Mem image = make_image(fixture, desc);
            const Bytes before = random_pixels(fixture, desc);
            image_upload(fixture, queue, image, desc, before);
            const Paint paint = random_paint(fixture, format.type);
            const Box box = random_box(fixture, extent_of(desc));
            fixture.wait(fixture.enqueue(queue, image_fill_desc(image, paint.color.data(), box)),
                         "a fill");
            Bytes after = image_download(fixture, queue, image, desc);
            const Rows rows = rows_of(desc, box.origin, box.extent);
            for (uint64_t z = 0; z < rows.slices; ++z)
                for (uint64_t y = 0; y < rows.rows; ++y)
                    for (uint64_t x = 0; x < box.extent[0]; ++x)
                        require_painted(after.data() + rows.offset + z * rows.slice_pitch +
                                            y * rows.row_pitch + x * format.size(),
                                        format, paint, "a pixel of " + text_of(desc));
            move_rows(before, rows, after, rows);
            require_same_bytes(after.data(), before.data(), after.size(),
                               "pixels outside a fill of " + text_of(desc));
        }
    }
}

// Drivers and plugins split large boxes.
CONFORMANCE_TEST("image", "a large image is filled, and copied within, as a small one is") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        for (const Pixels &size : {Pixels{700, 500, 3}, Pixels{60, 50, 200}}) {
            const std::vector<PixelFormat> formats = formats_of(fixture, type);
            const PixelFormat format = formats[fixture.random(0, formats.size() - 1)];
            const pi_mem_image_desc desc = image_desc(type, format, size);
            const Pixels extent = extent_of(desc);
            Mem image;
            const pi_result made =
                piMemImageCreate(fixture.context(), fixture.device(), &desc, image.out());
            if (made == PI_ERROR_INVALID_SIZE) // larger than the device's images
                continue;
            require_success(made, "piMemImageCreate of ", text_of(desc));
            Bytes model = random_pixels(fixture, desc);
            image_upload(fixture, queue, image, desc, model);
            // Nearly all of it.
            Box box;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                box.origin[axis] = fixture.random(0, extent[axis] / 50);
                box.extent[axis] =
                    extent[axis] - box.origin[axis] - fixture.random(0, extent[axis] / 50);
            }
            const Paint paint = random_paint(fixture, format.type);
            fixture.wait(fixture.enqueue(queue, image_fill_desc(image, paint.color.data(), box)),
                         "a fill of " + text_of(desc));
            const Bytes painted = image_download(fixture, queue, image, desc);
            const Rows rows = rows_of(desc, box.origin, box.extent);
            require_painted(painted.data() + rows.offset, format, paint,
                            "the first pixel of a fill of " + text_of(desc));
            for (uint64_t z = 0; z < rows.slices; ++z)
                for (uint64_t y = 0; y < rows.rows; ++y)
                    for (uint64_t x = 0; x < rows.row; x += format.size())
                        std::memcpy(model.data() + rows.offset + z * rows.slice_pitch +
                                        y * rows.row_pitch + x,
                                    painted.data() + rows.offset, format.size());
            require_same_bytes(painted.data(), model.data(), model.size(),
                               "the pixels after a fill of " + text_of(desc));
            // New pixels, and then one half copied to the other, along the last axis.
            const std::size_t axis = extent[2] > 1 ? 2 : extent[1] > 1 ? 1 : 0;
            model = random_pixels(fixture, desc);
            image_upload(fixture, queue, image, desc, model);
            Box half{{}, extent};
            half.extent[axis] = extent[axis] / 2;
            Pixels there{};
            there[axis] = extent[axis] - half.extent[axis];
            const CopyRegions regions{image_copy_region({}, there, half.extent)};
            fixture.wait(fixture.enqueue(queue, image_copy_desc(image, image, regions)),
                         "a copy within " + text_of(desc));
            move_rows(Bytes(model), rows_of(desc, {}, half.extent), model,
                      rows_of(desc, there, half.extent));
            require_pixels(fixture, queue, image, desc, model,
                           "half of " + text_of(desc) + " copied to the other half");
        }
    }
}

CONFORMANCE_TEST("image",
                 "the colour of a fill is copied during the call, and 0 rows and slices are one") {
    const pi_mem_image_desc desc = flat_image_desc(fixture, 16, 4);
    const Queue queue = fixture.make_queue();
    const Mem image = make_image(fixture, desc);
    Bytes model = random_pixels(fixture, desc);
    image_upload(fixture, queue, image, desc, model);
    const Paint paint = random_paint(fixture, desc.channel_type);
    Color color = paint.color;
    const Event gate = fixture.make_host_event();
    const Event done = fixture.enqueue(
        queue, image_fill_desc(image, color.data(), {{0, 2, 0}, {16, 0, 0}}), {gate});
    color.fill(std::byte{0xFF});
    fixture.signal(gate);
    fixture.wait(done, "a fill whose colour was overwritten");
    Bytes after = image_download(fixture, queue, image, desc);
    const Rows line = rows_of(desc, {0, 2, 0}, {16, 1, 1});
    for (uint64_t x = 0; x < 16; ++x)
        require_painted(after.data() + line.offset + x * format_of(desc).size(), format_of(desc),
                        paint, "a fill whose colour was overwritten");
    move_rows(model, line, after, line);
    require_same_bytes(after.data(), model.data(), model.size(), "pixels outside a fill of a row");
}

CONFORMANCE_TEST("image",
                 "a fill of an image with an invalid descriptor is refused and changes nothing") {
    const Queue queue = fixture.make_queue();
    const Color color{};
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc =
            image_desc(type, formats_of(fixture, type).front(), {9, 5, 3});
        const Mem image = make_image(fixture, desc);
        const Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        const auto refused = [&](pi_result error, const void *paint, const Box &box) {
            require_untouched<pi_event>(
                "piEnqueueMemImageFill, with an invalid descriptor", {error}, [&](pi_event *out) {
                    return try_enqueue(queue, image_fill_desc(image, paint, box), {}, out);
                });
        };
        const Pixels whole = extent_of(desc);
        refused(PI_ERROR_INVALID_NULL_POINTER, nullptr, {{}, whole});
        refused(PI_ERROR_INVALID_SIZE, color.data(), {{}, {0, 1, 1}});
        for (std::size_t axis = 0; axis < 3; ++axis) {
            Box box{{}, whole};
            ++box.extent[axis];
            refused(PI_ERROR_INVALID_SIZE, color.data(), box);
            box = {{}, whole};
            box.origin[axis] = 1;
            refused(PI_ERROR_INVALID_SIZE, color.data(), box);
            box = {{}, {1, 1, 1}};
            box.origin[axis] = UINT64_MAX;
            refused(PI_ERROR_INVALID_SIZE, color.data(), box);
        }
        require_pixels(fixture, queue, image, desc, pixels, "an image after refused fills");
    }
}

} // namespace
} // namespace pi::suite
