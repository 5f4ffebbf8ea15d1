// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the tests of the table in quirks.cpp, one for each row: what the plugin
// promises although the driver does not.
#pragma once

#include "fixture.hpp"

namespace opencl_test {

inline constexpr const char *pocl = "Portable Computing Language";

/// The kind of a PoCL device, as its name states it before version 4; other devices' names
/// unchanged.
inline std::string kind_of(pi_device device) {
    const std::string name = info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_NAME);
    for (const auto &[newer, older] :
         {std::pair{"cpu-minimal-", "basic-"}, std::pair{"cpu-", "pthread-"}})
        if (name.rfind(newer, 0) == 0)
            return older + name;
    return name;
}

/// The platform's devices whose name begins with this.
inline std::vector<pi_device> devices_like(const Loader &loader, const std::string &platform,
                                           const std::string &device) {
    std::vector<pi_device> found;
    for (pi_device one : loader.devices())
        if (platform_name_of(one) == platform && kind_of(one).rfind(device, 0) == 0)
            found.push_back(one);
    return found;
}

} // namespace opencl_test
