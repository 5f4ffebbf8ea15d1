// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine.hpp"

#include <pi/describe/descriptor.hpp>
#include <pi/runtime/error.hpp>
#if __has_include(<pi/pi_sim.h>)
#include <pi/pi_sim.h>
#define HAS_SIM_HEADER
#endif

#include <cstring>
#include <stdexcept>
#include <vector>

namespace examples {

using pi::runtime::check;

namespace {

std::vector<pi_plugin_report> reports_of(pi_loader loader) {
    uint32_t count = 0;
    check(piLoaderGetReports(loader, 0, nullptr, &count), "piLoaderGetReports");
    std::vector<pi_plugin_report> reports(count);
    check(piLoaderGetReports(loader, count, reports.data(), &count), "piLoaderGetReports");
    return reports;
}

} // namespace

Loader::Loader(const std::string &machine, bool count_calls) {
    const char *const layer = "fault"; // which counts calls
    const pi_loader_option option{"PI_SIM_MACHINE", machine.c_str()};
    auto desc = pi::desc<pi_loader_desc>();
    desc.options = &option;
    desc.option_count = machine.empty() ? 0 : 1;
    desc.layers = count_calls ? &layer : nullptr;
    desc.layer_count = count_calls ? 1 : 0;
    check(piLoaderCreate(&desc, &loader_), "piLoaderCreate");
}

Loader::~Loader() {
    piLoaderRelease(loader_);
}

uint64_t Loader::calls_of(const std::string &function) const {
    uint64_t calls = 0;
    for (const pi_plugin_report &report : reports_of(loader_)) {
        if (report.status != PI_PLUGIN_LOADED) {
            continue;
        }
        uint32_t count = 0;
        check(piLoaderGetCallCounts(loader_, report.plugin, 0, nullptr, &count),
              "piLoaderGetCallCounts");
        std::vector<pi_call_count> counts(count);
        check(piLoaderGetCallCounts(loader_, report.plugin, count, counts.data(), &count),
              "piLoaderGetCallCounts");
        for (const pi_call_count &one : counts) {
            calls += one.function == function ? one.count : 0;
        }
    }
    return calls;
}

#ifdef HAS_SIM_HEADER
VirtualClock::VirtualClock(pi_loader loader) {
    std::string reason = "there is no plugin \"sim\"";
    for (const pi_plugin_report &report : reports_of(loader)) {
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
#else
VirtualClock::VirtualClock(pi_loader) {
    throw std::runtime_error("no simulated machine: the program was built without pi/pi_sim.h");
}

double VirtualClock::pass_time() const {
    return 0;
}
#endif

} // namespace examples
