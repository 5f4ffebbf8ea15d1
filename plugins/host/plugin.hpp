// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instance, one for each loader. All state is in it, none in static variables.
#pragma once

#include "config.hpp"
#include "executor.hpp"
#include "platform.hpp"
#include "registration.hpp"
#include "storage.hpp"

#include <pi/sdk/object.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/usm_table.hpp>

namespace pi::host {

inline constexpr sdk::PluginIdentity this_plugin{
    "host", PI_PLUGIN_VERSION,
    PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_MEM_IMPORT | PI_CAPABILITY_MEM_EXPORT |
        PI_CAPABILITY_MEM_HOST_ACCESS | PI_CAPABILITY_PROGRAM | PI_CAPABILITY_HOST_FUNCTION |
        PI_CAPABILITY_TIMESTAMP | PI_CAPABILITY_PARTITION | PI_CAPABILITY_VIEW | PI_CAPABILITY_USM |
        PI_CAPABILITY_USM_POOL | PI_CAPABILITY_USM_ASYNC | PI_CAPABILITY_USM_REGISTER |
        PI_CAPABILITY_IMAGE | PI_CAPABILITY_DEVICE_GLOBALS | PI_CAPABILITY_COOPERATIVE};

class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *host)
        : Object(host), config_(read_config(host)), platform_(host, *this),
          executor_(config_.threads.value_or(std::thread::hardware_concurrency())) {}

    const Config &config() const { return config_; }
    Platform &platform() { return platform_; }
    sdk::UsmTable<Storage> &usm() { return usm_; }
    Registrations &registrations() { return registrations_; }
    Executor &executor() { return executor_; }

private:
    const Config config_;
    Platform platform_;
    sdk::UsmTable<Storage> usm_;
    Registrations registrations_;
    Executor executor_; ///< last: its threads end before the members that they use
};

} // namespace pi::host
