// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the work of commands runs: on the instance's threads, or at once on the calling thread when that is
// cheaper than waking another.
#pragma once

#include "device.hpp"

#include <pi/sdk/enqueue.hpp>
#include <pi/sdk/lanes.hpp>
#include <pi/sdk/worker.hpp>

namespace pi::host {

/// What a piece of work costs, in bytes moved or their equivalent.
enum class Cost : uint64_t {
    NONE = 0,                 ///< less than a lock: runs wherever it is
    SMALL = 32 * 1024,        ///< up to here a copy takes less time than waking a thread
    UNKNOWN = UINT64_MAX - 1, ///< runs on the calling thread of a blocking call only
    FOREIGN = UINT64_MAX      ///< never on the application's thread
};

/// The threads of an instance. Commands of cost SMALL run on the thread that enqueues them, if nothing holds
/// them back, or on a thread of the executor which has just finished what they waited for. They never run
/// inside piEventSignalHost, where a chain of them could be long.
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

    /// Runs body() on this thread and on up to `helpers` of the executor's that are idle: sdk/lanes.hpp.
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

    /// Whether `command`, about to start on this thread, should run on it.
    bool runs_here(const sdk::Command *command, Cost cost) const;

private:
    struct ThreadState {
        const Executor *executor = nullptr; ///< whose thread this is
        const EnqueueScope *scope = nullptr;
    };
    static ThreadState &thread_state();

    sdk::Workers workers_;
};

/// A command that calls `work()` once, on a thread that the executor chooses: the caller's, or one of its own, bound to
/// the device's processors if there are others. What `work` captures by value is
/// kept alive until the event is final; what it throws fails the event.
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
