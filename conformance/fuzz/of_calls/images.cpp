// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "program.hpp"

#include <algorithm>

namespace pi::fuzz {
namespace {

constexpr size_t most_images = 6;

struct Format {
    pi_channel_order order;
    pi_channel_type type;
    uint32_t channels, bytes; ///< of one channel
};
constexpr Format formats[] = {{PI_CHANNEL_ORDER_R, PI_CHANNEL_UINT8, 1, 1},
                              {PI_CHANNEL_ORDER_RG, PI_CHANNEL_UINT16, 2, 2},
                              {PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT8, 4, 1},
                              {PI_CHANNEL_ORDER_BGRA, PI_CHANNEL_UINT8, 4, 1},
                              {PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT32, 4, 4}};
/// The axes of each type in its descriptor.
struct Type {
    pi_image_type type;
    uint64_t pi_mem_image_desc::*axes[3];
};
constexpr Type types[] = {
    {PI_IMAGE_1D, {&pi_mem_image_desc::width, nullptr, nullptr}},
    {PI_IMAGE_2D, {&pi_mem_image_desc::width, &pi_mem_image_desc::height, nullptr}},
    {PI_IMAGE_3D,
     {&pi_mem_image_desc::width, &pi_mem_image_desc::height, &pi_mem_image_desc::depth}},
    {PI_IMAGE_1D_ARRAY, {&pi_mem_image_desc::width, nullptr, &pi_mem_image_desc::array_size}},
    {PI_IMAGE_2D_ARRAY,
     {&pi_mem_image_desc::width, &pi_mem_image_desc::height, &pi_mem_image_desc::array_size}}};

/// A descriptor with small numbers, and the image that it would make.
pi_mem_image_desc some_image(Input &input, Image &image) {
    auto desc = pi::desc<pi_mem_image_desc>();
    const Format &format = formats[input.below(std::size(formats))];
    const Type &type = types[input.below(std::size(types))];
    desc.image_type = type.type;
    desc.channel_order = image.order = format.order;
    desc.channel_type = image.type = format.type;
    image.pixel = format.channels * format.bytes;
    for (int axis = 0; axis < 3; ++axis) {
        image.extent[axis] = 1;
        if (type.axes[axis] != nullptr) {
            image.extent[axis] = desc.*type.axes[axis] = input.below(axis == 0 ? 17 : 5);
        }
    }
    image.place = {0, {image.extent[0] * image.pixel, 0}};
    image.place.pitch[1] = image.place.pitch[0] * image.extent[1];
    return desc;
}

bool has_pixels(const Image &image) {
    return image.extent[0] != 0 && image.extent[1] != 0 && image.extent[2] != 0;
}

/// Whether pixels lie within an image; 0 rows or slices are one.
bool lies_within(const Image &image, const uint64_t (&origin)[3], const uint64_t (&extent)[3]) {
    for (int axis = 0; axis < 3; ++axis) {
        const uint64_t pixels = axis == 0 ? extent[0] : std::max<uint64_t>(1, extent[axis]);
        if (pixels == 0 || pixels > image.extent[axis] ||
            origin[axis] > image.extent[axis] - pixels) {
            return false;
        }
    }
    return true;
}

/// Where pixels of an image begin, as a side of a region of bytes.
Side side_of(const Image &image, const uint64_t (&origin)[3]) {
    return {image.place.offset + origin[2] * image.place.pitch[1] +
                origin[1] * image.place.pitch[0] + origin[0] * image.pixel,
            {image.place.pitch[0], image.place.pitch[1]}};
}
/// Bytes of a row, rows and slices.
pi_region region_between(const Side &from, const Side &to, const uint64_t (&extent)[3],
                         uint64_t pixel) {
    pi_region region{};
    region.src_offset = from.offset;
    region.dst_offset = to.offset;
    for (int i = 0; i < 2; ++i) {
        region.src_pitch[i] = from.pitch[i];
        region.dst_pitch[i] = to.pitch[i];
    }
    if (__builtin_mul_overflow(extent[0], pixel, &region.extent[0])) {
        region.extent[0] = UINT64_MAX;
    }
    region.extent[1] = extent[1];
    region.extent[2] = extent[2];
    return region;
}

} // namespace

/// Mostly within the image.
pi_image_region Program::some_image_region(const Image &image) {
    pi_image_region region{};
    for (int axis = 0; axis < 3; ++axis) {
        region.origin[axis] = below(4) == 0 ? input_.number() : below(image.extent[axis]);
        region.extent[axis] = bytes_from(region.origin[axis], image.extent[axis]);
    }
    region.row_pitch = below(4) == 0 ? input_.number() : 0;
    region.slice_pitch = below(8) == 0 ? input_.number() : 0;
    region.offset = below(4) == 0 ? input_.number() : 0;
    region.mip_level = below(32) == 0 ? input_.take<uint32_t>() : 0;
    region.reserved[0] = below(32) == 0 ? input_.take<uint32_t>() : 0;
    return region;
}

void Program::create_image() {
    if (images_.size() >= most_images || !has_images_) {
        return;
    }
    Image image{};
    auto desc = some_image(input_, image);
    Bytes bytes = some_bytes(image.place.pitch[1] * image.extent[2]);
    desc.flags = PI_MEM_COPY_HOST_PTR;
    desc.host_ptr = bytes.data();
    const pi_result result = piMemImageCreate(place_.context, place_.device, &desc, &image.mem);
    forget_released(result);
    if ((result == PI_SUCCESS) != has_pixels(image)) {
        finding("an image of ", image.extent[0], " by ", image.extent[1], " by ", image.extent[2],
                " pixels answers ", result, ": ", last_error());
    }
    if (result == PI_SUCCESS) {
        image.memory = std::make_shared<Memory>(std::move(bytes));
        images_.push_back(std::move(image));
    }
}

void Program::view_as_image() {
    const Buffer *buffer = any_of(buffers_);
    if (images_.size() >= most_images || !has_images_ || buffer == nullptr) {
        return;
    }
    Image image{};
    auto desc = some_image(input_, image);
    desc.offset = below(2) == 0 ? input_.number() : 0;
    desc.row_pitch = below(2) == 0 ? input_.number() : 0;
    desc.slice_pitch = below(4) == 0 ? input_.number() : 0;
    if (piMemImageViewCreate(buffer->mem, &desc, &image.mem) != PI_SUCCESS) {
        return; // an offset or a pitch may have to be aligned
    }
    image.place.offset = desc.offset;
    image.place.pitch[0] = desc.row_pitch != 0 ? desc.row_pitch : image.place.pitch[0];
    image.place.pitch[1] =
        desc.slice_pitch != 0 ? desc.slice_pitch : image.place.pitch[0] * image.extent[1];
    const uint64_t origin[3] = {};
    const pi_region region = region_between(side_of(image, origin), {}, image.extent, image.pixel);
    uint64_t end = 0;
    if (!has_pixels(image) || !end_of(region, source_of(region), end) || end > buffer->size) {
        finding("an image past the end of its buffer is made");
    }
    image.place.offset += buffer->offset;
    image.memory = buffer->memory;
    images_.push_back(std::move(image));
}

void Program::write_image() {
    const Image *image = any_of(images_);
    if (image == nullptr) {
        return;
    }
    const pi_image_region region = some_image_region(*image);
    const pi_region moved =
        region_between({region.offset, {region.row_pitch, region.slice_pitch}},
                       side_of(*image, region.origin), region.extent, image->pixel);
    uint64_t end = 0;
    if (!end_of(moved, source_of(moved), end) || end > most_bytes) {
        return;
    }
    const Bytes &bytes = host_bytes_.emplace_back(some_bytes(end));
    auto desc = pi::desc<pi_image_write_desc>();
    desc.image = image->mem;
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{image->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemImageWrite);
    const bool plain = region.row_pitch == 0 && region.slice_pitch == 0 && region.mip_level == 0 &&
                       region.reserved[0] == 0;
    judge(outcome != Outcome::refused, lies_within(*image, region.origin, region.extent), plain,
          "a write of an image");
    if (outcome == Outcome::done) {
        move_bytes(moved, bytes.data(), image->memory->bytes.data());
    }
}

void Program::read_image() {
    const Image *image = any_of(images_);
    if (image == nullptr) {
        return;
    }
    const pi_image_region region = some_image_region(*image);
    const pi_region moved = region_between(side_of(*image, region.origin),
                                           {region.offset, {region.row_pitch, region.slice_pitch}},
                                           region.extent, image->pixel);
    uint64_t end = 0;
    if (!end_of(moved, destination_of(moved), end) || end > most_bytes) {
        return;
    }
    Read &read = reads_.emplace_back();
    read.bytes = read.expected = some_bytes(end);
    auto desc = pi::desc<pi_image_read_desc>();
    desc.image = image->mem;
    desc.host_ptr = read.bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{image->memory, false}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemImageRead);
    const bool plain = region.row_pitch == 0 && region.slice_pitch == 0 && region.mip_level == 0 &&
                       region.reserved[0] == 0;
    judge(outcome != Outcome::refused, lies_within(*image, region.origin, region.extent), plain,
          "a read of an image");
    if (outcome == Outcome::done) {
        move_bytes(moved, image->memory->bytes.data(), read.expected.data());
    }
}

void Program::copy_image() {
    const Image *from = any_of(images_);
    const Image *to = any_of(images_);
    if (from == nullptr) {
        return;
    }
    const pi_image_region source = some_image_region(*from);
    pi_image_copy_region region{};
    std::copy_n(source.origin, 3, region.src_origin);
    std::copy_n(source.extent, 3, region.extent);
    for (int axis = 0; axis < 3; ++axis) {
        region.dst_origin[axis] = below(2) == 0 ? below(to->extent[axis]) : 0;
    }
    auto desc = pi::desc<pi_image_copy_desc>();
    desc.src = from->mem;
    desc.dst = to->mem;
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{from->memory, false}, {to->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemImageCopy);
    const bool same_format = from->order == to->order && from->type == to->type;
    judge(outcome != Outcome::refused,
          same_format && lies_within(*from, region.src_origin, region.extent) &&
              lies_within(*to, region.dst_origin, region.extent),
          from->memory != to->memory, "a copy of an image");
    if (outcome == Outcome::done) {
        const Bytes before = from->memory->bytes;
        move_bytes(region_between(side_of(*from, region.src_origin),
                                  side_of(*to, region.dst_origin), region.extent, from->pixel),
                   before.data(), to->memory->bytes.data());
    }
}

void Program::copy_image_and_buffer() {
    const Image *image = any_of(images_);
    const Buffer *buffer = any_of(buffers_);
    if (image == nullptr || buffer == nullptr) {
        return;
    }
    const bool to_image = below(2) == 0;
    const pi_image_region some = some_image_region(*image);
    pi_image_copy_region region{};
    std::copy_n(some.origin, 3, to_image ? region.dst_origin : region.src_origin);
    std::copy_n(some.extent, 3, region.extent);
    region.buffer_offset = some.offset;
    region.buffer_row_pitch = some.row_pitch;
    region.buffer_slice_pitch = some.slice_pitch;
    auto desc = pi::desc<pi_image_copy_desc>();
    desc.src = to_image ? buffer->mem : image->mem;
    desc.dst = to_image ? image->mem : buffer->mem;
    desc.region_count = 1;
    desc.regions = &region;
    Submission submission = begin({{image->memory, to_image}, {buffer->memory, !to_image}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemImageCopy);
    const Side pixels = side_of(*image, some.origin);
    const Side bytes = {some.offset, {some.row_pitch, some.slice_pitch}};
    const pi_region moved = region_between(to_image ? bytes : pixels, to_image ? pixels : bytes,
                                           region.extent, image->pixel);
    uint64_t end = 0;
    const bool good = lies_within(*image, some.origin, region.extent) &&
                      end_of(moved, bytes, end) && end <= buffer->size;
    judge(outcome != Outcome::refused, good,
          some.row_pitch == 0 && some.slice_pitch == 0 && image->memory != buffer->memory,
          "a copy between an image and a buffer");
    if (outcome == Outcome::done) {
        const Bytes before = to_image ? buffer->memory->bytes : image->memory->bytes;
        move_bytes(moved, before.data() + (to_image ? buffer->offset : 0),
                   to_image ? image->memory->bytes.data() : buffer->data());
    }
}

void Program::fill_image() {
    const Image *image = any_of(images_);
    if (image == nullptr) {
        return;
    }
    const pi_image_region region = some_image_region(*image);
    uint32_t color[4];
    for (uint32_t &channel : color) {
        channel = input_.take<uint8_t>(); // each type has it
    }
    auto desc = pi::desc<pi_image_fill_desc>();
    desc.image = image->mem;
    desc.color = color;
    std::copy_n(region.origin, 3, desc.origin);
    std::copy_n(region.extent, 3, desc.extent);
    Submission submission = begin({{image->memory, true}});
    const Outcome outcome = submit(submission, desc, piEnqueueMemImageFill);
    judge(outcome != Outcome::refused, lies_within(*image, region.origin, region.extent), true,
          "a fill of an image");
    if (outcome != Outcome::done) {
        return;
    }
    if (image->order == PI_CHANNEL_ORDER_BGRA) {
        std::swap(color[0], color[2]);
    }
    const uint64_t channel = image->type == PI_CHANNEL_UINT8    ? 1
                             : image->type == PI_CHANNEL_UINT16 ? 2
                                                                : 4;
    Bytes pixel(image->pixel);
    for (uint64_t i = 0; i < image->pixel / channel; ++i) {
        std::memcpy(pixel.data() + i * channel, &color[i], channel);
    }
    // Pixel after pixel.
    for (uint64_t z = 0; z < std::max<uint64_t>(1, region.extent[2]); ++z) {
        for (uint64_t y = 0; y < std::max<uint64_t>(1, region.extent[1]); ++y) {
            for (uint64_t x = 0; x < region.extent[0]; ++x) {
                const uint64_t at[3] = {region.origin[0] + x, region.origin[1] + y,
                                        region.origin[2] + z};
                std::copy(pixel.begin(), pixel.end(),
                          image->memory->bytes.data() + side_of(*image, at).offset);
            }
        }
    }
}

void Program::release_image() {
    if (!images_.empty()) {
        const auto which = images_.begin() + below(images_.size());
        must(piMemRelease(which->mem), "piMemRelease");
        released_.push_back(which->mem);
        images_.erase(which);
    }
}

void Program::check(const Image &image) {
    const uint64_t origin[3] = {};
    const pi_region moved = region_between(side_of(image, origin), {}, image.extent, image.pixel);
    Bytes bytes(image.extent[0] * image.extent[1] * image.extent[2] * image.pixel);
    Bytes expected(bytes.size());
    pi_image_region region{};
    std::copy_n(image.extent, 3, region.extent);
    auto desc = pi::desc<pi_image_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.image = image.mem;
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &region;
    must(piEnqueueMemImageRead(queues_[0], &desc, 0, nullptr, nullptr), "the last read");
    move_bytes(moved, image.memory->bytes.data(), expected.data());
    check_bytes(bytes, expected.data(), "an image");
}

} // namespace pi::fuzz
