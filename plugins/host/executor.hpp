// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses where commands do their work: on the instance's threads, or on the calling thread if that
// is cheaper than waking another.
#pragma once

#include "device.hpp"

#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/lanes.hpp>
#include <pi/sdk/worker.hpp>

namespace pi::host {

/// The cost of a piece of work, in bytes moved or the equivalent.
enum class Cost : uint64_t {
    NONE = 0,                    ///< less than a lock: runs on any thread
    SMALL = uint64_t{32} * 1024, ///< up to this size a copy takes less time than waking a thread
    UNKNOWN = UINT64_MAX - 1,    ///< on the calling thread only for a blocking call
    PLUGIN_THREAD = UINT64_MAX   ///< never on the application's thread
};

/// The threads of an instance. A command of cost SMALL runs on the thread that enqueues it, if it
/// has nothing to wait for, or on the executor's thread that completed its last dependency. No
/// command runs within piEventSignalHost, where a chain of them could take long.
class Executor {
public:
    explicit Executor(unsigned threads) : workers_(threads) {}

    /// Runs `task` on a thread of the executor.
    template <class Task>
    void post(Task task) {
        workers_.post([this, task = std::move(task)] {
            thread_state().executor = this;
            task();
        });
    }

    /// Runs body() on this thread and on up to `helpers` idle threads of the executor:
    /// sdk/lanes.hpp.
    template <class Body>
    void run_in_lanes(unsigned helpers, const Body &body) {
        sdk::run_in_lanes(workers_, helpers, body);
    }

    /// Marks the command that this thread is enqueueing.
    class EnqueueScope {
    public:
        EnqueueScope(const sdk::Command *command, bool blocking);
        ~EnqueueScope();
        EnqueueScope(const EnqueueScope &) = delete;
        EnqueueScope &operator=(const EnqueueScope &) = delete;

    private:
        friend class Executor;
        const sdk::Command *const command_;
        const bool blocking_;
        const EnqueueScope *const before_;
    };

    /// Whether `command`, which is about to start on this thread, should run on it.
    bool runs_here(const sdk::Command *command, Cost cost) const;

private:
    struct ThreadState {
        const Executor *executor = nullptr; ///< the executor of this thread
        const EnqueueScope *scope = nullptr;
    };
    static ThreadState &thread_state();

    sdk::Workers workers_;
};

/// A command that calls `work()` once, on a thread that the executor chooses: the caller's, or its
/// own, bound to the device's processors if there are others. The values that `work` captures live
/// until the event is complete; an exception fails the event.
template <class Work>
class WorkCommand final : public sdk::Command {
public:
    WorkCommand(Device &device, Cost cost, Work work)
        : device_(device), cost_(cost), work_(std::move(work)) {}

    void start(sdk::Event &event) override {
        if (device_.executor().runs_here(this, cost_))
            return run(event);
        event.submitted();
        device_.executor().post([this, running = sdk::Ref<sdk::Event>(event)] {
            const Device::BoundThread bound(device_);
            run(*running);
        });
    }

private:
    void run(sdk::Event &event) {
        event.running();
        sdk::Error failure(PI_SUCCESS, {});
        try {
            work_();
        } catch (...) {
            failure = sdk::current_error();
        }
        event.finish(failure.code(), failure.text()); // destroys this command
    }

    Device &device_;
    const Cost cost_;
    Work work_;
};

} // namespace pi::host
