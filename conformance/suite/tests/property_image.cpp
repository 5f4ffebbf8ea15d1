// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random commands on images of all types, and on a buffer that boxes are copied to and from.

#include "checks.hpp"
#include "image.hpp"
#include "random_program.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

// Bytes that are finite numbers in any format.
Bytes plain_pixels(uint64_t size, uint64_t first) {
    Bytes bytes(size);
    for (uint64_t i = 0; i < size; ++i)
        bytes[i] = static_cast<std::byte>((first + 5 * i) & 0x3F);
    return bytes;
}

bool is_norm(pi_channel_type type) {
    return type >= PI_CHANNEL_UNORM8 && type <= PI_CHANNEL_SNORM16;
}

// A channel of 0 or 1 as a fill's colour has it and as a pixel does.
struct One {
    std::array<uint8_t, 4> color, channel;
};
One one_of(pi_channel_type type) {
    constexpr std::array<uint8_t, 4> integer{1, 0, 0, 0}, real{0, 0, 0x80, 0x3F},
        half{0, 0x3C, 0, 0};
    return type == PI_CHANNEL_FLOAT  ? One{real, real}
           : type == PI_CHANNEL_HALF ? One{real, half}
                                     : One{integer, integer};
}

// An image and a dense model of its pixels.
struct Picture {
    pi_mem_image_desc desc;
    Mem mem;
    Model model;
    uint64_t pixel() const { return format_of(desc).size(); }
};

Box draw_box(Draw &draw, const Pixels &within) {
    Box box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        box.extent[axis] = draw(1, within[axis]);
        box.origin[axis] = draw(0, within[axis] - box.extent[axis]);
    }
    return box;
}

// Where a box lies in memory, perhaps with pitches.
Rows draw_rows(Draw &draw, const Pixels &extent, uint64_t pixel) {
    Rows rows{draw(0, 64), extent[0] * pixel, extent[1], extent[2], 0, 0};
    const uint64_t row_gap = draw(0, 20), slice_gap = draw(0, 20);
    rows.row_pitch = rows.row + row_gap;
    rows.slice_pitch = rows.row_pitch * rows.rows + slice_gap;
    return rows;
}

// Pitches of 0 mean dense ones.
Rows reported(const Rows &rows) {
    Rows as_reported = rows;
    if (rows.row_pitch == rows.row)
        as_reported.row_pitch = 0;
    if (rows.slice_pitch == rows.row_pitch * rows.rows)
        as_reported.slice_pitch = 0;
    return as_reported;
}

bool meet(const Box &a, const Box &b) {
    for (std::size_t axis = 0; axis < 3; ++axis)
        if (a.origin[axis] >= b.origin[axis] + b.extent[axis] ||
            b.origin[axis] >= a.origin[axis] + a.extent[axis])
            return false;
    return true;
}

class ImageWorld final : public World {
public:
    /// An image of each type, two of them of each format that is drawn.
    ImageWorld(Fixture &fixture, const std::vector<pi_image_type> &types, const PixelFormat &format,
               Draw &draw)
        : fixture_(fixture) {
        const Queue queue = fixture.make_queue();
        for (const pi_image_type type : types) {
            Picture picture{
                image_desc(type, format, {draw(1, 33), draw(1, 7), draw(1, 4)}), {}, {}};
            picture.mem = make_image(fixture, picture.desc);
            picture.model = std::make_shared<Bytes>(size_of(picture.desc));
            image_upload(fixture, queue, picture.mem, picture.desc, *picture.model);
            pictures_.push_back(std::move(picture));
        }
        // Pixels of any box fit, with pitches.
        buffer_model_ =
            std::make_shared<Bytes>(64 + 4 * (20 + 7 * (20 + 33 * uint64_t{format.size()})));
        buffer_ = fixture.make_buffer(fixture.place(), *buffer_model_);
    }

    Action lay_out(Draw &draw) override {
        constexpr Action (ImageWorld::*kinds[])(Draw &) = {
            &ImageWorld::write,     &ImageWorld::read,        &ImageWorld::copy,
            &ImageWorld::to_buffer, &ImageWorld::from_buffer, &ImageWorld::fill};
        return (this->*draw.one_of(kinds))(draw);
    }

    void require_models(pi_queue queue) override {
        for (const Picture &picture : pictures_)
            require_pixels(fixture_, queue, picture.mem, picture.desc, *picture.model,
                           "an image at the end");
        fixture_.require_contents(queue, buffer_, *buffer_model_, "the buffer at the end");
    }

private:
    Action write(Draw &draw) {
        const Picture &image = draw.one_of(pictures_);
        const Box box = draw_box(draw, extent_of(image.desc));
        const Rows rows = draw_rows(draw, box.extent, image.pixel());
        const auto host = std::make_shared<Bytes>(plain_pixels(rows.end(), draw(1, 63)));
        const pi_image_region region = image_region(box, reported(rows));
        return {join("a write to ", text_of(image.desc), ", ", text_of(region)),
                {},
                {image.model},
                false,
                [=, this, &image](pi_queue queue, const Waits &waits) {
                    return fixture_.enqueue(
                        queue, image_write_desc(image.mem, host->data(), {region}), waits);
                },
                [=, &image] {
                    move_rows(*host, rows, *image.model,
                              rows_of(image.desc, box.origin, box.extent));
                }};
    }

    Action read(Draw &draw) {
        const Picture &image = draw.one_of(pictures_);
        const Box box = draw_box(draw, extent_of(image.desc));
        const Rows rows = draw_rows(draw, box.extent, image.pixel());
        const auto host = std::make_shared<Bytes>(rows.end() + 9, std::byte{0xEE});
        const auto expected = std::make_shared<Bytes>(*host);
        const pi_image_region region = image_region(box, reported(rows));
        const std::string text = join("a read of ", text_of(image.desc), ", ", text_of(region));
        return {text,
                {image.model},
                {},
                false,
                [=, this, &image](pi_queue queue, const Waits &waits) {
                    return fixture_.enqueue(
                        queue, image_read_desc(image.mem, host->data(), {region}), waits);
                },
                [=, &image] {
                    move_rows(*image.model, rows_of(image.desc, box.origin, box.extent), *expected,
                              rows);
                },
                [=] { require_same_bytes(host->data(), expected->data(), host->size(), text); }};
    }

    Action copy(Draw &draw) {
        const Picture &src = draw.one_of(pictures_), &dst = draw.one_of(pictures_);
        Pixels within = extent_of(src.desc);
        for (std::size_t axis = 0; axis < 3; ++axis)
            within[axis] = std::min(within[axis], extent_of(dst.desc)[axis]);
        const Box from = draw_box(draw, within);
        Box to{from.origin, from.extent};
        for (std::size_t axis = 0; axis < 3; ++axis)
            to.origin[axis] = draw(0, extent_of(dst.desc)[axis] - to.extent[axis]);
        const bool refused = &src == &dst && meet(from, to);
        const auto region = image_copy_region(from.origin, to.origin, from.extent);
        const std::string text = join(text_of(region), ", ", text_of(src.desc), " to ",
                                      text_of(dst.desc), refused ? ", which overlaps itself" : "");
        return {text,
                {src.model},
                {dst.model},
                false,
                [=, &src, &dst](pi_queue queue, const Waits &waits) {
                    Event event;
                    const CopyRegions regions{region};
                    const pi_result result = try_enqueue(
                        queue, image_copy_desc(src.mem, dst.mem, regions), waits, event.out());
                    if (refused)
                        require_error(result, PI_ERROR_MEM_COPY_OVERLAP, text);
                    else
                        require_success(result, text);
                    return event;
                },
                [=, &src, &dst] {
                    if (!refused)
                        move_rows(Bytes(*src.model), rows_of(src.desc, from.origin, from.extent),
                                  *dst.model, rows_of(dst.desc, to.origin, to.extent));
                }};
    }

    Action to_buffer(Draw &draw) { return with_buffer(draw, true); }
    Action from_buffer(Draw &draw) { return with_buffer(draw, false); }
    Action with_buffer(Draw &draw, bool to_buffer) {
        const Picture &image = draw.one_of(pictures_);
        const Box box = draw_box(draw, extent_of(image.desc));
        const Rows rows = draw_rows(draw, box.extent, image.pixel());
        const auto region = to_buffer
                                ? image_copy_region(box.origin, {}, box.extent, reported(rows))
                                : image_copy_region({}, box.origin, box.extent, reported(rows));
        return {join(text_of(region), to_buffer ? " to" : " from", " the buffer, ",
                     text_of(image.desc)),
                {to_buffer ? image.model : buffer_model_},
                {to_buffer ? buffer_model_ : image.model},
                false,
                [=, this, &image](pi_queue queue, const Waits &waits) {
                    const CopyRegions regions{region};
                    return fixture_.enqueue(queue,
                                            to_buffer
                                                ? image_copy_desc(image.mem, buffer_, regions)
                                                : image_copy_desc(buffer_, image.mem, regions),
                                            waits);
                },
                [=, this, &image] {
                    const Rows inside = rows_of(image.desc, box.origin, box.extent);
                    if (to_buffer)
                        move_rows(*image.model, inside, *buffer_model_, rows);
                    else
                        move_rows(*buffer_model_, rows, *image.model, inside);
                }};
    }

    // In channels of 0 and 1, which norm formats need not have exactly: those are written instead.
    Action fill(Draw &draw) {
        const Picture &image = draw.one_of(pictures_);
        const PixelFormat format = format_of(image.desc);
        if (is_norm(format.type))
            return write(draw);
        const Box box = draw_box(draw, extent_of(image.desc));
        const uint64_t ones = draw(0, 15); // a bit for each of r, g, b and a
        const One one = one_of(format.type);
        std::array<uint8_t, 16> color{};
        Bytes pixel(format.size());
        for (uint32_t i = 0; i < 4; ++i) {
            if ((ones >> i & 1) == 0)
                continue;
            std::copy(one.color.begin(), one.color.end(), color.begin() + 4 * i);
            const uint32_t channel = format.order == PI_CHANNEL_ORDER_BGRA && i != 3 ? 2 - i : i;
            if (channel < format.channels())
                std::memcpy(pixel.data() + channel * format.channel_size(), one.channel.data(),
                            format.channel_size());
        }
        return {join("a fill of ", text_of(image_region(box)), ", ", text_of(image.desc),
                     ", channels of 1: ", ones),
                {},
                {image.model},
                false,
                [=, this, &image](pi_queue queue, const Waits &waits) {
                    return fixture_.enqueue(queue, image_fill_desc(image.mem, color.data(), box),
                                            waits);
                },
                [=, &image] {
                    const Rows rows = rows_of(image.desc, box.origin, box.extent);
                    const pi_mem_image_desc part = image_desc(PI_IMAGE_3D, format, box.extent);
                    Bytes filled(size_of(part));
                    for (uint64_t i = 0; i < filled.size(); ++i)
                        filled[i] = pixel[i % pixel.size()];
                    move_rows(filled, rows_of(part), *image.model, rows);
                }};
    }

    Fixture &fixture_;
    std::vector<Picture> pictures_; // actions have references to them
    Mem buffer_;
    Model buffer_model_;
};

CONFORMANCE_TEST("image",
                 "random commands on images have the effect that they have on plain bytes") {
    const std::vector<pi_image_type> types = types_of(fixture);
    std::vector<PixelFormat> formats;
    for (const PixelFormat &format : all_formats()) {
        const auto has = [&](pi_image_type type) {
            const std::vector<PixelFormat> of_type = formats_of(fixture, type);
            return std::any_of(of_type.begin(), of_type.end(), [&](const PixelFormat &other) {
                return other.order == format.order && other.type == format.type;
            });
        };
        if (std::all_of(types.begin(), types.end(), has))
            formats.push_back(format);
    }
    if (formats.empty())
        skip("no format is one of all types of image");
    require_programs(fixture, {0}, [&](Draw &draw) {
        return std::make_unique<ImageWorld>(fixture, types, draw.one_of(formats), draw);
    });
}

} // namespace
} // namespace pi::suite
