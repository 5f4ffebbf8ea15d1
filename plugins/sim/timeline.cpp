// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "timeline.hpp"

#include <algorithm>
#include <cmath>
#include <new>
#include <utility>

namespace pi::sim {

uint64_t whole_time(double nanoseconds) {
    return nanoseconds < static_cast<double>(last_time)
               ? static_cast<uint64_t>(std::ceil(nanoseconds))
               : last_time;
}

// ----- Channel -----------------------------------------------------------------------------------

uint64_t Channel::earliest(uint64_t ready, uint64_t duration) const {
    uint64_t start = ready;
    auto next = busy_.upper_bound(start);
    if (next != busy_.begin())
        start = std::max(start, std::prev(next)->second);
    while (next != busy_.end() && next->first < later(start, duration)) {
        start = next->second;
        ++next;
    }
    return start;
}

void Channel::occupy(uint64_t start, uint64_t end) {
    if (start == end)
        return;
    auto next = busy_.upper_bound(start);
    if (next != busy_.begin() && std::prev(next)->second == start) {
        start = std::prev(next)->first;
        busy_.erase(std::prev(next));
    }
    if (next != busy_.end() && next->first == end) {
        end = next->second;
        busy_.erase(next);
    }
    busy_.emplace(start, end);
}

void Channel::forget(uint64_t time) {
    while (!busy_.empty() && busy_.begin()->second <= time)
        busy_.erase(busy_.begin());
}

// ----- Timeline ----------------------------------------------------------------------------------

const Timeline::Inside *&Timeline::Inside::current() {
    static thread_local const Inside *innermost = nullptr;
    return innermost;
}

Timeline::Inside::Inside(const Timeline &timeline, const Times &times)
    : timeline_(timeline), time_(timeline.profiling(times, PI_PROFILING_END)),
      before_(std::exchange(current(), this)) {
    std::lock_guard lock(timeline.mutex_);
    timeline.shown_ = std::max(timeline.shown_, time_);
}

Timeline::Inside::~Inside() {
    current() = before_;
}

const Timeline::Inside *Timeline::inside() const {
    const Inside *inside = Inside::current();
    while (inside && &inside->timeline_ != this)
        inside = inside->before_;
    return inside;
}

uint64_t Timeline::host_time() const {
    return inside() ? inside()->time_ : now_;
}

uint64_t Timeline::now() const {
    std::lock_guard lock(mutex_);
    return host_time();
}

uint64_t Timeline::known_time() const {
    std::lock_guard lock(mutex_);
    return std::max(host_time(), shown_);
}

void Timeline::see(const Times &times) {
    std::lock_guard lock(mutex_);
    if (times.known_ && !inside())
        now_ = std::max(now_, times.end_);
}

void Timeline::spend(uint64_t duration) {
    std::lock_guard lock(mutex_);
    uint64_t &time = inside() ? inside()->time_ : now_;
    time = later(time, duration);
}

uint64_t Timeline::pass() {
    std::lock_guard lock(mutex_);
    now_ = std::max(now_, latest_);
    return now_;
}

void Timeline::submit(const TimesPointer &times, Task task,
                      const std::vector<TimesPointer> &waits) {
    std::lock_guard lock(mutex_);
    times->task_ = std::move(task);
    times->submit_ = times->ready_ = host_time();
    for (const TimesPointer &wait : waits) {
        if (wait->known_) {
            times->ready_ = std::max(times->ready_, wait->end_);
            times->over_ = std::max(times->over_, wait->over_);
        } else {
            wait->followers_.push_back(times);
            ++times->unknown_;
        }
    }
    if (!times->unknown_)
        plan(times);
}

void Timeline::signal(Times &times) noexcept {
    std::lock_guard lock(mutex_);
    if (times.known_)
        return;
    times.submit_ = times.ready_ = host_time();
    times.over_ = std::max(times.ready_, shown_);
    try {
        // Owns nothing: the caller keeps it alive.
        plan(TimesPointer(TimesPointer(), &times));
    } catch (const std::bad_alloc &) {
        // Without memory its dependents are planned when they start.
    }
}

void Timeline::begin(const TimesPointer &times) {
    bool lost;
    uint64_t time;
    {
        std::lock_guard lock(mutex_);
        if (!times->known_)
            plan(times);
        lost = times->lost_;
        time = times->task_.lost_at;
    }
    if (lost)
        sdk::fail(PI_ERROR_DEVICE_LOST,
                  "the machine file loses a device that this command needs at ", time, " ns");
}

uint64_t Timeline::plan_now(const TimesPointer &times) {
    std::lock_guard lock(mutex_);
    if (!times->known_)
        plan(times);
    return times->end_;
}

void Timeline::place(Times &times) {
    const Task &task = times.task_;
    uint64_t start = times.ready_;
    // Until all channels agree; each step moves to a time before which one of them is busy.
    for (bool moved = true; moved;) {
        moved = false;
        for (const Channel *channel : task.channels) {
            const uint64_t free = channel->earliest(start, task.duration);
            moved |= free != start;
            start = free;
        }
    }
    times.start_ = start;
    times.end_ = later(start, task.duration);
    if (task.lost_at <= times.end_ && !times.host_) {
        times.lost_ = true;
        times.start_ = std::min(times.start_, std::max(times.ready_, task.lost_at));
        times.end_ = std::max(times.start_, task.lost_at);
    }
    times.known_ = true;
    latest_ = std::max(latest_, times.end_);
    if (times.lost_)
        return;
    // The host enqueues later commands now or within an event's callback: they are not ready before
    // this time.
    const uint64_t past = claimed_.empty() ? now_ : std::min(now_, claimed_.begin()->first);
    for (Channel *channel : task.channels) {
        channel->forget(past);
        channel->occupy(times.start_, times.end_);
    }
}

void Timeline::plan(const TimesPointer &first) {
    std::vector<TimesPointer> planned{first};
    for (size_t i = 0; i < planned.size(); ++i) {
        const TimesPointer times = planned[i];
        place(*times);
        for (TimesPointer &follower : times->followers_) {
            follower->ready_ = std::max(follower->ready_, times->end_);
            follower->over_ = std::max(follower->over_, times->over_);
            if (!follower->known_ && !--follower->unknown_)
                planned.push_back(std::move(follower));
        }
        times->followers_.clear();
    }
}

uint64_t Timeline::over_before(const Times &times) const {
    std::lock_guard lock(mutex_);
    return times.over_;
}

bool Timeline::known(const Times &times) const {
    std::lock_guard lock(mutex_);
    return times.known_;
}

uint64_t Timeline::claim_time() {
    std::lock_guard lock(mutex_);
    const uint64_t time = host_time();
    ++claimed_[time];
    return time;
}

void Timeline::release_time(uint64_t time) {
    std::lock_guard lock(mutex_);
    const auto found = claimed_.find(time);
    if (--found->second == 0)
        claimed_.erase(found);
}

uint64_t Timeline::profiling(const Times &times, pi_profiling_info name) const {
    std::lock_guard lock(mutex_);
    switch (name) {
    case PI_PROFILING_START:
        return times.start_;
    case PI_PROFILING_END:
        return times.end_;
    default:
        return times.submit_;
    }
}

// ----- QueueOrder --------------------------------------------------------------------------------

void QueueOrder::add(const Timeline &timeline, const TimesPointer &times, sdk::Sequence::Role role,
                     bool has_wait_list, std::vector<TimesPointer> &waits) {
    using Role = sdk::Sequence::Role;
    if (in_order_) {
        if (last_)
            waits.push_back(last_);
        last_ = times;
    } else {
        if (role != Role::COMMAND && !has_wait_list)
            waits.insert(waits.end(), open_.begin(), open_.end());
        else if (barrier_)
            waits.push_back(barrier_);
        if (role == Role::BARRIER)
            barrier_ = times;
    }
    // Of several with known times, the latest is enough.
    const auto note = [&](std::vector<TimesPointer> &list) {
        // One that failed before it started, and whose event is destroyed, will never have times.
        std::erase_if(list, [&](const TimesPointer &one) {
            return one.use_count() == 1 && !timeline.known(*one);
        });
        const auto unknown = std::partition(list.begin(), list.end(), [&](const TimesPointer &one) {
            return timeline.known(*one);
        });
        if (unknown - list.begin() > 1) {
            const auto latest = std::max_element(
                list.begin(), unknown, [&](const TimesPointer &a, const TimesPointer &b) {
                    return timeline.profiling(*a, PI_PROFILING_END) <
                           timeline.profiling(*b, PI_PROFILING_END);
                });
            std::iter_swap(list.begin(), latest);
            list.erase(list.begin() + 1, unknown);
        }
        list.push_back(times);
    };
    note(unseen_);
    if (!in_order_)
        note(open_);
}

std::vector<TimesPointer> QueueOrder::take_all() {
    return std::exchange(unseen_, {});
}

} // namespace pi::sim
