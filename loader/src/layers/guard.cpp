// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layers' functions end the process at an exception. This innermost layer turns an exception
// that a plugin throws in a call of the loader's own into a result, so that it is handled the same
// with and without layers.

#include "functions.hpp"
#include "layers/layers.hpp"
#include "plugin.hpp"

namespace pi::loader {
namespace guard {
namespace {

const pi_dispatch &next_of(const pi_dispatch *outermost) noexcept {
    return TableChain::of(outermost).next(guard_layer);
}

pi_result PI_CALL platforms_get(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                uint32_t *out_count) noexcept {
    return guarded("piPlatformsGet", [&] {
        return result_of("piPlatformsGet", [&] {
            return next_of(dispatch_of(plugin))
                .piPlatformsGet(plugin, capacity, out_platforms, out_count);
        });
    });
}

pi_result PI_CALL devices_get(pi_platform platform, pi_device_type types, uint32_t capacity,
                              pi_device *out_devices, uint32_t *out_count) noexcept {
    return guarded("piDevicesGet", [&] {
        return result_of("piDevicesGet", [&] {
            return next_of(dispatch_of(platform))
                .piDevicesGet(platform, types, capacity, out_devices, out_count);
        });
    });
}

void *attach(PluginInstance &, pi_dispatch &table) {
    table.piPlatformsGet = platforms_get;
    table.piDevicesGet = devices_get;
    return nullptr;
}

} // namespace
} // namespace guard

const Layer guard_layer = {"guard", guard::attach, [](void *) noexcept {}};

} // namespace pi::loader
