// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs work-groups at the same time, so that they may wait for each other.
#pragma once

#include "device.hpp"

#include <cstdint>
#include <functional>

namespace pi::host {

/// Calls group(0) to group(count - 1), each on its own thread, and returns once all have returned.
/// If the system cannot start that many threads, makes no call and throws
/// PI_ERROR_OUT_OF_RESOURCES. `group` must not throw.
void run_together(const Device &device, uint64_t count, const std::function<void(uint64_t)> &group);

} // namespace pi::host
