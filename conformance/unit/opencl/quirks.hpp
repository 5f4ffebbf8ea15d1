// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the tests of the table in plugins/opencl/quirks.cpp, one for each row: what the plugin promises although the driver
// does not.
#pragma once

#include "fixture.hpp"

namespace opencl_test {

inline constexpr const char *pocl = "Portable Computing Language";

/// The devices whose platform's and own name begin so.
inline std::vector<pi_device> devices_like(const Loader &loader, const std::string &platform,
                                           const std::string &device) {
    std::vector<pi_device> found;
    for (pi_device one : loader.devices())
        if (platform_name_of(one) == platform &&
            text_of(piDeviceGetInfo, one, PI_DEVICE_INFO_NAME).substr(0, device.size()) == device)
            found.push_back(one);
    return found;
}

} // namespace opencl_test
