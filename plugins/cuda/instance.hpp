// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instance of the plugin: the driver, its platform, and the threads.
#pragma once

#include "driver.hpp"
#include "registration.hpp"
#include "storage.hpp"

#include <pi/sdk/object.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/usm_table.hpp>
#include <pi/sdk/watcher.hpp>
#include <pi/sdk/worker.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::cuda {

class Nvml;
class Nvrtc;
class Platform;

/// The groups of functions that the plugin has; the table in plugin.cpp agrees.
inline constexpr sdk::PluginIdentity this_plugin{
    "cuda", PI_PLUGIN_VERSION,
    PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_MEM_IMPORT | PI_CAPABILITY_MEM_HOST_ACCESS |
        PI_CAPABILITY_PROGRAM | PI_CAPABILITY_COOPERATIVE | PI_CAPABILITY_HOST_FUNCTION |
        PI_CAPABILITY_TIMESTAMP | PI_CAPABILITY_VIEW | PI_CAPABILITY_USM | PI_CAPABILITY_USM_POOL |
        PI_CAPABILITY_USM_ASYNC | PI_CAPABILITY_USM_REGISTER | PI_CAPABILITY_NATIVE |
        PI_CAPABILITY_IMAGE | PI_CAPABILITY_DEVICE_GLOBALS | PI_CAPABILITY_MEM_EXPORT |
        PI_CAPABILITY_PROGRAM_LINK};

class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *host);
    ~Instance();

    /// The platform; the first call opens the driver. PI_ERROR_UNAVAILABLE when there is none, and then the next call
    /// tries again.
    Platform &platform();

    void log(pi_log_level level, const std::string &message) const {
        host()->log(host(), level, message.c_str());
    }

    /// The compiler for CUDA C++; the first call opens it. PI_ERROR_UNSUPPORTED_FEATURE with what was sought when there is
    /// none, and then the next call tries again. There is a platform.
    const Nvrtc &nvrtc();

    /// What tells of links between devices; the first call opens it. NULL where there is none, for good.
    Nvml *nvml();

    /// A number that tells an object from all others that there were, unlike its address.
    uint64_t next_serial() { return serials_.fetch_add(1, std::memory_order_relaxed); }

    /// Runs the task on a thread that may wait for the device, which is woken without a detour. False when all of these
    /// wait: the end is then for watcher() to find.
    bool run_waiting(std::function<void()> task) { return waiting_.try_post(std::move(task)); }
    /// What looks now and then whether something has ended.
    sdk::Watcher &watcher() { return watcher_; }
    /// Threads that may be kept busy by copies of pageable memory.
    sdk::Workers &transfers() { return transfers_; }
    /// Threads that help with large ones of these.
    sdk::Workers &copy_helpers() { return copy_helpers_; }
    /// How many help with one. A processor copies 10 GB/s or so, and a fast link carries several times that.
    static constexpr unsigned copy_helper_count = 3;
    /// Runs the application's host functions.
    sdk::Workers &host_functions() { return host_functions_; }

    /// What of the application's memory is pinned.
    sdk::Registrations &registrations() { return registrations_; }
    /// What piUsmAlloc and its like have given out, of all contexts.
    sdk::UsmTable<Storage> &usm() { return usm_; }

    /// Gives something back to the driver, whose calls for that wait for the work of a whole context. Never throws:
    /// without memory for it, the task runs here.
    template <class Task>
    void reap(Task task) noexcept {
        try {
            reaper_.post(task);
        } catch (...) {
            task();
        }
    }
    /// Waits until everything is done that was given to reap() before.
    void drain();

private:
    std::mutex mutex_; ///< guards what follows until the driver is open; constant afterwards
    std::unique_ptr<Api> api_;
    std::vector<sdk::Ref<Platform>> platforms_; ///< one, once there is a device

    std::mutex nvrtc_mutex_; ///< guards what follows until it is there; constant afterwards
    std::unique_ptr<Nvrtc> nvrtc_;

    std::once_flag nvml_sought_; ///< then what follows is constant
    std::unique_ptr<Nvml> nvml_;

    std::atomic<uint64_t> serials_{1};
    sdk::Registrations registrations_;
    sdk::Workers reaper_{1}; ///< the last to go: all other threads give to it
    sdk::Workers copy_helpers_{copy_helper_count};
    sdk::Workers transfers_{2};
    sdk::Workers host_functions_{1};
    sdk::Workers waiting_{2};
    sdk::Watcher watcher_;
    sdk::UsmTable<Storage> usm_;
};

} // namespace pi::cuda
