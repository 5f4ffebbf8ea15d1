// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

namespace pi::cuda {

/// It becomes a part of the textures of the images that are read through it.
using Sampler = sdk::DescribedSampler<Context>;

/// What a kernel gets of a sampler that is an argument of its own, as pi.h says.
inline uint32_t sampler_word(const pi_sampler_desc &sampler) {
    return 256 * sampler.addressing + 16 * sampler.filter + sampler.normalized_coordinates;
}

/// Samplers that read alike have one number, less than sampler_count.
inline size_t sampler_index(const pi_sampler_desc &sampler) {
    return (sampler.addressing * 2 + sampler.filter) * 2 + sampler.normalized_coordinates;
}
inline constexpr size_t sampler_count = (PI_ADDRESSING_MIRRORED_REPEAT + 1) * 2 * 2;

} // namespace pi::cuda
