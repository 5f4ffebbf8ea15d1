// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels on images (image_kernels.hpp) as native functions, and what they should find.
#pragma once

#include <pi/pi_native_kernel.h>

#include <array>
#include <cstddef>

namespace pi::suite {

extern const pi_native_program native_image_program;
/// The same for simulated devices: of CUDA, where an image has its sampler and the other argument
/// is a word, and of Level Zero, where it has none.
extern const pi_native_program native_texture_program;

/// Pixels of RGBA and UNORM8, as they lie.
struct Texture {
    const std::byte *pixels;
    uint64_t width, height;
    uint64_t row_pitch;
};
/// What a sampler makes of coordinates, as OpenCL C defines it; PI_ADDRESSING_NONE only for
/// coordinates within.
std::array<float, 4> sample(const Texture &texture, const pi_sampler_desc &sampler, float x,
                            float y);

} // namespace pi::suite
