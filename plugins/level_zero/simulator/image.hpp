// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "memory.hpp"

#include <pi/pi_native_kernel.h>

namespace pi::level_zero::simulated {

struct Image : Object {
    ze_image_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    ze_image_desc_t descriptor{};
    size_t width = 1, height = 1, depth = 1; ///< in pixels, and layers
    size_t pixel = 0, row = 0, slice = 0;    ///< bytes
    std::vector<char> pixels;                ///< accessible to the driver only
    std::uint64_t id = 0;
};

struct Sampler : Object {
    ze_sampler_handle_t handle = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    ze_sampler_desc_t descriptor{};
};

/// The largest number of pixels on an axis, and on the third one.
constexpr std::uint32_t most_image_width = 16384, most_image_depth = 2048;

/// A native kernel's records of an image and of a sampler.
pi_native_image record_of(const Image &image);
pi_native_sampler record_of(const Sampler &sampler);

} // namespace pi::level_zero::simulated
