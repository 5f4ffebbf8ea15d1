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

/// The groups of functions that the plugin supports; they agree with the table in plugin.cpp.
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

    /// The platform; the first call opens the driver. PI_ERROR_UNAVAILABLE if that fails; the next
    /// call tries again.
    Platform &platform();

    void log(pi_log_level level, const std::string &message) const {
        host()->log(host(), level, message.c_str());
    }

    /// The compiler for CUDA C++; the first call opens it. Where none is found:
    /// PI_ERROR_UNSUPPORTED_FEATURE with the names searched for, and the next call tries again.
    /// There must be a platform.
    const Nvrtc &nvrtc();

    /// NVML, which reports links between devices; the first call opens it. NULL where there is
    /// none.
    Nvml *nvml();

    /// A number that no other object ever had, unlike its address.
    uint64_t next_serial() { return serials_.fetch_add(1, std::memory_order_relaxed); }

    /// Runs the task on a thread that may wait for the device: it wakes as soon as the device is
    /// done. Returns false if all such threads are waiting: then watcher() must find the end.
    bool run_waiting(std::function<void()> task) { return waiting_.try_post(std::move(task)); }
    /// Polls for ends that no thread waits for.
    sdk::Watcher &watcher() { return watcher_; }
    /// Threads for copies of pageable memory, which may keep them busy for long.
    sdk::Workers &transfers() { return transfers_; }
    /// Threads that help with large copies of pageable memory.
    sdk::Workers &copy_helpers() { return copy_helpers_; }
    /// Helpers per copy. A processor core copies some 10 GB/s; a fast link carries several times
    /// that.
    static constexpr unsigned copy_helper_count = 3;
    /// Runs the application's host functions.
    sdk::Workers &host_functions() { return host_functions_; }

    /// Which of the application's memory is pinned.
    sdk::Registrations &registrations() { return registrations_; }
    /// All USM ranges allocated through any context.
    sdk::UsmTable<Storage> &usm() { return usm_; }

    /// Runs a task that releases something of the driver's, on a thread of its own: such calls wait
    /// for all work of a context. Never throws: if there is no memory to post the task, it runs
    /// here.
    template <class Task>
    void reap(Task task) noexcept {
        try {
            reaper_.post(task);
        } catch (...) {
            task();
        }
    }
    /// Waits until all tasks given to reap() so far are done.
    void drain();

private:
    std::mutex mutex_; ///< guards what follows until the driver is open; constant afterwards
    std::unique_ptr<Api> api_;
    std::vector<sdk::Ref<Platform>> platforms_; ///< one, once there is a device

    /// guards what follows until the compiler is open; constant afterwards
    std::mutex nvrtc_mutex_;
    std::unique_ptr<Nvrtc> nvrtc_;

    std::once_flag nvml_sought_; ///< what follows is constant once it is set
    std::unique_ptr<Nvml> nvml_;

    std::atomic<uint64_t> serials_{1};
    sdk::Registrations registrations_;
    sdk::Workers reaper_{1}; ///< destroyed last: all other threads post to it
    sdk::Workers copy_helpers_{copy_helper_count};
    sdk::Workers transfers_{2};
    sdk::Workers host_functions_{1};
    sdk::Workers waiting_{2};
    sdk::Watcher watcher_;
    sdk::UsmTable<Storage> usm_;
};

} // namespace pi::cuda
