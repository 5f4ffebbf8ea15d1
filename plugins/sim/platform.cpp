// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform.hpp"

#include "device.hpp"
#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/descriptor.hpp>

namespace pi::sim {

Platform::Platform(const pi_host *host, Instance &instance, const Machine &machine)
    : Object(host), instance_(instance) {
    for (size_t i = 0; i < machine.devices.size(); ++i)
        devices_.push_back(std::make_unique<Device>(host, *this, machine.devices[i], site_of(i)));
}
Platform::~Platform() = default;

namespace entries {

pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                 uint32_t *out_count) {
    return sdk::call<Instance>(plugin, [&](Instance &self) {
        self.require_machine();
        const pi_platform platform = self.platform().handle();
        sdk::write_list<pi_platform>({&platform, 1}, capacity, out_platforms, out_count);
    });
}

pi_result PI_CALL piPlatformGetInfo(pi_platform platform, pi_platform_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Platform> rows[] = {
        {PI_PLATFORM_INFO_NAME,
         [](Platform &p, const sdk::InfoWriter &write) {
             write("Simulated machine: " + p.instance().machine().name);
         }},
        {PI_PLATFORM_INFO_VENDOR, [](Platform &, const sdk::InfoWriter &write) { write("PI"); }},
        {PI_PLATFORM_INFO_VERSION,
         [](Platform &, const sdk::InfoWriter &write) { write(this_plugin.version); }},
        {PI_PLATFORM_INFO_PLUGIN,
         [](Platform &p, const sdk::InfoWriter &write) { write(p.instance().handle()); }},
        {PI_PLATFORM_INFO_BACKEND,
         [](Platform &, const sdk::InfoWriter &write) { write(uint32_t{PI_BACKEND_SIMULATED}); }},
    };
    return sdk::call<Platform>(platform, [&](Platform &self) {
        sdk::answer_info(self, rows, name, size, value, out_size);
    });
}

} // namespace entries

} // namespace pi::sim
