// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command graph: events, the commands behind them, and the order of a queue. The graph delays
// commands until their dependencies are ready, propagates errors and calls callbacks. It is
// independent of any backend.
//
// A command waits until each of its dependencies has reached the phase that the command requires:
// SUBMITTED where the backend itself can order the two (a vendor's wait list, the same in-order
// queue), COMPLETE otherwise. It is complete when the backend has finished it *and* every
// dependency is complete: results and errors propagate along the graph in order, whatever the
// vendor does with them.
#pragma once

#include <pi/sdk/object.hpp>
#include <pi/sdk/trampoline.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pi::sdk {

class Event;
class Sequence;

/// Nanoseconds of CLOCK_MONOTONIC.
inline uint64_t now() {
    return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                     std::chrono::steady_clock::now().time_since_epoch())
                                     .count());
}

/// The phase that a dependency must reach before a command that waits for it may start.
enum class Phase { SUBMITTED, COMPLETE };

/// The command of an enqueue call. Backends derive from it. The object references everything that
/// the command names, and is destroyed when its event is complete.
class Command {
public:
    virtual ~Command() = default;

    /// Called once, on any thread, with no lock held, when every dependency has reached its phase
    /// and none has failed. Submits the command to the backend: calls either Event::finish before
    /// it returns, or Event::submitted now and Event::finish later. An exception fails the event;
    /// an exception for lack of host memory within the enqueue call fails that call. Must not
    /// block. A backend that finishes later holds a Ref<Event> until then. Once another thread may
    /// finish the event, start() must not touch *this.
    virtual void start(Event &event) = 0;

    /// Called before the command enters its queue: it will have at most `dependencies`
    /// dependencies. Reserves room for what phase() records. If it throws, the command is not
    /// enqueued.
    virtual void expect(size_t dependencies) { (void)dependencies; }

    /// The phase that `dependency` must reach. SUBMITTED only if start() makes the backend run this
    /// command after it. `carries_error`: this command fails if the dependency fails; otherwise the
    /// dependency only comes first. Called while the command is in its queue: must not throw.
    virtual Phase phase(const Event &dependency, bool carries_error) const {
        (void)dependency, (void)carries_error;
        return Phase::COMPLETE;
    }
};

/// The backend's part of an event (for example a vendor's event object); lives as long as the
/// event.
class Payload {
public:
    virtual ~Payload() = default;
    /// A profiling time in nanoseconds; only called when the event is complete with success.
    virtual uint64_t profiling(pi_profiling_info name) const = 0;
    /// Whether its times use the same clock as those of other devices and of the host, within the
    /// known error of a device's clock. If so, no command is reported to start before its
    /// dependencies ended.
    virtual bool shares_clock() const { return true; }
    /// Whether start() found that the vendor refuses the command: then the enqueue call fails. Any
    /// thread.
    virtual bool refused() const { return false; }
    /// Called on a thread that waits without a timeout for `event`, which has this payload. It may
    /// first wait in the vendor's driver, which wakes it without a detour. May return at any time,
    /// whether the event is complete or not.
    virtual void help(Event &event) { (void)event; }
};

/// The object behind pi_event: a command's event, or a host event, which has no queue.
class Event final : public Object<Event, pi_event> {
public:
    /// An event of a command in `queue`, whose Sequence is `sequence` and whose descriptors have
    /// `type`.
    Event(const pi_host *host, AnyRef context, AnyRef queue, Sequence *sequence,
          pi_struct_type type, bool profiling)
        : Object(host), context_(std::move(context)), queue_(std::move(queue)), sequence_(sequence),
          type_(type), profiling_(profiling) {
        times_[0] = profiling ? now() : 0;
    }
    /// A host event.
    Event(const pi_host *host, AnyRef context)
        : Event(host, std::move(context), {}, nullptr, 0, false) {
        unfinished_ = 1;
        missing_ = 1;
    }

    // ----- the backend's side --------------------------------------------------------------------

    /// The backend has the command: dependents that only require SUBMITTED may start.
    void submitted();
    /// The backend is done with the command. Called once, on any thread, with no lock held. The
    /// event becomes complete once its dependencies are complete, too; then dependents, callbacks
    /// and waiting threads continue.
    void finish(pi_result result, std::string_view words = {});
    /// Records that the work starts now, for backends that measure times themselves.
    void running() {
        status_.store(PI_EVENT_RUNNING, std::memory_order_relaxed);
        if (profiling_)
            times_[2] = now();
    }
    /// Records that the work has ended now; without this call finish() does.
    void ended() {
        if (profiling_ && !times_[3])
            times_[3] = now();
    }

    /// Instead of submitted() and finish(), for a command done within its enqueue call, while
    /// nothing else knows the event: completes it with success, without the graph.
    void finish_within_call();

    /// Set before submitted().
    void set_payload(std::unique_ptr<Payload> payload) { payload_ = std::move(payload); }
    Payload *payload() const { return payload_.get(); }

    // ----- for the application's calls -----------------------------------------------------------

    bool is_complete() const { return status() == PI_EVENT_COMPLETE; }
    pi_event_status status() const { return status_.load(std::memory_order_acquire); }
    pi_result result() const;
    std::string error_text() const noexcept;
    /// Whether the command had no host memory to start with.
    bool found_no_memory() const { return found_no_memory_.load(std::memory_order_relaxed); }
    pi_struct_type type() const { return type_; }
    void *context() const { return context_.handle(); }
    void *queue() const { return queue_.handle(); }
    bool is_host() const { return type_ == PI_TYPE_NONE; }
    uint64_t profiling(pi_profiling_info name) const;

    /// Called before this thread waits without a timeout: see Payload::help().
    void help() {
        if (payload_ && !is_complete())
            payload_->help(*this);
    }
    /// Blocks until the event is complete; returns false after `timeout` nanoseconds without that.
    /// The event may have failed.
    bool wait_complete(uint64_t timeout);
    /// piEventWait: throws the command's error.
    void wait(uint64_t timeout);
    void set_callback(pi_event_callback callback, void *user_data);
    /// piEventSignalHost.
    void signal(pi_result result);
    /// The results that a host event may be signalled with: success, or an error that is not
    /// specific to waiting.
    static constexpr bool is_signal(pi_result result) {
        return result <= 0 && result != PI_ERROR_TIMEOUT && result != PI_ERROR_WOULD_BLOCK;
    }
    /// The application's references to a host event, counted separately: see piEventCreateHost.
    void application_retain() { application_references_.fetch_add(1, std::memory_order_relaxed); }
    void application_release();

    // ----- the graph's side ----------------------------------------------------------------------

    /// Reserves room for so many dependencies, so that launch() cannot fail. Called once, before
    /// it.
    void expect(size_t dependencies);
    /// Makes the command wait for its dependencies. Errors of `waits` propagate; `order` only
    /// orders. Called once, by Sequence.
    void launch(std::unique_ptr<Command> command, std::span<Event *const> waits,
                std::span<Event *const> order) noexcept;

private:
    friend class Sequence;

    /// A dependent's entry in a dependency's list; a part of the dependent.
    struct Waiter {
        Ref<Event> event{}; ///< the dependent, while this is in a list
        bool carries_error = false;
        bool starts = false; ///< the start waits for it; else only the completion
        Waiter *next = nullptr;
    };
    /// First in, first out.
    class Waiters {
    public:
        void add(Waiter &waiter) {
            waiter.next = nullptr;
            *end_ = &waiter;
            end_ = &waiter.next;
        }
        Waiter *take_all() {
            end_ = &first_;
            return std::exchange(first_, nullptr);
        }

    private:
        Waiter *first_ = nullptr, **end_ = &first_;
    };

    bool wait_for(Event &dependency, Phase phase, bool carries_error, bool starts);
    void depend(Event &dependency, bool carries_error);
    void note_failure(const Event &root);
    void note_end(const Event &dependency);
    void reached(Waiter *waiters, bool completed) const;
    void dependency_reached(bool carries_error, bool starts, const Event &dependency,
                            bool completed);
    void post(void (Event::*step)());
    void start_step();
    void finish_step();
    void begin();
    void complete();

    AnyRef context_, queue_;
    Sequence *const sequence_;
    const pi_struct_type type_;
    const bool profiling_;
    std::atomic<pi_event_status> status_{PI_EVENT_QUEUED};
    std::atomic<uint32_t> missing_{1};    ///< dependencies until start, plus one while launching
    std::atomic<uint32_t> unfinished_{1}; ///< the backend, plus dependencies that are not complete
    std::atomic<uint32_t> application_references_{1};
    std::atomic<bool> found_no_memory_{false};
    std::unique_ptr<Command> command_;
    std::unique_ptr<Payload> payload_;
    std::unique_ptr<Waiter[]> waiting_; ///< its entries in its dependencies' lists
    size_t waiting_count_ = 0;          ///< the number of used entries
    Trampoline::Task task_;             ///< runs begin(), then complete()
    void (Event::*step_)() = nullptr;   ///< what the task calls
    uint64_t times_[4] = {};            ///< queued, submit, start, end

    /// Links of its sequence's open events, guarded by that sequence's mutex.
    Event *older_ = nullptr, *newer_ = nullptr;

    mutable std::mutex mutex_; ///< guards the members below; no other lock is taken under it
    std::condition_variable condition_;
    pi_result result_ = PI_SUCCESS;
    std::string text_;
    uint64_t not_before_ = 0; ///< the latest end of a dependency, for profiling
    bool signalled_ = false;
    bool reached_submitted_ = false;
    bool reached_complete_ = false;
    Waiters submitted_waiters_, complete_waiters_;
    std::vector<std::pair<pi_event_callback, void *>> callbacks_;
};

/// The order of one queue's commands. A member of the backend's queue object, which the queue's
/// events keep alive.
class Sequence {
public:
    explicit Sequence(bool in_order) : in_order_(in_order) {}

    enum class Role {
        COMMAND,
        WAIT_FOR_ALL, ///< piEnqueueEventsWait without a wait list
        BARRIER       ///< with or without a wait list; later commands come after it
    };

    /// Puts the command into the queue, after `waits` and whatever the queue's order requires.
    /// `event` is a new event of this queue. Never blocks. After an exception nothing is enqueued,
    /// and `event` is unchanged.
    void submit(Event &event, std::unique_ptr<Command> command, std::span<Event *const> waits,
                Role role = Role::COMMAND);

    /// Blocks until every command submitted before is complete. Uses Payload::help().
    void finish();

    /// True if every command submitted before is complete: a new one has nothing in this queue to
    /// wait for.
    bool idle() const { return !state_.load(std::memory_order_acquire); }

    /// If idle, lets a blocking command run within its call, without an event: until
    /// end_within_call(), every command submitted and every finish() treats it as one submitted
    /// before. See TurnWithinCall. `host` is that of the queue.
    bool begin_within_call(const pi_host *host) {
        host_.store(host, std::memory_order_relaxed);
        uint32_t state = 0;
        return state_.compare_exchange_strong(state, within_call, std::memory_order_acq_rel,
                                              std::memory_order_relaxed);
    }
    void end_within_call() noexcept;

    /// In order only: true if a command submitted now would start at once. phase(last) is the phase
    /// that it requires of the command before it.
    template <class PhaseOf>
    bool open(PhaseOf &&phase) const {
        if (idle())
            return true;
        std::lock_guard lock(mutex_);
        if (!last_)
            return !runs_within_call();
        return phase(*last_) == Phase::SUBMITTED && last_->status() != PI_EVENT_QUEUED;
    }

private:
    friend class Event;
    /// Bits of state_: there is an incomplete event or a stand-in, written under the lock; a
    /// command runs within its call.
    static constexpr uint32_t has_events = 1, within_call = 2;
    /// Under the lock: while it lives, no command begins to run within its call, and one that does
    /// ends only under the lock.
    class Opened {
    public:
        explicit Opened(Sequence &sequence) : sequence_(sequence) {
            sequence.state_.fetch_or(has_events, std::memory_order_acq_rel);
        }
        Opened(const Opened &) = delete;
        ~Opened() { sequence_.settle(); }

    private:
        Sequence &sequence_;
    };

    /// Called by an event that became complete.
    void forget(Event &event);
    std::vector<Ref<Event>> open_events();
    bool runs_within_call() const { return state_.load(std::memory_order_relaxed) & within_call; }
    const Ref<Event> &stand_in();
    void settle() {
        if (!open_ && !stand_in_)
            state_.fetch_and(~has_events, std::memory_order_release);
    }

    const bool in_order_;
    mutable std::mutex mutex_;       ///< taken before any event's, never after
    Event *last_ = nullptr;          ///< in order: the newest, if not complete
    Event *barrier_ = nullptr;       ///< out of order: the newest barrier, if not complete
    Event *newest_ = nullptr;        ///< the newest incomplete event; the graph keeps these alive
    size_t open_ = 0;                ///< the number of incomplete events
    Ref<Event> stand_in_;            ///< of the command that runs within its call, once needed
    std::atomic<uint32_t> state_{0}; ///< 0 if idle
    std::atomic<const pi_host *> host_{nullptr};
};

/// The turn of a blocking command to run within its call; none if its queue is not idle.
class TurnWithinCall {
public:
    template <class Queue>
    explicit TurnWithinCall(Queue &queue)
        : sequence_(queue.sequence().begin_within_call(queue.host()) ? &queue.sequence()
                                                                     : nullptr) {}
    TurnWithinCall(const TurnWithinCall &) = delete;
    ~TurnWithinCall() {
        if (sequence_)
            sequence_->end_within_call();
    }
    explicit operator bool() const { return sequence_; }

private:
    Sequence *const sequence_;
};

/// Checks a wait list: count and pointer agree, and every event is of this instance.
std::vector<Event *> read_wait_list(const pi_host *host, uint32_t count, const pi_event *events);

} // namespace pi::sdk

#include <pi/sdk/event_impl.hpp>
