// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What images of the host can be. They are rows of pixels in ordinary memory; memory.hpp has the object.
#pragma once

#include <pi/sdk/image.hpp>

namespace pi::host {

/// Coordinates fit into an int, as kernels like them; memory sets the limit before that.
inline constexpr uint64_t max_image_pixels = 1 << 30;
inline constexpr sdk::ImageLimits image_limits{
    {max_image_pixels, max_image_pixels},
    {max_image_pixels, max_image_pixels, max_image_pixels},
    max_image_pixels};

/// A view begins at any byte, with rows at any pitch that pi.h allows.
inline constexpr uint64_t image_view_alignment = 1;

} // namespace pi::host
