// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The virtual clock: the start and end of commands in the simulated machine's time, however long
// they really take.
//
// A command's times are planned when it is enqueued, if those of all its dependencies are known;
// else when the last of them becomes known. So they only depend on the order of the program's
// calls, not on the threads that do the work.
#pragma once

#include "machine.hpp"

#include <pi/sdk/event.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::sim {

/// The last time of the virtual clock, where it stops: later ends are clamped to it.
inline constexpr uint64_t last_time = never - 1;
/// `time` plus `duration`, at most last_time.
constexpr uint64_t later(uint64_t time, uint64_t duration) {
    return duration < last_time - time ? time + duration : last_time;
}
/// Rounds a time that is not negative to whole nanoseconds, at most last_time.
uint64_t whole_time(double nanoseconds);

/// Something that does one thing at a time: a link's wires, a device's processors.
class Channel {
public:
    /// `number`, not 0, is the channel's number in queries: PI_CONNECTION_MAX_CHANNELS.
    explicit Channel(uint64_t number) : number_(number) {}
    uint64_t number() const { return number_; }
    /// The earliest time from `ready` on at which it is free for `duration`.
    uint64_t earliest(uint64_t ready, uint64_t duration) const;
    void occupy(uint64_t start, uint64_t end);
    /// Nothing will be ready before `time` any more.
    void forget(uint64_t time);

private:
    const uint64_t number_;
    std::map<uint64_t, uint64_t> busy_; ///< begin to end; adjacent ones are joined
};

/// The machine's part of a command.
struct Task {
    uint64_t duration = 0;           ///< nanoseconds
    std::vector<Channel *> channels; ///< used all at once
    uint64_t lost_at = never;        ///< the earliest loss of a device that it needs
};

/// The virtual times of one command or host event. Guarded by the timeline's mutex.
class Times {
public:
    explicit Times(bool host = false) : host_(host) {}

private:
    friend class Timeline;
    const bool host_; ///< of a host event, which has no task
    Task task_;
    uint64_t submit_ = 0, ready_ = 0, start_ = 0, end_ = 0;
    uint64_t over_ = 0;    ///< known_time() at the signal of a host event before it
    unsigned unknown_ = 0; ///< the number of dependencies without times
    bool known_ = false;
    bool lost_ = false;
    std::vector<std::shared_ptr<Times>> followers_;
};
using TimesPointer = std::shared_ptr<Times>;

/// The clock of one machine. Thread-safe.
class Timeline {
public:
    /// The host's time. When the host waits for something, it advances to that thing's end. Within
    /// a callback it is the time of the event.
    uint64_t now() const;
    /// The latest time that the program can know of: the host's, or that of a callback.
    uint64_t known_time() const;
    /// The host has seen the end of this. What a callback sees does not count as the host's.
    void see(const Times &times);
    /// The host is busy for this duration. Within a callback, only the callback's time advances.
    void spend(uint64_t duration);
    /// The host has waited for everything with times. Returns its time.
    uint64_t pass();

    /// Plans a command after others. Called once for each Times.
    void submit(const TimesPointer &times, Task task, const std::vector<TimesPointer> &waits);
    /// Signals a host event.
    void signal(Times &times) noexcept;
    /// The command really starts: its dependencies are complete. Plans it if that was not possible
    /// before. PI_ERROR_DEVICE_LOST if a device that it needs is lost by its end.
    void begin(const TimesPointer &times);
    /// The end of a command that really starts. Plans it if that was not possible before.
    uint64_t plan_now(const TimesPointer &times);
    /// The program may have known everything that ended by this time to be over when it signalled a
    /// host event before this one.
    uint64_t over_before(const Times &times) const;
    bool known(const Times &times) const;
    /// For a living event, whose callbacks may run at the returned time or later.
    uint64_t claim_time();
    /// The event is destroyed.
    void release_time(uint64_t time);
    uint64_t profiling(const Times &times, pi_profiling_info name) const;

    /// While it lives, now() of this thread is the end of `times`.
    class Inside {
    public:
        Inside(const Timeline &timeline, const Times &times);
        ~Inside();
        Inside(const Inside &) = delete;

    private:
        friend class Timeline;
        static const Inside *&current();
        const Timeline &timeline_;
        mutable uint64_t time_; ///< advances when the callback spends time
        const Inside *const before_;
    };

private:
    /// The innermost callback of this timeline on this thread; null outside of callbacks.
    const Inside *inside() const;
    uint64_t host_time() const; ///< call it with the mutex locked
    void plan(const TimesPointer &first);
    void place(Times &times);

    mutable std::mutex mutex_;             ///< no other lock is taken under it
    uint64_t now_ = 1000;                  ///< 0 would look like no time at all
    uint64_t latest_ = 0;                  ///< the latest known end
    std::map<uint64_t, uint64_t> claimed_; ///< the number of events by their time
    mutable uint64_t shown_ = 0;           ///< the latest time that a callback showed
};

/// An event's times.
class TimesPayload : public sdk::Payload {
public:
    TimesPayload(Timeline &timeline, TimesPointer times)
        : timeline_(timeline), times_(std::move(times)), claimed_(timeline.claim_time()) {}
    ~TimesPayload() override { timeline_.release_time(claimed_); }
    uint64_t profiling(pi_profiling_info name) const override {
        return timeline_.profiling(*times_, name);
    }
    /// Every event of this plugin has one.
    static const TimesPointer &of(const sdk::Event &event) {
        return static_cast<const TimesPayload *>(event.payload())->times_;
    }

private:
    Timeline &timeline_;
    const TimesPointer times_;
    const uint64_t claimed_;
};

/// The dependencies that a queue's order gives its commands besides their wait lists. Externally
/// synchronised.
class QueueOrder {
public:
    explicit QueueOrder(bool in_order) : in_order_(in_order) {}
    /// Adds to `waits` the dependencies that the queue's order gives a new command, and records the
    /// command.
    void add(const Timeline &timeline, const TimesPointer &times, sdk::Sequence::Role role,
             bool has_wait_list, std::vector<TimesPointer> &waits);
    /// Everything added and not yet seen.
    std::vector<TimesPointer> take_all();

private:
    const bool in_order_;
    TimesPointer last_, barrier_;
    std::vector<TimesPointer> open_; ///< out of order: a barrier may have to wait for them
    std::vector<TimesPointer> unseen_;
};

} // namespace pi::sim
