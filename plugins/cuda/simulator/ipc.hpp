// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain memory that other processes can open: ranges of one unnamed file per device, which they
// open in /proc by the process and its descriptor.
#pragma once

#include "memory.hpp"

namespace pi::cuda::simulated {

/// Moves the allocation's bytes into its device's file, as long as anything uses them. Throws
/// OUT_OF_MEMORY.
void share(Allocation &allocation, Device &device);

} // namespace pi::cuda::simulated
