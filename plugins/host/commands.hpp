// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts that commands on buffers, images and USM share.
#pragma once

#include "queue.hpp"

#include <pi/sdk/layout.hpp>

#include <span>

namespace pi::host {

/// The cost of a copy: its bytes, plus a cost for each piece; of a fill: its bytes.
Cost cost_of(std::span<const pi_region> regions);
Cost cost_of(uint64_t bytes);

} // namespace pi::host
