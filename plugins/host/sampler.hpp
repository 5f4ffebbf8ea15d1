// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <pi/sdk/sampler.hpp>

namespace pi::host {

/// Native kernels read the descriptor and sample by themselves.
using Sampler = sdk::DescribedSampler<Context>;

} // namespace pi::host
