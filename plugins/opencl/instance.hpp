// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One instance of the plugin: the vendor's library, its platforms, and the threads.
#pragma once

#include "svm.hpp"

#include <pi/sdk/object.hpp>
#include <pi/sdk/plugin.hpp>
#include <pi/sdk/usm_table.hpp>
#include <pi/sdk/watcher.hpp>
#include <pi/sdk/worker.hpp>

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace pi::opencl {

class Platform;

/// Those that only devices with shared virtual memory have.
inline constexpr uint64_t usm_capabilities =
    PI_CAPABILITY_USM | PI_CAPABILITY_USM_POOL | PI_CAPABILITY_USM_ASYNC;

/// The groups of functions that the plugin has; the table in plugin.cpp agrees.
inline constexpr sdk::PluginIdentity this_plugin{
    "opencl", PI_PLUGIN_VERSION,
    PI_CAPABILITY_BUFFER_COMMANDS | PI_CAPABILITY_MEM_IMPORT | PI_CAPABILITY_MEM_HOST_ACCESS |
        PI_CAPABILITY_IMAGE | PI_CAPABILITY_PROGRAM | PI_CAPABILITY_PROGRAM_LINK |
        PI_CAPABILITY_SPECIALIZATION | PI_CAPABILITY_HOST_FUNCTION | PI_CAPABILITY_VIEW |
        PI_CAPABILITY_NATIVE | PI_CAPABILITY_TIMESTAMP | PI_CAPABILITY_PARTITION |
        usm_capabilities};

class Instance : public sdk::Object<Instance, pi_plugin> {
public:
    explicit Instance(const pi_host *host);
    ~Instance();

    /// The platforms; the first call opens the vendor's library. PI_ERROR_UNAVAILABLE when there is none, and
    /// then the next call tries again.
    std::vector<pi_platform> platforms();

    void log(pi_log_level level, const std::string &message) const {
        host()->log(host(), level, message.c_str());
    }

    /// What is to be done with the status of a vendor's event. Made before the event is, behind
    /// which there is no way back.
    struct Notice;
    struct DeleteNotice {
        void operator()(Notice *notice) const noexcept;
    };
    using NoticePointer = std::unique_ptr<Notice, DeleteNotice>;
    NoticePointer make_notice(std::function<void(cl_int status)> task);

    /// Runs the notice's task on the completion thread once the vendor's event is final. The event
    /// is only read during the call. Nothing of ours ever runs inside the driver's callback but the
    /// handing over. If the driver takes no callback, this call waits. Never throws: the task is
    /// run in any case.
    void when_final(const Api &api, cl_event event, NoticePointer notice) noexcept;

    /// The same of an event that may fail with work of the application's before it: of a failure drivers call nobody back
    /// (PoCL, rusticl and Clover alike). A thread looks at the event now and then. Without memory for that it is when_final.
    void watch(const Api &api, cl_event event, NoticePointer notice) noexcept;

    /// Threads that may be kept busy: by copies of memory, by waits.
    sdk::Workers &busy() { return busy_; }
    /// What looks now and then whether an application's cl_event has ended.
    sdk::Watcher &watcher() { return watcher_; }
    /// Runs the application's host functions.
    sdk::Workers &host_functions() { return host_functions_; }
    /// A number that tells an object from all others that there were, unlike its address. Never 0.
    uint64_t next_serial() { return serials_.fetch_add(1, std::memory_order_relaxed) + 1; }
    /// The USM of all contexts.
    sdk::UsmTable<SvmMemory> &usm() { return usm_; }
    /// Starts the completion thread, so that its absence is an error of a creation, not of a driver's callback.
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
    sdk::UsmTable<SvmMemory> usm_;

    std::atomic<uint64_t> serials_{0};
    std::atomic<uint32_t> driver_calls_{0}; ///< callbacks that the driver has not returned from
    sdk::Workers completions_{1};
    sdk::Workers busy_{2};
    sdk::Workers host_functions_{1};
    sdk::Watcher watcher_;
};

} // namespace pi::opencl
