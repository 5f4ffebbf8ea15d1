// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-devices: parts of a device's processors.
#pragma once

#include <cstdint>

namespace pi::host {

class Device;

/// The ways in which the device can be partitioned: 1 << PI_PARTITION_ bits; none where its processors are unknown.
uint32_t partition_kinds(const Device &device);

} // namespace pi::host
