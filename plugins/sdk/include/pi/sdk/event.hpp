// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command graph: events, the commands behind them, and the order of a queue. It holds commands back
// until what they wait for has happened, carries errors, calls callbacks, and knows nothing of a backend.
//
// A command is held until each of its dependencies has reached the phase that the command asks for:
// SUBMITTED where the backend itself can order the two (a vendor's wait list, the same in-order queue),
// FINAL otherwise. It becomes final when the backend has finished it *and* every dependency is final, so that
// results and errors travel along the graph in order, whatever the vendor does with them.
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

/// How far a dependency must be before a command that waits for it may start.
enum class Phase { SUBMITTED, COMPLETE };

/// What an enqueue call asks for. The backend derives from it; the object holds references to everything
/// that the command names and is destroyed when its event is final.
class Command {
public:
    virtual ~Command() = default;

    /// Called once, on any thread, with no lock held, when every dependency has reached its phase
    /// and none has failed. Gives the command to the backend: either Event::finish is called before
    /// it returns, or Event::submitted now and Event::finish later. An exception fails the event;
    /// one for want of host memory within the enqueue call fails that call. Must not block. A
    /// backend that finishes later holds a Ref<Event> until then; once the event may be finished by
    /// another thread, start() must not touch *this any more.
    virtual void start(Event &event) = 0;

    /// Called before the command is put into its queue: it will depend on so many events at most.
    /// Makes room for what phase() notes. May throw: then the command is not enqueued.
    virtual void expect(size_t dependencies) { (void)dependencies; }

    /// The phase that `dependency` must reach. SUBMITTED only if start() makes the backend order
    /// itself behind it. `carries_error`: this fails if it fails; else it only comes first. The
    /// command is in its queue: must not throw.
    virtual Phase phase(const Event &dependency, bool carries_error) const {
        (void)dependency, (void)carries_error;
        return Phase::COMPLETE;
    }
};

/// What a backend keeps with an event (a vendor's event object) as long as the event lives.
class Payload {
public:
    virtual ~Payload() = default;
    /// A profiling time in nanoseconds; only asked when the event is final with success.
    virtual uint64_t profiling(pi_profiling_info name) const = 0;
    /// Whether its times are of one clock with those of other devices and of the host, give or take what is known of a
    /// device's clock: so that a command is told to begin no sooner than what it comes after has ended.
    virtual bool shares_clock() const { return true; }
    /// Whether start() found that the vendor does not take the command: then the enqueue call fails. Any thread.
    virtual bool refused() const { return false; }
    /// Called on a thread that waits for `event`, this payload's, for ever: it may wait in the vendor first, so that it is woken
    /// without a detour. May return at any time, with the event final or not.
    virtual void help(Event &event) { (void)event; }
};

/// The object behind pi_event: of a command, or of the host when it has no queue.
class Event final : public Object<Event, pi_event> {
public:
    /// An event of a command in `queue` (its Sequence is `sequence`), described by descriptors of `type`.
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

    // ----- the backend's side ---------------------------------------------------------------------

    /// The backend has it now: commands that need only SUBMITTED may follow.
    void submitted();
    /// The backend is done with it. May be called on any thread, once, with no lock held. The event is final
    /// when its dependencies are, too: dependents, callbacks and waiting threads go on then.
    void finish(pi_result result, std::string_view text = {});
    /// Notes that work begins now (for backends that time themselves).
    void running() {
        status_.store(PI_EVENT_RUNNING, std::memory_order_relaxed);
        if (profiling_)
            times_[2] = now();
    }
    /// Notes that the work has ended now; finish() notes it otherwise.
    void ended() {
        if (profiling_ && !times_[3])
            times_[3] = now();
    }

    /// For a command that was done within its enqueue call, while nobody else knew the event: makes it final with
    /// success, past the graph. Instead of submitted() and finish().
    void finish_within_call();

    /// The vendor's part. Set before submitted().
    void set_payload(std::unique_ptr<Payload> payload) { payload_ = std::move(payload); }
    Payload *payload() const { return payload_.get(); }

    // ----- what the application asks --------------------------------------------------------------

    bool is_complete() const { return status() == PI_EVENT_COMPLETE; }
    pi_event_status status() const { return status_.load(std::memory_order_acquire); }
    pi_result result() const;
    std::string error_text() const noexcept;
    /// Whether the command found no host memory to start with.
    bool found_no_memory() const { return found_no_memory_.load(std::memory_order_relaxed); }
    pi_struct_type type() const { return type_; }
    void *context() const { return context_.handle(); }
    void *queue() const { return queue_.handle(); }
    bool is_host() const { return type_ == PI_TYPE_NONE; }
    uint64_t profiling(pi_profiling_info name) const;

    /// Before this thread waits for ever: see Payload::help().
    void help() {
        if (payload_ && !is_complete())
            payload_->help(*this);
    }
    /// Blocks until final or `timeout` nanoseconds are over; false on timeout. The result is not looked at.
    bool wait_complete(uint64_t timeout);
    /// piEventWait: throws the command's error.
    void wait(uint64_t timeout);
    void set_callback(pi_event_callback callback, void *user_data);
    /// piEventSignalHost.
    void signal(pi_result result);
    /// What a host event may be signalled with: success, or an error that is not a wait's own.
    static constexpr bool is_signal(pi_result result) {
        return result <= 0 && result != PI_ERROR_TIMEOUT && result != PI_ERROR_WOULD_BLOCK;
    }
    /// The application's references to a host event, which are counted apart: see piEventCreateHost.
    void application_retain() { application_references_.fetch_add(1, std::memory_order_relaxed); }
    void application_release();

    // ----- the graph's side -----------------------------------------------------------------------

    /// Makes room for so many dependencies, so that launch() cannot fail. Called once before it.
    void expect(size_t dependencies);
    /// Puts the command behind its dependencies. `waits` carry errors; `order` only orders.
    /// Called once, by Sequence.
    void launch(std::unique_ptr<Command> command, std::span<Event *const> waits,
                std::span<Event *const> order) noexcept;

private:
    friend class Sequence;

    /// In the list of an event that another one waits for; a part of that other one.
    struct Waiter {
        Ref<Event> event{}; ///< that other one, while this is in a list
        bool carries_error = false;
        bool starts = false; ///< counts for the start; else for the finish
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
    void reached(Waiter *waiters, bool completed);
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
    std::atomic<uint32_t> unfinished_{1}; ///< the backend, plus dependencies that are not final
    std::atomic<uint32_t> application_references_{1};
    std::atomic<bool> found_no_memory_{false};
    std::unique_ptr<Command> command_;
    std::unique_ptr<Payload> payload_;
    std::unique_ptr<Waiter[]> waiting_; ///< where it waits for others
    size_t waiting_count_ = 0;          ///< used of them
    Trampoline::Task task_;             ///< of begin(), then of complete()
    void (Event::*step_)() = nullptr;   ///< what it does next
    uint64_t times_[4] = {};            ///< queued, submit, start, end

    /// In the list of its sequence's open events, under that one's mutex.
    Event *older_ = nullptr, *newer_ = nullptr;

    mutable std::mutex mutex_; ///< guards what follows; no other lock is taken under it
    std::condition_variable condition_;
    pi_result result_ = PI_SUCCESS;
    std::string text_;
    uint64_t not_before_ = 0; ///< the latest end of a dependency, by profiling
    bool signalled_ = false;
    bool reached_submitted_ = false;
    bool reached_complete_ = false;
    Waiters submitted_waiters_, complete_waiters_;
    std::vector<std::pair<pi_event_callback, void *>> callbacks_;
};

/// The order of one queue's commands. A member of the backend's queue object, which its events keep alive.
class Sequence {
public:
    explicit Sequence(bool in_order) : in_order_(in_order) {}

    enum class Role {
        COMMAND,
        WAIT_FOR_ALL, ///< piEnqueueEventsWait without a wait list
        BARRIER       ///< with or without one; later commands come after it
    };

    /// Puts the command into the queue behind `waits` and what the queue's order demands. The event
    /// is of this queue and new. Never blocks. After an exception nothing was enqueued, and `event`
    /// is as it was.
    void submit(Event &event, std::unique_ptr<Command> command, std::span<Event *const> waits,
                Role role = Role::COMMAND);

    /// Blocks until everything submitted before is final, with the payloads' help.
    void finish();

    /// True if everything submitted before is final: what comes now has nothing of this queue to wait for.
    bool idle() const { return idle_.load(std::memory_order_acquire); }

    /// In order: true if a command that comes now would start at once. phase(last) is what it asks of the one before it.
    template <class PhaseOf>
    bool open(PhaseOf &&phase) const {
        if (idle())
            return true;
        std::lock_guard lock(mutex_);
        return !last_ || (phase(*last_) == Phase::SUBMITTED && last_->status() != PI_EVENT_QUEUED);
    }

private:
    friend class Event;
    /// Called by an event that has become final.
    void forget(Event &event);
    std::vector<Ref<Event>> open_events() const;

    const bool in_order_;
    mutable std::mutex mutex_;     ///< taken before any event's, never after
    Event *last_ = nullptr;        ///< in order: the newest; it is not final
    Event *barrier_ = nullptr;     ///< out of order: the newest barrier that is not final
    Event *newest_ = nullptr;      ///< of those that are not final, which the graph keeps alive
    size_t open_ = 0;              ///< how many they are
    std::atomic<bool> idle_{true}; ///< there is none; written under the lock
};

/// Checks a wait list: count and pointer agree, every event is of this instance.
std::vector<Event *> read_wait_list(const pi_host *host, uint32_t count, const pi_event *events);

} // namespace pi::sdk

#include <pi/sdk/event_impl.hpp>
