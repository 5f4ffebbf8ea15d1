// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain memory of a device as other processes can have it: ranges of one file a device, which has no name. Who knows the
// process and its descriptor opens it in /proc.
#pragma once

#include "memory.hpp"

namespace pi::cuda::simulated {

/// Puts the allocation's bytes into its device's file, for as long as anything uses them. Throws OUT_OF_MEMORY.
void share(Allocation &allocation, Device &device);

} // namespace pi::cuda::simulated
