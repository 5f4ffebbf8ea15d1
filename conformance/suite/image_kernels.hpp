// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels on images and samplers, in each format of kernels.hpp. They are a program of
// their own: a device without images need not compile it.
//
//   transpose(read_only image2d src,
//             write_only image2d dst)               dst(y, x) = src(x, y), integers
//   flatten(read_only image3d src,
//           global uint4 *out)                      out[i] = src(x, y, z), where i is
//                                                   (z * height + y) * width + x
//   flatten_layers(read_only image2d_array src,
//                  global uint4 *out)               the same of layers
//   flatten_line(read_only image1d src,
//                global uint4 *out)                 the same of a 1-D image
//   flatten_lines(read_only image1d_array src,
//                 global uint4 *out)                and of its layers
//   flatten_view(read_only image1d_buffer src,
//                global uint4 *out)                 and of a 1-D view of a buffer; in CUDA it is
//                                                   fetch_view(texture src, sampler word, out)
//   sample(read_only image2d image,
//          sampler sampler, global const float2 *at,
//          global float4 *out)                      out[i] = image at at[i], through the sampler
#pragma once

#include "kernels.hpp"
#include "native_image_kernels.hpp"

namespace pi::suite {

/// The kernels on images, built for the context's devices; skips where there is no format, or no
/// images.
Program make_image_program(Fixture &fixture);
Program make_image_program(Fixture &fixture, const Place &place);

} // namespace pi::suite
