// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instance of the plugin: the vendor's library, its platforms, and the threads.
#pragma once

#include "usm_driver.hpp"

#include <pi/sdk/object.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/usm_table.hpp>
#include <pi/sdk/watcher.hpp>
#include <pi/sdk/worker.hpp>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace pi::opencl {

class Platform;

/// Capabilities that only devices with USM have.
inline constexpr uint64_t usm_capabilities =
    PI_CAPABILITY_USM | PI_CAPABILITY_USM_POOL | PI_CAPABILITY_USM_ASYNC;

/// The groups of functions that the plugin supports; they agree with the table in plugin.cpp.
inline constexpr sdk::PluginIdentity this_plugin{
    "opencl", PI_PLUGIN_VERSION,
    PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_MEM_IMPORT | PI_CAPABILITY_MEM_HOST_ACCESS |
        PI_CAPABILITY_IMAGE | PI_CAPABILITY_PROGRAM | PI_CAPABILITY_PROGRAM_LINK |
        PI_CAPABILITY_SPECIALIZATION | PI_CAPABILITY_HOST_FUNCTION | PI_CAPABILITY_VIEW |
        PI_CAPABILITY_DEVICE_GLOBALS | PI_CAPABILITY_NATIVE | PI_CAPABILITY_TIMESTAMP |
        PI_CAPABILITY_PARTITION | usm_capabilities};

/// Vendor queues that are released some time after they were added (QUIRK_RELEASE_LATER).
class RetiredQueues {
public:
    /// Waits until the newest may be released.
    ~RetiredQueues();
    /// Releases those whose time is over.
    void add(QueueOwner queue) noexcept;

private:
    using Clock = std::chrono::steady_clock;
    struct Retired {
        Clock::time_point until;
        QueueOwner queue;
    };
    std::mutex mutex_;
    std::deque<Retired> queues_; // the oldest first
};

class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *host);
    ~Instance();

    /// The platforms; the first call opens the vendor's library. PI_ERROR_UNAVAILABLE if there are
    /// none; the next call tries again.
    std::vector<pi_platform> platforms();

    void log(pi_log_level level, const std::string &message) const {
        host()->log(host(), level, message.c_str());
    }

    /// A task to run with a vendor event's status. It is created before the event, since nothing
    /// can be undone after that.
    struct Notice;
    struct DeleteNotice {
        void operator()(Notice *notice) const noexcept;
    };
    using NoticePointer = std::unique_ptr<Notice, DeleteNotice>;
    NoticePointer make_notice(std::function<void(cl_int status)> task);

    /// Runs the notice's task on the completion thread when the vendor's event is complete. The
    /// event is only read during this call. The driver's callback does nothing but post the task.
    /// If the driver accepts no callback, this call waits. Never throws: the task runs in any case.
    void when_final(const Api &api, cl_event event, NoticePointer notice) noexcept;

    /// The same for an event that may depend on work of the application's that fails: drivers do
    /// not call back after a failure (neither PoCL nor rusticl nor Clover). A thread polls the
    /// event. If there is no memory for that, it is when_final().
    void watch(const Api &api, cl_event event, NoticePointer notice) noexcept;

    void release_later(QueueOwner queue) noexcept { retired_queues_.add(std::move(queue)); }

    /// Threads that may be busy for long: with copies of memory, with waits.
    sdk::Workers &busy() { return busy_; }
    /// Polls the application's cl_events for completion.
    sdk::Watcher &watcher() { return watcher_; }
    /// Runs the application's host functions.
    sdk::Workers &host_functions() { return host_functions_; }
    /// A number that no other object ever had, unlike its address. Never 0.
    uint64_t next_serial() { return serials_.fetch_add(1, std::memory_order_relaxed) + 1; }
    /// The USM of all contexts.
    sdk::UsmTable<UsmMemory> &usm() { return usm_; }
    /// Starts the completion thread, so that a failure is an error of a create call, not of a
    /// driver's callback.
    void start_threads() {
        completions_.post([] {});
    }

private:
    static void CL_CALLBACK notify(cl_event event, cl_int status, void *user_data);
    void open();
    bool wanted(const std::string &platform_name) const;

    std::mutex mutex_; ///< guards what follows until the library is open; constant afterwards
    std::unique_ptr<Api> api_;
    std::vector<sdk::Ref<Platform>> platforms_;
    sdk::UsmTable<UsmMemory> usm_;
    RetiredQueues retired_queues_;

    std::atomic<uint64_t> serials_{0};
    std::atomic<uint32_t> driver_calls_{0}; ///< callbacks still running in the driver
    sdk::Workers completions_{1};
    sdk::Workers busy_{2};
    sdk::Workers host_functions_{1};
    sdk::Watcher watcher_;
};

} // namespace pi::opencl
