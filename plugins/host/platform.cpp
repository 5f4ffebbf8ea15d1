// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "platform.hpp"

#include "device.hpp"
#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/descriptor.hpp>

namespace pi::host {

Platform::Platform(const pi_host *host, Instance &instance) : Object(host), instance_(instance) {}

Platform::~Platform() = default;

const std::vector<std::unique_ptr<Device>> &Platform::devices() {
    std::lock_guard lock(mutex_);
    if (devices_.empty()) {
        if (!topology_)
            topology_.emplace();
        std::vector<std::unique_ptr<Device>> devices;
        for (const Node &node : topology_->nodes())
            devices.push_back(std::make_unique<Device>(host(), *this, *topology_, node));
        devices_.swap(devices);
    }
    return devices_;
}

namespace entries {

pi_result PI_CALL piPlatformsGet(pi_plugin plugin, uint32_t capacity, pi_platform *out_platforms,
                                 uint32_t *out_count) {
    return sdk::call<Instance>(plugin, [&](Instance &self) {
        const pi_platform platform = self.platform().handle();
        sdk::write_list<pi_platform>({&platform, 1}, capacity, out_platforms, out_count);
    });
}

pi_result PI_CALL piPlatformGetInfo(pi_platform platform, pi_platform_info name, uint64_t size,
                                    void *value, uint64_t *out_size) {
    static constexpr sdk::InfoRow<Platform> rows[] = {
        {PI_PLATFORM_INFO_NAME,
         [](Platform &, const sdk::InfoWriter &write) { write("Host CPU"); }},
        {PI_PLATFORM_INFO_VENDOR, [](Platform &, const sdk::InfoWriter &write) { write("PI"); }},
        {PI_PLATFORM_INFO_VERSION,
         [](Platform &, const sdk::InfoWriter &write) { write(this_plugin.version); }},
        {PI_PLATFORM_INFO_PLUGIN,
         [](Platform &p, const sdk::InfoWriter &write) { write(p.instance().handle()); }},
        {PI_PLATFORM_INFO_BACKEND,
         [](Platform &, const sdk::InfoWriter &write) { write(uint32_t{PI_BACKEND_HOST}); }},
    };
    return sdk::call<Platform>(platform, [&](Platform &self) {
        sdk::answer_info(self, rows, name, size, value, out_size);
    });
}

} // namespace entries

} // namespace pi::host
