// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "image.hpp"

namespace opencl_test {

pi_mem_image_desc image_desc(pi_image_type type, const Size3 &size) {
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = type;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UINT8;
    desc.width = size[0];
    desc.height = size[1];
    (type == PI_IMAGE_3D ? desc.depth : desc.array_size) = size[2];
    return desc;
}

Mem make_image(pi_context context, pi_device device, const pi_mem_image_desc &desc) {
    Mem image;
    OK(piMemImageCreate(context, device, &desc, image.out()));
    return image;
}

Sampler make_sampler(pi_context context, uint32_t normalized, pi_addressing_mode addressing,
                     pi_filter_mode filter) {
    auto desc = pi::desc<pi_sampler_desc>();
    desc.normalized_coordinates = normalized;
    desc.addressing = addressing;
    desc.filter = filter;
    Sampler sampler;
    OK(piSamplerCreate(context, &desc, sampler.out()));
    return sampler;
}

namespace {

pi_image_region whole(const Size3 &extent) {
    pi_image_region region{};
    for (size_t i = 0; i < 3; ++i)
        region.extent[i] = extent[i];
    return region;
}

} // namespace

void write_image(pi_queue queue, pi_mem image, const Size3 &extent,
                 const std::vector<uint32_t> &pixels) {
    const pi_image_region region = whole(extent);
    auto desc = pi::desc<pi_image_write_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.image = image;
    desc.host_ptr = pixels.data();
    desc.region_count = 1;
    desc.regions = &region;
    OK(piEnqueueMemImageWrite(queue, &desc, 0, nullptr, nullptr));
}

std::vector<uint32_t> read_image(pi_queue queue, pi_mem image, const Size3 &extent) {
    uint64_t count = 1;
    for (const uint64_t pixels : extent)
        count *= pixels ? pixels : 1;
    std::vector<uint32_t> pixels(count);
    const pi_image_region region = whole(extent);
    auto desc = pi::desc<pi_image_read_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.image = image;
    desc.host_ptr = pixels.data();
    desc.region_count = 1;
    desc.regions = &region;
    OK(piEnqueueMemImageRead(queue, &desc, 0, nullptr, nullptr));
    return pixels;
}

} // namespace opencl_test
