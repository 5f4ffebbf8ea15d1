// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of images: descriptors, formats of the device, and a model of the pixels, a plain byte
// array.
#pragma once

#include "fixture.hpp"

#include <array>
#include <string>
#include <vector>

namespace pi::suite {

using Pixels = std::array<uint64_t, 3>; // {x, y, z or layer}

struct PixelFormat {
    pi_channel_order order;
    pi_channel_type type;

    uint32_t channels() const;
    uint32_t channel_size() const;
    uint32_t size() const { return channels() * channel_size(); }
    std::string text() const;
    bool operator==(const PixelFormat &) const = default;
};

/// All of pi.h, whether or not the device has them.
std::vector<PixelFormat> all_formats();
/// The first is the one that tests of any type prefer.
inline constexpr pi_image_type all_image_types[] = {PI_IMAGE_2D, PI_IMAGE_3D, PI_IMAGE_2D_ARRAY,
                                                    PI_IMAGE_1D, PI_IMAGE_1D_ARRAY};
const char *name_of_type(pi_image_type type);

/// Skips the test where the device has no images.
void need_images(Fixture &fixture);

/// An image of this type, each axis that it has as given.
pi_mem_image_desc image_desc(pi_image_type type, PixelFormat format, const Pixels &extent);
PixelFormat format_of(const pi_mem_image_desc &desc);
/// {width, height, depth or layers}, 1 where the type has no such axis.
Pixels extent_of(const pi_mem_image_desc &desc);
uint64_t size_of(const pi_mem_image_desc &desc);
std::string text_of(const pi_mem_image_desc &desc);

/// The formats that the device has for images of the type and access flags; those that it refuses,
/// it refuses as pi.h says. Most tests choose a few at random.
std::vector<PixelFormat> formats_of(Fixture &fixture, pi_image_type type, uint64_t flags = 0);
std::vector<PixelFormat> formats_of(const Place &place, pi_image_type type, uint64_t flags = 0);
std::vector<pi_image_type> types_of(Fixture &fixture);
/// A small image of a type and format that the device has.
pi_mem_image_desc random_image_desc(Fixture &fixture, pi_image_type type);
/// The smallest thing to try something on: 2-D, RGBA of UINT8 or what else there is.
pi_mem_image_desc any_image_desc(Fixture &fixture, uint64_t width = 8, uint64_t height = 6);
/// The same for tests of rows: 2-D, and skips where there is none.
pi_mem_image_desc flat_image_desc(Fixture &fixture, uint64_t width, uint64_t height);

pi_sampler_desc sampler_desc(uint32_t normalized, pi_addressing_mode addressing,
                             pi_filter_mode filter);
Mem make_image(Fixture &fixture, const pi_mem_image_desc &desc);
Mem make_image(const Place &place, const pi_mem_image_desc &desc);

// ----- Regions -----

/// A rectangle of rows of bytes, as it lies in a model.
struct Rows {
    uint64_t offset = 0;
    uint64_t row = 0; ///< bytes
    uint64_t rows = 1;
    uint64_t slices = 1;
    uint64_t row_pitch = 0;
    uint64_t slice_pitch = 0;
    uint64_t end() const {
        return offset + (slices - 1) * slice_pitch + (rows - 1) * row_pitch + row;
    }
};
/// The whole of an image's dense model, or a box of it.
Rows rows_of(const pi_mem_image_desc &desc);
Rows rows_of(const pi_mem_image_desc &desc, const Pixels &origin, const Pixels &extent);
/// Moves the bytes; both have the same rows.
void move_rows(const Bytes &src, const Rows &from, Bytes &dst, const Rows &to);

struct Box {
    Pixels origin{};
    Pixels extent{};
};
Box random_box(Fixture &fixture, const Pixels &within);
/// A host or buffer end for a box, with random pitches and an offset of less than `room`; bytes.
Rows random_linear(Fixture &fixture, const Pixels &extent, uint64_t pixel, uint64_t room = 64);

pi_image_region image_region(const Box &box, const Rows &host = {});
std::string text_of(const pi_image_region &region);

pi_image_read_desc image_read_desc(pi_mem image, void *host,
                                   const std::vector<pi_image_region> &regions);
pi_image_write_desc image_write_desc(pi_mem image, const void *host,
                                     const std::vector<pi_image_region> &regions);

using CopyRegions = std::vector<pi_image_copy_region>;
pi_image_copy_desc image_copy_desc(pi_mem src, pi_mem dst, const CopyRegions &regions);
pi_image_copy_region image_copy_region(const Pixels &src, const Pixels &dst, const Pixels &extent,
                                       const Rows &buffer = {});
std::string text_of(const pi_image_copy_region &region);

pi_image_fill_desc image_fill_desc(pi_mem image, const void *color, const Box &box);

/// The whole image at once, dense, with waiting.
void image_upload(Fixture &fixture, pi_queue queue, pi_mem image, const pi_mem_image_desc &desc,
                  const Bytes &pixels);
Bytes image_download(Fixture &fixture, pi_queue queue, pi_mem image, const pi_mem_image_desc &desc);
void require_pixels(Fixture &fixture, pi_queue queue, pi_mem image, const pi_mem_image_desc &desc,
                    const Bytes &expected, const std::string &what);
/// Random pixels whose bytes mean a number in any format: no NaN, which some devices do not keep.
Bytes random_pixels(Fixture &fixture, const pi_mem_image_desc &desc);

} // namespace pi::suite
