// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

namespace pi::cuda {

/// It becomes a part of the textures of the images that are read through it.
using Sampler = sdk::DescribedSampler<Context>;

/// What a kernel gets of a sampler that is an argument of its own, as pi.h says; less than sampler_words.
inline uint32_t sampler_word(const pi_sampler_desc &sampler) {
    return (sampler.addressing * 2 + sampler.filter) * 2 + sampler.normalized_coordinates;
}
inline constexpr size_t sampler_words = (PI_ADDRESSING_MIRRORED_REPEAT + 1) * 2 * 2;

} // namespace pi::cuda
