// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fixture.hpp"

#include <vector>

namespace pi::suite {

/// The flags of a queue in order and, if the device has such queues, of one out of order.
inline std::vector<uint64_t> queue_orders(Fixture &fixture) {
    const auto flags =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    if ((flags & PI_QUEUE_OUT_OF_ORDER) == 0)
        return {0};
    return {0, PI_QUEUE_OUT_OF_ORDER};
}

} // namespace pi::suite
