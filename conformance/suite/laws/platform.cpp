// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "bench.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

LAW("platform", "the device's platform is one of the plugin's") {
    uint32_t count = 0;
    require_success(piPlatformsGet(bench.plugin(), 0, nullptr, &count), "piPlatformsGet");
    std::vector<pi_platform> platforms(count);
    require_success(piPlatformsGet(bench.plugin(), count, platforms.data(), nullptr),
                    "piPlatformsGet");
    unsigned found = 0;
    for (const pi_platform platform : platforms)
        found += platform == bench.platform() ? 1 : 0;
    require_equal(found, 1u, "how often the list of platforms has the device's platform");
}

} // namespace
} // namespace pi::suite
