// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command of the graph becomes vendor commands, and how its completion is noticed.
//
// The vendor never blocks inside an enqueue: its non-blocking calls are used, and each is flushed
// at once. It never sees a failed or a user event: PI's graph handles those. The vendor's callback
// only posts the event to the completion thread.
//
// A blocking command without dependencies bypasses the graph: it is enqueued and waited for within
// the call, and costs two calls of the vendor.
#pragma once

#include "queue.hpp"

#include <pi/sdk/command_ref.hpp>

#include <array>
#include <mutex>
#include <vector>

namespace pi::opencl {

class VendorCommand;

/// The payload of vendor commands' events: the vendor's event until it is complete, then its times.
/// An event around the application's cl_event has this payload too, but no queue. Other events, of
/// commands that the plugin carries out itself, have no payload.
class VendorEvent final : public sdk::Payload {
public:
    VendorEvent() = default;
    /// Around the application's cl_event.
    explicit VendorEvent(EventOwner native) : event_(std::move(native)), given_out_(true) {}

    uint64_t profiling(pi_profiling_info name) const override {
        return times_[name - PI_PROFILING_QUEUED];
    }
    /// Each device has its own clock.
    bool shares_clock() const override { return false; }
    /// The vendor's event with a new reference; empty before the command is submitted and after it
    /// is complete.
    EventOwner get(const Api &api) const;
    /// The vendor's status once it is complete.
    cl_int end() const {
        std::lock_guard lock(mutex_);
        return end_;
    }
    /// The vendor's event for the application; from now on it is kept as long as this lives. For a
    /// command that ended before, it is a user event with the final status.
    /// PI_ERROR_INVALID_OPERATION if there is neither yet.
    cl_event give_out(const sdk::Event &event, const Api &api, cl_context context);
    /// Waits for the application's cl_event, then completes its event.
    static void finish_native(sdk::Event &event, const Api &api);

    bool refused() const override { return refused_.load(std::memory_order_acquire); }
    /// Only for events of commands, which have a queue.
    void help(sdk::Event &event) override;

private:
    friend class VendorCommand;
    void note_times(const Api &api, cl_event event);

    mutable std::mutex mutex_; ///< guards what follows, up to queue_
    EventOwner event_;
    bool given_out_ = false;           ///< event_ must be kept
    cl_int end_ = CL_QUEUED;           ///< the vendor's status once it is complete
    cl_command_queue queue_ = nullptr; ///< the vendor queue in which it was enqueued
    std::array<uint64_t, 4> times_{};
    std::atomic<bool> refused_{false};
    std::atomic<bool> claimed_{false}; ///< a thread finishes the event
    VendorCommand *command_ = nullptr; ///< from submission until it is claimed
};

/// The queue of a command, and how it is carried out.
struct Target {
    Queue &queue;
    /// It completes within the enqueue call.
    bool within_call = false;

    operator Queue &() const { return queue; }
};

/// Enqueues the vendor commands of one PI command.
class Submission {
public:
    /// `on` is the vendor queue: that of `queue`, or a private one, which is in order.
    Submission(Queue &queue, cl_command_queue on) : queue_(queue), on_(on) {}
    Submission(Queue &queue, cl_command_queue on, std::vector<EventOwner> waits);

    Queue &queue() const { return queue_; }
    /// Whether earlier commands may still be running.
    bool needs_marker() const {
        return !waits_.empty() || ordered_ || (queue_.shared() && queue_.vendor_in_order());
    }
    void set_ordered(bool ordered) { ordered_ = ordered; }
    bool empty() const { return !newest_; }
    /// Orders later parts behind all parts so far.
    void order();
    /// Enqueues a marker if earlier commands may still be running.
    void add_marker() {
        if (needs_marker())
            add("clEnqueueMarkerWithWaitList", queue_.api().clEnqueueMarkerWithWaitList);
    }

    /// Enqueues one vendor command: function(queue, arguments..., wait count, waits, out event).
    /// `call` is its name.
    template <class Function, class... Arguments>
    void add(const char *call, Function function, Arguments... arguments) {
        check(try_add(function, arguments...), call, "on ", queue_.device().name());
    }
    /// The same for a call that may be refused without an effect: returns the vendor's code.
    template <class Function, class... Arguments>
    cl_int try_add(Function function, Arguments... arguments) {
        reserve();
        cl_event event = nullptr;
        const auto [count, waits] = wait_list();
        const cl_int code = function(on_, arguments..., count, waits, &event);
        if (code == CL_SUCCESS)
            keep(event);
        return code;
    }
    /// The same for a read or write: function(queue, mem, blocking, arguments..., wait count,
    /// waits, out event). If it is the only part (`alone`) of a command within the call, it may
    /// block in the vendor: then it is complete on return, and has an event only if its times are
    /// needed.
    template <class Function, class... Arguments>
    void add_transfer(bool alone, const char *call, Function function, cl_mem mem,
                      Arguments... arguments) {
        if (!alone || !blocks_)
            return add(call, function, mem, cl_bool{CL_FALSE}, arguments...);
        cl_event event = nullptr;
        check(function(on_, mem, CL_TRUE, arguments..., 0, nullptr, timed_ ? &event : nullptr),
              call, "on ", queue_.device().name());
        blocked_ = true;
        if (event)
            keep(event);
    }
    /// The same for functions of another form: body(queue, wait count, waits, out event) returns
    /// the vendor's code.
    template <class Body>
    void add_with(const char *call, Body &&body) {
        reserve();
        cl_event event = nullptr;
        const auto [count, waits] = wait_list();
        check(body(on_, count, waits, &event), call, "on ", queue_.device().name());
        keep(event);
    }

private:
    friend class VendorCommand;
    std::pair<cl_uint, const cl_event *> wait_list() const {
        // In an in-order queue the first part's waits hold back the others as well.
        if (wait_ids_.empty() || (newest_ && in_order()))
            return {0, nullptr};
        return {static_cast<cl_uint>(wait_ids_.size()), wait_ids_.data()};
    }
    /// Reserves memory, so that keep(), after the vendor's call, cannot fail.
    void reserve() {
        if (count_ == backlog)
            drain();
        if (older_.size() == older_.capacity() && newest_ && !in_order())
            older_.reserve(2 * older_.size() + 1);
    }
    void keep(cl_event event) noexcept {
        if (newest_ && !in_order())
            older_.push_back(std::move(newest_));
        newest_ = {queue_.api(), event};
        ++count_;
    }
    /// A driver needs memory for each command in its queues: it is never given more than two
    /// backlogs.
    static constexpr uint32_t backlog = 2048;
    void drain();
    /// Joins all parts so far into one event.
    void gather();
    EventOwner seal() { return older_.empty() ? std::move(newest_) : join(); }
    EventOwner join();
    /// Waits until all parts have ended, whatever their results.
    void wait() const noexcept;
    bool in_order() const { return on_ != queue_.id() || queue_.vendor_in_order(); }

    Queue &queue_;
    const cl_command_queue on_;
    std::vector<EventOwner> waits_;
    std::vector<cl_event> wait_ids_;
    EventOwner newest_;
    std::vector<EventOwner>
        older_;          ///< unused in order, where the newest event is the last to complete
    EventOwner drained_; ///< the newest event at the last drain()
    uint32_t count_ = 0; ///< since the last drain()
    bool ordered_ = false;
    bool blocks_ = false, timed_ = false; ///< for add_transfer
    bool blocked_ = false;                ///< all parts have ended
};

/// A command that the vendor carries out.
class VendorCommand : public sdk::Command {
public:
    explicit VendorCommand(Queue &queue) : VendorCommand(queue, queue.id(), queue.device()) {}
    /// `device`: that of the vendor queue `on`. A command in a private queue is held by the graph
    /// until all its dependencies are complete: nothing waits there.
    VendorCommand(Queue &queue, cl_command_queue on, Device &device)
        : queue_(queue), on_(on), device_(device) {}

    /// SUBMITTED for events by which the vendor can order commands itself: see quirks.hpp.
    void expect(size_t dependencies) final { before_.reserve(dependencies); }
    sdk::Phase phase(const sdk::Event &dependency, bool carries_error) const noexcept final;
    void start(sdk::Event &event) final;
    /// Completes the command within the call; throws if it fails. The queue must be idle. Records
    /// times in `payload`, which is NULL if they are not needed.
    void run(VendorEvent *payload);
    /// The vendor queue that it goes into.
    cl_command_queue on() const { return on_; }
    /// Called within the enqueue call of a command that the graph may hold: what the vendor refuses
    /// here is an error of the call.
    virtual void prepare() {}
    /// Whether the vendor reports its times.
    virtual bool timed() const { return queue_.profiling(); }
    /// Completes the event after the vendor's event; does nothing if another thread has done so.
    static void finished(sdk::Event &event, cl_int status);

protected:
    Queue &queue() const { return queue_; }
    /// Enqueues the vendor commands. May throw before or between the vendor's calls.
    virtual void issue(Submission &submission) = 0;
    /// Called after the vendor's success, before the event is complete.
    virtual void completed() {}

private:
    Submission begin();
    void submit(sdk::Event &event, EventOwner vendor, Instance::NoticePointer notice) noexcept;
    void fail_after(sdk::Event &event, Submission submission, sdk::Error error) noexcept;

    Queue &queue_; ///< the event keeps it alive
    const cl_command_queue on_;
    Device &device_; ///< of on_
    struct Dependency {
        sdk::Ref<sdk::Event> event;
        bool carries_error;
    };
    mutable std::vector<Dependency> before_; ///< dependencies that the vendor orders
};

/// The two paths of enqueue_vendor().
void enqueue_within_call(Queue &queue, const sdk::EnqueueArguments &arguments,
                         VendorCommand &command);
void enqueue_in_graph(Queue &queue, const sdk::EnqueueArguments &arguments,
                      std::unique_ptr<VendorCommand> command);

/// The last step of each piEnqueueX of a vendor command: makes a CommandType(target, parts...). If
/// the vendor refuses it immediately, the call returns the error.
template <class CommandType, class... Parts>
void enqueue_vendor(Queue &queue, const sdk::EnqueueArguments &arguments, Parts &&...parts) {
    if (sdk::runs_within_call(queue, arguments) && !queue.shared())
        if (const sdk::TurnWithinCall turn(queue); turn) {
            CommandType command(Target{queue, true}, std::forward<Parts>(parts)...);
            return enqueue_within_call(queue, arguments, command);
        }
    enqueue_in_graph(queue, arguments,
                     std::make_unique<CommandType>(Target{queue}, std::forward<Parts>(parts)...));
}

/// The same for commands that the plugin carries out itself.
void enqueue_own(Queue &queue, const sdk::EnqueueArguments &arguments,
                 std::unique_ptr<sdk::Command> command);

} // namespace pi::opencl
