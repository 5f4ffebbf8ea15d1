// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-devices: parts of a device's processors.
#pragma once

#include <cstdint>

namespace pi::host {

class Device;

/// The supported kinds of partition: 1 << PI_PARTITION_ bits; none if the device's processors are
/// not known.
uint32_t partition_kinds(const Device &device);

} // namespace pi::host
