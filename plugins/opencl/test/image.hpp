// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short forms of the calls on images and samplers.
#pragma once

#include "fixture.hpp"

#include <array>

namespace opencl_test {

using Size3 = std::array<uint64_t, 3>;

/// An image of RGBA of UINT8, which all drivers support; `size` is {width, height, depth or
/// layers}, 0 where the type has no such axis.
pi_mem_image_desc image_desc(pi_image_type type, const Size3 &size);
Mem make_image(pi_context context, pi_device device, const pi_mem_image_desc &desc);
Sampler make_sampler(pi_context context, uint32_t normalized, pi_addressing_mode addressing,
                     pi_filter_mode filter);

/// Blocking, of a whole image, from and to dense pixels of 4 bytes.
void write_image(pi_queue queue, pi_mem image, const Size3 &extent,
                 const std::vector<uint32_t> &pixels);
std::vector<uint32_t> read_image(pi_queue queue, pi_mem image, const Size3 &extent);

} // namespace opencl_test
