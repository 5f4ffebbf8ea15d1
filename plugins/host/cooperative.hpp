// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work-groups that run all at once, so that they may wait for each other.
#pragma once

#include "device.hpp"

#include <cstdint>
#include <functional>

namespace pi::host {

/// Calls group(0) to group(count - 1), each on a thread of its own, and returns when all have. No call is made before
/// all threads are there: if the system has not so many, none is, and it is PI_ERROR_OUT_OF_RESOURCES. `group` throws
/// nothing.
void run_together(const Device &device, uint64_t count, const std::function<void(uint64_t)> &group);

} // namespace pi::host
