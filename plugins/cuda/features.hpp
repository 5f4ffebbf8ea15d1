// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The infos of a device that runtimes above ask for: rates, vectors, float types, caches, atomics,
// limits.
#pragma once

#include "platform.hpp"

#include <pi/sdk/descriptor.hpp>

#include <span>

namespace pi::cuda {

std::span<const sdk::InfoRow<Device>> feature_rows();

} // namespace pi::cuda
