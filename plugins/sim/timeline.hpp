// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The virtual clock: when commands begin and end in the time of the simulated machine, whatever time they really take.
//
// A command is planned when it is enqueued, if the times of all that it waits for are known, else when the last of them
// becomes known. So the times depend on the order of the program's calls alone, not on the threads that do the work.
#pragma once

#include "machine.hpp"

#include <pi/sdk/event.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::sim {

/// The last time of the virtual clock, where it stands still: what would end later ends then.
inline constexpr uint64_t last_time = never - 1;
/// This much later, or as late as it can be.
constexpr uint64_t later(uint64_t time, uint64_t duration) {
    return duration < last_time - time ? time + duration : last_time;
}
/// Whole nanoseconds of a time that is not negative, likewise.
uint64_t whole_time(double nanoseconds);

/// What can do one thing at a time: a link's wires, a device's processors.
class Channel {
public:
    /// The number, not 0, by which the plugin tells it: PI_CONNECTION_MAX_CHANNELS.
    explicit Channel(uint64_t number) : number_(number) {}
    uint64_t number() const { return number_; }
    /// The earliest time from `ready` on at which it is free for `duration`.
    uint64_t earliest(uint64_t ready, uint64_t duration) const;
    void occupy(uint64_t start, uint64_t end);
    /// Nothing will be ready before `time` any more.
    void forget(uint64_t time);

private:
    const uint64_t number_;
    std::map<uint64_t, uint64_t> busy_; ///< begin to end; neighbours are joined
};

/// What a command asks of the machine.
struct Task {
    uint64_t duration = 0;           ///< nanoseconds
    std::vector<Channel *> channels; ///< all of them at once
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
    uint64_t over_ = 0;    ///< known_time() when a host event behind which it comes was signalled
    unsigned unknown_ = 0; ///< how many of those that it waits for have no times yet
    bool known_ = false;
    bool lost_ = false;
    std::vector<std::shared_ptr<Times>> followers_;
};
using TimesPointer = std::shared_ptr<Times>;

/// The clock of one machine. Thread-safe.
class Timeline {
public:
    /// The host's time: it goes on when the host waits for something, to the time at which that ended. In a callback
    /// it is the time of the event.
    uint64_t now() const;
    /// The latest time of which the program can know that it has come: the host's, or that of a callback.
    uint64_t known_time() const;
    /// The host has seen the end of this; what a callback sees is not the host's.
    void see(const Times &times);
    /// The host itself is busy for so long. In a callback what it does after that comes later.
    void spend(uint64_t duration);
    /// The host has waited for all that has times. Returns its time.
    uint64_t pass();

    /// Plans a command behind others. Once for each Times.
    void submit(const TimesPointer &times, Task task, const std::vector<TimesPointer> &waits);
    /// A host event is signalled.
    void signal(Times &times) noexcept;
    /// The command really begins: what it waits for is final. It is planned, if it could not be before, and so is fit
    /// to run; PI_ERROR_DEVICE_LOST if a device that it needs is gone by its end.
    void begin(const TimesPointer &times);
    /// The end of a command that really begins; it is planned, if it could not be before.
    uint64_t plan_now(const TimesPointer &times);
    /// What has ended by then, the program may have known to be over when it let this begin by a host event.
    uint64_t over_before(const Times &times) const;
    bool known(const Times &times) const;
    /// An event lives: inside its callbacks it may be this time, which is returned, or any later one.
    uint64_t hold();
    /// It is gone.
    void let_go(uint64_t held);
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
        mutable uint64_t time_; ///< goes on when the callback spends some
        const Inside *const before_;
    };

private:
    /// The innermost callback of this timeline that the thread is in; null outside.
    const Inside *inside() const;
    uint64_t host_time() const; ///< with the mutex held
    void plan(const TimesPointer &first);
    void place(Times &times);

    mutable std::mutex mutex_;          ///< no other is taken under it
    uint64_t now_ = 1000;               ///< 0 would look like no time at all
    uint64_t latest_ = 0;               ///< end that is known
    std::map<uint64_t, uint64_t> held_; ///< by how many events each time is
    mutable uint64_t told_ = 0;         ///< by callbacks
};

/// The times as an event's own.
class TimesPayload : public sdk::Payload {
public:
    TimesPayload(Timeline &timeline, TimesPointer times)
        : timeline_(timeline), times_(std::move(times)), held_(timeline.hold()) {}
    ~TimesPayload() override { timeline_.let_go(held_); }
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
    const uint64_t held_;
};

/// What the commands of one queue wait for, beside their wait lists. Externally synchronised.
class QueueOrder {
public:
    explicit QueueOrder(bool in_order) : in_order_(in_order) {}
    /// Adds to `waits` what the queue's order puts before a new command, and notes the command.
    void add(const Timeline &timeline, const TimesPointer &times, sdk::Sequence::Role role,
             bool has_wait_list, std::vector<TimesPointer> &waits);
    /// All that has been added and not been seen.
    std::vector<TimesPointer> take_all();

private:
    const bool in_order_;
    TimesPointer last_, barrier_;
    std::vector<TimesPointer> open_; ///< out of order: a barrier may have to wait for them
    std::vector<TimesPointer> unseen_;
};

} // namespace pi::sim
