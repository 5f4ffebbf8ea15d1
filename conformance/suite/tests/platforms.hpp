// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "fixture.hpp"

#include <vector>

namespace pi::suite {

/// A device of another platform of the plugin; skips the test where there is none.
inline pi_device need_device_of_another_platform(const Fixture &fixture) {
    uint32_t count = 0;
    require_success(piPlatformsGet(fixture.plugin(), 0, nullptr, &count), "piPlatformsGet");
    std::vector<pi_platform> platforms(count);
    require_success(piPlatformsGet(fixture.plugin(), count, platforms.data(), &count),
                    "piPlatformsGet");
    for (const pi_platform platform : platforms) {
        pi_device another = nullptr;
        uint32_t devices = 0;
        if (platform != fixture.platform() &&
            piDevicesGet(platform, PI_DEVICE_TYPE_ALL, 1, &another, &devices) == PI_SUCCESS &&
            devices != 0)
            return another;
    }
    skip("the plugin has no second platform with devices");
}

} // namespace pi::suite
