// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instance: one simulated machine in one loader. All state is in it, none in static variables.
#pragma once

#include "config.hpp"
#include "end_order.hpp"
#include "export.hpp"
#include "faults.hpp"
#include "links.hpp"
#include "platform.hpp"

#include <pi/sdk/plugin.hpp>
#include <pi/sdk/worker.hpp>

#include <mutex>

namespace pi::sim {

inline constexpr sdk::PluginIdentity this_plugin{
    "sim", PI_PLUGIN_VERSION,
    PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_MEM_IMPORT | PI_CAPABILITY_MEM_EXPORT |
        PI_CAPABILITY_MEM_HOST_ACCESS | PI_CAPABILITY_PROGRAM | PI_CAPABILITY_HOST_FUNCTION |
        PI_CAPABILITY_TIMESTAMP | PI_CAPABILITY_VIEW};

class Instance;

/// The loader's host, extended by the instance: every object has it, so every entry finds the
/// machine.
struct InstanceHost : pi_host {
    InstanceHost(const pi_host &loader, Instance &self) : pi_host(loader), instance(&self) {}
    Instance *instance;
};

class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *loader);

    /// PI_ERROR_UNAVAILABLE without a machine or if its file cannot be read; PI_ERROR_INVALID_VALUE
    /// if the file is wrong.
    void require_machine() const {
        if (problem_)
            throw *problem_;
    }

    const Machine &machine() const { return machine_; }
    Timeline &timeline() { return timeline_; }
    EndOrder &end_order() { return end_order_; }
    Links &links() { return links_; }
    Faults &faults() { return faults_; }
    Exports &exports() { return exports_; }
    Platform &platform() { return platform_; }
    sdk::Workers &workers() { return workers_; }
    /// Locked while the host's caches are flushed or invalidated, which also touches the rest of
    /// the cache lines: hardware maintains each line atomically.
    std::mutex &cache_maintenance() { return cache_maintenance_; }

private:
    std::optional<sdk::Error> problem_; ///< before the machine, since reading that sets it
    const Machine machine_;             ///< without devices after a problem
    const InstanceHost host_;
    Timeline timeline_;
    EndOrder end_order_;
    Links links_;
    Faults faults_;
    Exports exports_;
    Platform platform_;
    std::mutex cache_maintenance_;
    sdk::Workers workers_; ///< last: its threads end before the members that they use
};

/// The instance of an object other than the plugin object itself.
inline Instance &instance_of(const pi_host *host) {
    return *static_cast<const InstanceHost *>(host)->instance;
}

} // namespace pi::sim
