// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images, samplers, and a kernel that reports what it receives for them.
#pragma once

#include "plugin_fixture.hpp"

namespace cuda_test {

inline pi_mem_image_desc image_desc(pi_image_type type, pi_channel_type channel, uint64_t width,
                                    uint64_t height = 0, uint64_t slices = 0) {
    auto d = pi::desc<pi_mem_image_desc>();
    d.image_type = type;
    d.channel_order = PI_CHANNEL_ORDER_RGBA;
    d.channel_type = channel;
    d.width = width;
    d.height = height;
    (type == PI_IMAGE_3D ? d.depth : d.array_size) = slices;
    return d;
}

inline Owned<pi_mem> make_image(const Machine &machine, const pi_mem_image_desc &d,
                                size_t device = first) {
    Owned<pi_mem> image;
    OK(piMemImageCreate(machine.context, machine.devices.at(device), &d, image.out()));
    return image;
}

/// One region, which is referenced, not copied.
inline pi_image_copy_desc image_copy_desc(pi_mem src, pi_mem dst,
                                          const pi_image_copy_region &region, uint64_t flags = 0) {
    auto d = pi::desc<pi_image_copy_desc>();
    d.flags = flags;
    d.src = src;
    d.dst = dst;
    d.region_count = 1;
    d.regions = &region;
    return d;
}

inline Owned<pi_sampler> make_sampler(const Machine &machine, uint32_t normalized,
                                      pi_addressing_mode mode, pi_filter_mode filter) {
    auto d = pi::desc<pi_sampler_desc>();
    d.normalized_coordinates = normalized;
    d.addressing = mode;
    d.filter = filter;
    Owned<pi_sampler> sampler;
    OK(piSamplerCreate(machine.context, &d, sampler.out()));
    return sampler;
}

/// Runs a kernel that records the images it receives; see describe_image in kernels.c.
struct Onlooker {
    explicit Onlooker(const Machine &on)
        : machine(on), queue(on.queue()),
          surfaces(on.program("function describe_image surface pointer\n")),
          textures(on.program("function describe_image texture pointer\n")),
          out(on.buffer(first, 64)) {}

    std::vector<uint32_t> look(pi_mem image, pi_sampler sampler = nullptr) const {
        const Owned<pi_kernel> kernel =
            make_kernel(sampler ? textures : surfaces, "describe_image");
        const std::vector arguments{image_argument(image, sampler), buffer_argument(out)};
        const auto launch = launch_desc(kernel, arguments, 1);
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
        return read_words(queue, out, 10);
    }

    const Machine &machine;
    const Owned<pi_queue> queue;
    const Owned<pi_program> surfaces, textures;
    const Owned<pi_mem> out;
};

using Words = std::vector<uint32_t>;

} // namespace cuda_test
