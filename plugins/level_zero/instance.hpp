// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instance of the plugin: the vendor's loader, a platform for each of its drivers, and the threads.
#pragma once

#include "driver.hpp"
#include "storage.hpp"

#include <pi/sdk/object.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/usm_table.hpp>
#include <pi/sdk/watcher.hpp>
#include <pi/sdk/worker.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::level_zero {

class Platform;

/// The groups of functions that the plugin has; the table in plugin.cpp agrees.
inline constexpr sdk::PluginIdentity this_plugin{
    "level_zero", PI_PLUGIN_VERSION,
    PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_MEM_IMPORT | PI_CAPABILITY_MEM_EXPORT |
        PI_CAPABILITY_MEM_HOST_ACCESS | PI_CAPABILITY_PROGRAM | PI_CAPABILITY_COOPERATIVE |
        PI_CAPABILITY_HOST_FUNCTION | PI_CAPABILITY_TIMESTAMP | PI_CAPABILITY_PARTITION |
        PI_CAPABILITY_VIEW | PI_CAPABILITY_USM | PI_CAPABILITY_USM_POOL | PI_CAPABILITY_USM_ASYNC |
        PI_CAPABILITY_USM_REGISTER | PI_CAPABILITY_NATIVE | PI_CAPABILITY_DEVICE_GLOBALS |
        PI_CAPABILITY_SPECIALIZATION | PI_CAPABILITY_PROGRAM_LINK | PI_CAPABILITY_IMAGE};

class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *host);
    ~Instance();

    /// One for each driver that has a usable device; the first call opens the loader. PI_ERROR_UNAVAILABLE when there is
    /// none, and then the next call tries again.
    const std::vector<sdk::Ref<Platform>> &platforms();

    void log(pi_log_level level, const std::string &message) const {
        host()->log(host(), level, message.c_str());
    }

    /// Held while an image or a sampler of the driver is made or destroyed: between several drivers Debian 12's loader looks up
    /// what it has of them without a lock, and dies of two threads at once.
    std::mutex &handles_mutex() { return handles_mutex_; }

    /// Runs the task on a thread that may wait for devices, which is woken without a detour. False when all of these wait:
    /// the end is then for watcher() to find.
    bool run_waiting(std::function<void()> task) { return waiting_.try_post(task); }
    /// What looks now and then whether something has ended.
    sdk::Watcher &watcher() { return watcher_; }
    /// Runs the task on a thread that may be kept busy by copies through the host.
    sdk::Workers &transfers() { return transfers_; }
    /// Runs the application's host functions.
    sdk::Workers &host_functions() { return host_functions_; }

    /// What piUsmAlloc and its like have given out, of all contexts.
    sdk::UsmTable<Storage> &usm() { return usm_; }

private:
    std::vector<sdk::Ref<Platform>> find_platforms();

    std::mutex mutex_; ///< guards what follows until there are platforms; constant afterwards
    std::unique_ptr<Api> api_;
    std::vector<sdk::Ref<Platform>> platforms_;

    std::mutex handles_mutex_;
    sdk::Workers transfers_{2};
    sdk::Workers host_functions_{1};
    sdk::Workers waiting_{2};
    sdk::Watcher watcher_;
    sdk::UsmTable<Storage> usm_;
};

} // namespace pi::level_zero
