// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a command of the graph becomes commands of the vendor, and how their end comes back.
//
// The vendor never blocks for us inside an enqueue (all its calls are the non-blocking ones, each flushed at once) and
// never sees a failed or a user event: gates and errors live in our graph. Its callback only hands the event over to
// the completion thread.
//
// A blocking command with nothing before it needs no graph: it is enqueued and waited for in the vendor within the
// call, and costs what the vendor's two calls cost.
#pragma once

#include "queue.hpp"

#include <pi/sdk/command_ref.hpp>

#include <array>
#include <mutex>
#include <vector>

namespace pi::opencl {

class VendorCommand;

/// What an event of a vendor's command keeps: the vendor's event until it is final, then its times. Every event
/// with a payload has this one; events of commands that are ours alone have none. The event of an application's
/// cl_event has it, too, and no queue.
class VendorEvent final : public sdk::Payload {
public:
    VendorEvent() = default;
    /// Of a cl_event that the application brought.
    explicit VendorEvent(EventOwner brought) : event_(std::move(brought)), given_out_(true) {}

    uint64_t profiling(pi_profiling_info name) const override {
        return times_[name - PI_PROFILING_QUEUED];
    }
    /// Each device's is its own.
    bool shares_clock() const override { return false; }
    /// A reference of its own to the vendor's event; empty before it is submitted and after it is final.
    EventOwner get(const Api &api) const;
    /// The vendor's status once it is final.
    cl_int end() const {
        std::lock_guard lock(mutex_);
        return end_;
    }
    /// For the application: the vendor's event, which is kept as long as this lives from now on. What has ended without
    /// being asked for is given a user event that says how. PI_ERROR_INVALID_OPERATION if there is neither yet.
    cl_event give_out(const sdk::Event &event, const Api &api, cl_context context);
    /// Waits for the cl_event that the application brought, and ends its event.
    static void finish_brought(sdk::Event &event, const Api &api);

    bool refused() const override { return refused_.load(std::memory_order_acquire); }
    /// Of a command: has a queue.
    void help(sdk::Event &event) override;

private:
    friend class VendorCommand;
    void note_times(const Api &api, cl_event event);

    mutable std::mutex mutex_; ///< guards what follows, up to queue_
    EventOwner event_;
    bool given_out_ = false;           ///< event_ is kept
    cl_int end_ = CL_QUEUED;           ///< the vendor's status once it is final
    cl_command_queue queue_ = nullptr; ///< the vendor's, in which it was enqueued
    std::array<uint64_t, 4> times_{};
    std::atomic<bool> refused_{false};
    std::atomic<bool> claimed_{false}; ///< somebody finishes the event
    VendorCommand *command_ = nullptr; ///< once submitted, until claimed
};

/// Where a command goes, and how.
struct Target {
    Queue &queue;
    /// It is done, and gone, when the enqueue call returns.
    bool within_call = false;

    operator Queue &() const { return queue; }
};

/// The vendor's commands of one command of ours, while they are enqueued.
class Submission {
public:
    /// `on` is the vendor's queue: that of `queue`, or a private one, which is in order.
    Submission(Queue &queue, cl_command_queue on) : queue_(queue), on_(on) {}
    Submission(Queue &queue, cl_command_queue on, std::vector<EventOwner> waits);

    Queue &queue() const { return queue_; }
    /// Whether anything that came before may not have ended yet.
    bool needs_marker() const {
        return !waits_.empty() || ordered_ || (queue_.shared() && queue_.vendor_in_order());
    }
    void set_ordered(bool ordered) { ordered_ = ordered; }
    bool empty() const { return !newest_; }
    /// What is enqueued from here on waits for all that was.
    void order();
    /// Enqueues what only has a place in the order, if anything that came before may not have ended.
    void add_marker() {
        if (needs_marker())
            add("clEnqueueMarkerWithWaitList", queue_.api().clEnqueueMarkerWithWaitList);
    }

    /// Enqueues one command of the vendor: function(queue, arguments..., wait count, waits, out event).
    /// `call` is its name.
    template <class Function, class... Arguments>
    void add(const char *call, Function function, Arguments... arguments) {
        check(try_add(function, arguments...), call, "on ", queue_.device().name());
    }
    /// The same for a call that may be refused, which changes nothing then: returns the vendor's code.
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
    /// The same for a read or write: function(queue, mem, blocking, arguments..., wait count, waits,
    /// out event). One that is `alone` in a command within the call may block in the vendor's; it has
    /// ended then, with an event only where its times are wanted.
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
    /// The same for functions of another form: body(queue, wait count, waits, out event) returns the vendor's code.
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
        // In an in-order queue the first command's waits hold back the others, too.
        if (wait_ids_.empty() || (newest_ && in_order()))
            return {0, nullptr};
        return {static_cast<cl_uint>(wait_ids_.size()), wait_ids_.data()};
    }
    /// So that keep(), behind the vendor's call, cannot fail.
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
    /// A driver keeps memory for each command that it has: it is never given more than two backlogs.
    static constexpr uint32_t backlog = 2048;
    void drain();
    /// One event for all that was added.
    void gather();
    EventOwner seal() { return older_.empty() ? std::move(newest_) : join(); }
    EventOwner join();
    /// Until all has ended, whatever its results.
    void wait() const noexcept;
    bool in_order() const { return on_ != queue_.id() || queue_.vendor_in_order(); }

    Queue &queue_;
    const cl_command_queue on_;
    std::vector<EventOwner> waits_;
    std::vector<cl_event> wait_ids_;
    EventOwner newest_;
    std::vector<EventOwner>
        older_;          ///< none in order, where the newest event is the last to be final
    EventOwner drained_; ///< the newest at the last drain()
    uint32_t count_ = 0; ///< since the last drain()
    bool ordered_ = false;
    bool blocks_ = false, timed_ = false; ///< for add_transfer
    bool blocked_ = false;                ///< all that was added has ended
};

/// A command that is carried out by the vendor.
class VendorCommand : public sdk::Command {
public:
    explicit VendorCommand(Queue &queue) : VendorCommand(queue, queue.id(), queue.device()) {}
    /// On a queue of `device`; in a private one nothing waits: such a command is held until all before it is final.
    VendorCommand(Queue &queue, cl_command_queue on, Device &device)
        : queue_(queue), on_(on), device_(device) {}

    /// SUBMITTED for events that the vendor can order itself behind: see the table of quirks.
    void expect(size_t dependencies) final { before_.reserve(dependencies); }
    sdk::Phase phase(const sdk::Event &dependency, bool carries_error) const noexcept final;
    void start(sdk::Event &event) final;
    /// Does it within the call; on return it has ended. Throws its failure. The queue must be idle. Notes its times in
    /// `payload`, which is NULL if nobody wants them.
    void run(VendorEvent *payload);
    /// The vendor's queue that it goes into.
    cl_command_queue on() const { return on_; }
    /// Called within the enqueue call of a command that the graph may hold back: what the vendor can find wrong by
    /// then is an error of the call.
    virtual void prepare() {}
    /// Whether the vendor tells its times.
    virtual bool timed() const { return queue_.profiling(); }
    /// Ends the event, whose vendor's event is final; does nothing if somebody did so before.
    static void finished(sdk::Event &event, cl_int status);

protected:
    Queue &queue() const { return queue_; }
    /// Enqueues. May throw before or between the vendor's calls.
    virtual void issue(Submission &submission) = 0;
    /// Called on the vendor's success, before the event is final.
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
    mutable std::vector<Dependency> before_; ///< those left to the vendor
};

/// The two ways of enqueue_vendor.
void enqueue_within_call(Queue &queue, const sdk::EnqueueArguments &arguments,
                         VendorCommand &command);
void enqueue_in_graph(Queue &queue, const sdk::EnqueueArguments &arguments,
                      std::unique_ptr<VendorCommand> command);

/// The end of each piEnqueueX whose command is the vendor's: makes a CommandType(target, parts...). What the vendor
/// refuses at once is an error of the call.
template <class CommandType, class... Parts>
void enqueue_vendor(Queue &queue, const sdk::EnqueueArguments &arguments, Parts &&...parts) {
    if (sdk::runs_within_call(queue, arguments) && !queue.shared()) {
        CommandType command(Target{queue, true}, std::forward<Parts>(parts)...);
        enqueue_within_call(queue, arguments, command);
    } else {
        enqueue_in_graph(
            queue, arguments,
            std::make_unique<CommandType>(Target{queue}, std::forward<Parts>(parts)...));
    }
}

/// The same for commands that are ours alone.
void enqueue_own(Queue &queue, const sdk::EnqueueArguments &arguments,
                 std::unique_ptr<sdk::Command> command);

} // namespace pi::opencl
