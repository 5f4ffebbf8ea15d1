// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "entries.hpp"
#include "plugin.hpp"

#include <pi/sdk/descriptor.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/verification_kernel.hpp>

// The plugin's public header, which is installed.
#include "include/pi/pi_sim.h"

#include <cstring>

namespace pi::sim {

namespace {

void write_name(const Machine &machine, Site site, char (&out)[64]) {
    const std::string &name = site == host_site ? "host" : machine.devices[site - 1].name;
    std::strncpy(out, name.c_str(), sizeof out - 1);
}

pi_result PI_CALL get_time(pi_plugin plugin, uint64_t *out_time) {
    return sdk::call<Instance>(plugin, [&](Instance &self) {
        *sdk::require(out_time, "out_time") = self.timeline().now();
    });
}

pi_result PI_CALL pass_time(pi_plugin plugin, uint64_t *out_time) {
    return sdk::call<Instance>(plugin, [&](Instance &self) {
        *sdk::require(out_time, "out_time") = self.timeline().pass();
    });
}

pi_result PI_CALL get_links(pi_plugin plugin, uint32_t capacity, pi_sim_link *out_links,
                            uint32_t *out_count) {
    return sdk::call<Instance>(plugin, [&](Instance &self) {
        std::vector<pi_sim_link> links;
        for (const Link &link : self.links().all()) {
            pi_sim_link entry{};
            write_name(self.machine(), link.spec().from, entry.from);
            write_name(self.machine(), link.spec().to, entry.to);
            entry.bytes = link.bytes();
            entry.transfers = link.transfers();
            entry.busy = link.busy();
            links.push_back(entry);
        }
        sdk::write_list<pi_sim_link>(links, capacity, out_links, out_count);
    });
}

pi_result PI_CALL reset_links(pi_plugin plugin) {
    return sdk::call<Instance>(plugin, [](Instance &self) {
        for (Link &link : self.links().all())
            link.reset();
    });
}

constexpr pi_sim_v1 sim_table = {sizeof(pi_sim_v1), get_time, get_links, reset_links, pass_time};

pi_verification_kernel verification_kernel_of(Device &) {
    return sdk::native_verification_kernel();
}

constexpr sdk::Extension extensions[] = {
    {PI_SIM_V1, &sim_table},
    {PI_VERIFICATION_KERNEL_V1,
     &sdk::verification_kernel_entries<Device, verification_kernel_of>::table},
};

} // namespace

namespace entries {

pi_result PI_CALL piPluginGetExtension(pi_plugin plugin, const char *name, uint64_t min_size,
                                       const void **out_table) {
    return sdk::plugin_entries<Instance, this_plugin>::get_extension<extensions>(
        plugin, name, min_size, out_table);
}

} // namespace entries

} // namespace pi::sim
