// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "image.hpp"

#include <algorithm>
#include <cstring>

namespace pi::suite {
namespace {

constexpr const char *order_names[] = {"R", "RG", "RGBA", "BGRA"};
constexpr uint32_t order_channels[] = {1, 2, 4, 4};
constexpr const char *type_names[] = {"UNORM8", "UNORM16", "SNORM8", "SNORM16", "UINT8", "UINT16",
                                      "UINT32", "SINT8",   "SINT16", "SINT32",  "HALF",  "FLOAT"};
constexpr uint32_t type_sizes[] = {1, 2, 1, 2, 1, 2, 4, 1, 2, 4, 2, 4};
constexpr const char *image_names[] = {"a 1-D image", "a 2-D image", "a 3-D image",
                                       "an array of 1-D images", "an array of 2-D images"};

bool has_height(pi_image_type type) {
    return type == PI_IMAGE_2D || type == PI_IMAGE_3D || type == PI_IMAGE_2D_ARRAY;
}
bool has_layers(pi_image_type type) {
    return type == PI_IMAGE_1D_ARRAY || type == PI_IMAGE_2D_ARRAY;
}

} // namespace

uint32_t PixelFormat::channels() const {
    return order_channels[order - 1];
}
uint32_t PixelFormat::channel_size() const {
    return type_sizes[type - 1];
}
std::string PixelFormat::text() const {
    return join(order_names[order - 1], " of ", type_names[type - 1]);
}

std::vector<PixelFormat> all_formats() {
    std::vector<PixelFormat> formats;
    for (pi_channel_type type = PI_CHANNEL_UNORM8; type <= PI_CHANNEL_FLOAT; ++type)
        for (pi_channel_order order = PI_CHANNEL_ORDER_R; order <= PI_CHANNEL_ORDER_BGRA; ++order)
            formats.push_back({order, type});
    return formats;
}

const char *name_of_type(pi_image_type type) {
    return image_names[type - 1];
}

void need_images(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE");
}

pi_mem_image_desc image_desc(pi_image_type type, PixelFormat format, const Pixels &extent) {
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = type;
    desc.channel_order = format.order;
    desc.channel_type = format.type;
    desc.width = extent[0];
    if (has_height(type))
        desc.height = extent[1];
    if (type == PI_IMAGE_3D)
        desc.depth = extent[2];
    if (has_layers(type))
        desc.array_size = extent[2];
    return desc;
}

PixelFormat format_of(const pi_mem_image_desc &desc) {
    return {desc.channel_order, desc.channel_type};
}

Pixels extent_of(const pi_mem_image_desc &desc) {
    return {desc.width, std::max<uint64_t>(desc.height, 1),
            std::max<uint64_t>({desc.depth, desc.array_size, 1})};
}

uint64_t size_of(const pi_mem_image_desc &desc) {
    const Pixels extent = extent_of(desc);
    return extent[0] * extent[1] * extent[2] * format_of(desc).size();
}

std::string text_of(const pi_mem_image_desc &desc) {
    const Pixels extent = extent_of(desc);
    return join(name_of_type(desc.image_type), " of ", extent[0], " x ", extent[1], " x ",
                extent[2], " pixels, ", format_of(desc).text());
}

std::vector<PixelFormat> formats_of(Fixture &fixture, pi_image_type type, uint64_t flags) {
    return formats_of(fixture.place(), type, flags);
}

std::vector<PixelFormat> formats_of(const Place &place, pi_image_type type, uint64_t flags) {
    std::vector<PixelFormat> formats;
    for (const PixelFormat &format : all_formats()) {
        pi_mem_image_desc desc = image_desc(type, format, {4, 3, 2});
        desc.flags = flags;
        Mem image;
        const pi_result result = piMemImageCreate(place.context, place.device, &desc, image.out());
        if (result == PI_SUCCESS)
            formats.push_back(format);
        else
            require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "piMemImageCreate of ",
                          text_of(desc));
    }
    return formats;
}

std::vector<pi_image_type> types_of(Fixture &fixture) {
    need_images(fixture);
    std::vector<pi_image_type> types;
    for (const pi_image_type type : all_image_types)
        if (!formats_of(fixture, type).empty())
            types.push_back(type);
    return types;
}

pi_mem_image_desc random_image_desc(Fixture &fixture, pi_image_type type) {
    const std::vector<PixelFormat> formats = formats_of(fixture, type);
    require(!formats.empty(), name_of_type(type), " has no format");
    return image_desc(type, formats[fixture.random(0, formats.size() - 1)],
                      {fixture.random(1, 60), fixture.random(1, 20), fixture.random(1, 6)});
}

pi_mem_image_desc any_image_desc(Fixture &fixture, uint64_t width, uint64_t height) {
    need_images(fixture);
    for (const pi_image_type type : all_image_types) {
        const std::vector<PixelFormat> formats = formats_of(fixture, type);
        if (formats.empty())
            continue;
        PixelFormat chosen = formats.front();
        for (const PixelFormat &format : formats)
            if (format.order == PI_CHANNEL_ORDER_RGBA && format.type == PI_CHANNEL_UINT8)
                chosen = format;
        return image_desc(type, chosen, {width, height, 1});
    }
    throw Failure{"a device with PI_CAPABILITY_IMAGE has no format of any type of images"};
}

pi_mem_image_desc flat_image_desc(Fixture &fixture, uint64_t width, uint64_t height) {
    const pi_mem_image_desc desc = any_image_desc(fixture, width, height);
    if (desc.image_type != PI_IMAGE_2D)
        skip("the device has no 2-D images");
    return desc;
}

pi_sampler_desc sampler_desc(uint32_t normalized, pi_addressing_mode addressing,
                             pi_filter_mode filter) {
    auto desc = pi::desc<pi_sampler_desc>();
    desc.normalized_coordinates = normalized;
    desc.addressing = addressing;
    desc.filter = filter;
    return desc;
}

Mem make_image(Fixture &fixture, const pi_mem_image_desc &desc) {
    return make_image(fixture.place(), desc);
}

Mem make_image(const Place &place, const pi_mem_image_desc &desc) {
    Mem image;
    require_success(piMemImageCreate(place.context, place.device, &desc, image.out()),
                    "piMemImageCreate of ", text_of(desc));
    require(image.get() != nullptr, "piMemImageCreate: succeeded, but returned no image");
    return image;
}

Rows rows_of(const pi_mem_image_desc &desc) {
    return rows_of(desc, {}, extent_of(desc));
}

Rows rows_of(const pi_mem_image_desc &desc, const Pixels &origin, const Pixels &extent) {
    const Pixels whole = extent_of(desc);
    const uint64_t pixel = format_of(desc).size();
    const uint64_t row = whole[0] * pixel, slice = row * whole[1];
    return {origin[2] * slice + origin[1] * row + origin[0] * pixel,
            extent[0] * pixel,
            extent[1],
            extent[2],
            row,
            slice};
}

void move_rows(const Bytes &src, const Rows &from, Bytes &dst, const Rows &to) {
    require(from.end() <= src.size() && to.end() <= dst.size(), "the test's rows do not fit");
    for (uint64_t z = 0; z < from.slices; ++z)
        for (uint64_t y = 0; y < from.rows; ++y)
            std::memcpy(dst.data() + to.offset + z * to.slice_pitch + y * to.row_pitch,
                        src.data() + from.offset + z * from.slice_pitch + y * from.row_pitch,
                        from.row);
}

Box random_box(Fixture &fixture, const Pixels &within) {
    Box box;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        box.origin[axis] = fixture.random(0, within[axis] - 1);
        box.extent[axis] = fixture.random(1, within[axis] - box.origin[axis]);
    }
    return box;
}

Rows random_linear(Fixture &fixture, const Pixels &extent, uint64_t pixel, uint64_t room) {
    Rows rows{fixture.random(0, room), extent[0] * pixel, extent[1], extent[2], 0, 0};
    rows.row_pitch = rows.row + (fixture.random(0, 1) != 0 ? fixture.random(0, 40) : 0);
    // Dense slices, slices at whole rows, and slices anywhere: drivers treat each in another way.
    const uint64_t gaps[] = {0, fixture.random(1, 4) * rows.row_pitch, fixture.random(0, 100)};
    rows.slice_pitch = rows.row_pitch * rows.rows + gaps[fixture.random(0, 2)];
    return rows;
}

pi_image_region image_region(const Box &box, const Rows &host) {
    pi_image_region region{};
    std::copy(box.origin.begin(), box.origin.end(), region.origin);
    std::copy(box.extent.begin(), box.extent.end(), region.extent);
    region.offset = host.offset;
    region.row_pitch = host.row_pitch;
    region.slice_pitch = host.slice_pitch;
    return region;
}

std::string text_of(const pi_image_region &region) {
    return join("a region of ", region.extent[0], " x ", region.extent[1], " x ", region.extent[2],
                " pixels at {", region.origin[0], ", ", region.origin[1], ", ", region.origin[2],
                "}, in memory at ", region.offset, " with pitches {", region.row_pitch, ", ",
                region.slice_pitch, "}");
}

namespace {
template <typename Desc, typename Host>
Desc transfer_desc(pi_mem image, Host *host, const std::vector<pi_image_region> &regions) {
    auto desc = pi::desc<Desc>();
    desc.image = image;
    desc.host_ptr = host;
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}
} // namespace

pi_image_read_desc image_read_desc(pi_mem image, void *host,
                                   const std::vector<pi_image_region> &regions) {
    return transfer_desc<pi_image_read_desc>(image, host, regions);
}

pi_image_write_desc image_write_desc(pi_mem image, const void *host,
                                     const std::vector<pi_image_region> &regions) {
    return transfer_desc<pi_image_write_desc>(image, host, regions);
}

pi_image_copy_desc image_copy_desc(pi_mem src, pi_mem dst, const CopyRegions &regions) {
    auto desc = pi::desc<pi_image_copy_desc>();
    desc.src = src;
    desc.dst = dst;
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}

pi_image_copy_region image_copy_region(const Pixels &src, const Pixels &dst, const Pixels &extent,
                                       const Rows &buffer) {
    pi_image_copy_region region{};
    std::copy(src.begin(), src.end(), region.src_origin);
    std::copy(dst.begin(), dst.end(), region.dst_origin);
    std::copy(extent.begin(), extent.end(), region.extent);
    region.buffer_offset = buffer.offset;
    region.buffer_row_pitch = buffer.row_pitch;
    region.buffer_slice_pitch = buffer.slice_pitch;
    return region;
}

std::string text_of(const pi_image_copy_region &r) {
    return join("a copy of ", r.extent[0], " x ", r.extent[1], " x ", r.extent[2], " pixels from {",
                r.src_origin[0], ", ", r.src_origin[1], ", ", r.src_origin[2], "} to {",
                r.dst_origin[0], ", ", r.dst_origin[1], ", ", r.dst_origin[2], "}, buffer at ",
                r.buffer_offset, " with pitches {", r.buffer_row_pitch, ", ", r.buffer_slice_pitch,
                "}");
}

pi_image_fill_desc image_fill_desc(pi_mem image, const void *color, const Box &box) {
    auto desc = pi::desc<pi_image_fill_desc>();
    desc.image = image;
    desc.color = color;
    std::copy(box.origin.begin(), box.origin.end(), desc.origin);
    std::copy(box.extent.begin(), box.extent.end(), desc.extent);
    return desc;
}

void image_upload(Fixture &fixture, pi_queue queue, pi_mem image, const pi_mem_image_desc &desc,
                  const Bytes &pixels) {
    require_equal(pixels.size(), size_of(desc), "the test's pixels");
    const std::vector<pi_image_region> whole{image_region({{}, extent_of(desc)})};
    fixture.wait(fixture.enqueue(queue, image_write_desc(image, pixels.data(), whole)),
                 "writing an image");
}

Bytes image_download(Fixture &fixture, pi_queue queue, pi_mem image,
                     const pi_mem_image_desc &desc) {
    Bytes pixels(size_of(desc));
    const std::vector<pi_image_region> whole{image_region({{}, extent_of(desc)})};
    fixture.wait(fixture.enqueue(queue, image_read_desc(image, pixels.data(), whole)),
                 "reading an image");
    return pixels;
}

void require_pixels(Fixture &fixture, pi_queue queue, pi_mem image, const pi_mem_image_desc &desc,
                    const Bytes &expected, const std::string &what) {
    const Bytes pixels = image_download(fixture, queue, image, desc);
    require_same_bytes(pixels.data(), expected.data(), expected.size(),
                       what + ", " + text_of(desc));
}

Bytes random_pixels(Fixture &fixture, const pi_mem_image_desc &desc) {
    Bytes bytes = fixture.random_bytes(size_of(desc));
    const PixelFormat format = format_of(desc);
    const bool floats = format.type == PI_CHANNEL_FLOAT || format.type == PI_CHANNEL_HALF;
    // Clears the exponent's highest bit, so that all numbers are finite.
    for (uint64_t i = format.channel_size() - 1; floats && i < bytes.size();
         i += format.channel_size())
        bytes[i] &= std::byte{0xBF};
    return bytes;
}

} // namespace pi::suite
