// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The limits of host images, which are rows of pixels in ordinary memory. Their objects are in
// memory.hpp.
#pragma once

#include <pi/sdk/image.hpp>

namespace pi::host {

/// So that coordinates fit into an int; memory is the tighter limit.
inline constexpr uint64_t max_image_pixels = 1 << 30;
inline constexpr sdk::ImageLimits image_limits{
    {max_image_pixels, max_image_pixels},
    {max_image_pixels, max_image_pixels, max_image_pixels},
    max_image_pixels};

/// A view may begin at any byte, with any pitch that pi.h allows.
inline constexpr uint64_t image_view_alignment = 1;

} // namespace pi::host
