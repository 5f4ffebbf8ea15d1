// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include <pi/pi_sim.h>
#include <pi/runtime/error.hpp>

#include <cstring>
#include <stdexcept>
#include <vector>

namespace image_pipeline {

using pi::runtime::check;

Loader::Loader(const std::string &machine) {
    const pi_loader_option option{"PI_SIM_MACHINE", machine.c_str()};
    pi_loader_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_LOADER_DESC;
    desc.options = &option;
    desc.option_count = machine.empty() ? 0 : 1;
    check(piLoaderCreate(&desc, &loader_), "piLoaderCreate");
}

Loader::~Loader() {
    piLoaderRelease(loader_);
}

VirtualClock::VirtualClock(pi_loader loader) {
    uint32_t count = 0;
    check(piLoaderGetReports(loader, 0, nullptr, &count), "piLoaderGetReports");
    std::vector<pi_plugin_report> reports(count);
    check(piLoaderGetReports(loader, count, reports.data(), &count), "piLoaderGetReports");
    std::string reason = "there is no plugin \"sim\"";
    for (const pi_plugin_report &report : reports) {
        if (std::strcmp(report.name, "sim") != 0) {
            continue;
        }
        if (report.status == PI_PLUGIN_LOADED) {
            plugin_ = report.plugin;
            const void *table = nullptr;
            check(piPluginGetExtension(plugin_, PI_SIM_V1, sizeof *sim_, &table),
                  "piPluginGetExtension");
            sim_ = static_cast<const pi_sim_v1 *>(table);
            return;
        }
        reason = report.reason;
    }
    throw std::runtime_error("no simulated machine: " + reason);
}

double VirtualClock::pass_time() const {
    uint64_t time = 0;
    check(sim_->pass_time(plugin_, &time), "pass_time");
    return static_cast<double>(time) / 1e6;
}

} // namespace image_pipeline
