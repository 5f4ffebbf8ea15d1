// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instance of the plugin: the vendor's loader, a platform for each of its drivers, and the
// threads.
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
#include <utility>
#include <vector>

namespace pi::level_zero {

class Platform;

/// The groups of functions that the plugin supports; they agree with the table in plugin.cpp.
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

    /// One platform for each driver that has a usable device; the first call opens the vendor's
    /// loader. PI_ERROR_UNAVAILABLE if there is none; the next call tries again.
    const std::vector<sdk::Ref<Platform>> &platforms();

    void log(pi_log_level level, const std::string &message) const {
        host()->log(host(), level, message.c_str());
    }

    /// To be locked while an image or a sampler of the driver is created or destroyed: with several
    /// drivers, Debian 12's loader looks up their handles without a lock, and crashes with two
    /// threads.
    std::mutex &handles_mutex() { return handles_mutex_; }

    /// Runs the task on a thread that may wait for the device: it wakes as soon as the device is
    /// done. Returns false if all such threads are waiting: then watcher() must find the end.
    bool run_waiting(std::function<void()> task) { return waiting_.try_post(std::move(task)); }
    /// Polls for ends that no thread waits for.
    sdk::Watcher &watcher() { return watcher_; }
    /// Threads for copies through the host, which may keep them busy for long.
    sdk::Workers &transfers() { return transfers_; }
    /// Runs the application's host functions.
    sdk::Workers &host_functions() { return host_functions_; }

    /// All USM ranges allocated through any context.
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
