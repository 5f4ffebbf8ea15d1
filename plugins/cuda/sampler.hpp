// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

namespace pi::cuda {

/// The sampler is a part of the textures that are read through it.
using Sampler = sdk::DescribedSampler<Context>;

/// The value of a sampler as an argument of its own, as pi.h defines it.
inline uint32_t sampler_word(const pi_sampler_desc &sampler) {
    return 256 * sampler.addressing + 16 * sampler.filter + sampler.normalized_coordinates;
}

/// Equal samplers have equal indices, less than sampler_count.
inline size_t sampler_index(const pi_sampler_desc &sampler) {
    return (sampler.addressing * 2 + sampler.filter) * 2 + sampler.normalized_coordinates;
}
inline constexpr size_t sampler_count = size_t{PI_ADDRESSING_MIRRORED_REPEAT + 1} * 2 * 2;

} // namespace pi::cuda
