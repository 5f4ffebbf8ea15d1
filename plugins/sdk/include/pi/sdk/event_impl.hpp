// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command graph's implementation; included by event.hpp.
#pragma once

#include <pi/describe/checks/descriptor.hpp>
#include <pi/sdk/event.hpp>

#include <algorithm>

namespace pi::sdk {

inline pi_result Event::result() const {
    std::lock_guard lock(mutex_);
    return reached_complete_ ? result_ : PI_SUCCESS;
}

inline std::string Event::error_text() const noexcept {
    std::lock_guard lock(mutex_);
    return reached_complete_ ? copy_message(text_) : std::string();
}

inline uint64_t Event::profiling(pi_profiling_info name) const {
    if (name < PI_PROFILING_QUEUED || name > PI_PROFILING_END)
        fail(PI_ERROR_INVALID_ENUMERATION, "name ", name, " is not a PI_PROFILING_ query");
    if (!profiling_)
        fail(PI_ERROR_PROFILING_UNAVAILABLE,
             is_host() ? "a host event has no profiling times"
                       : "the queue was created without PI_QUEUE_PROFILING");
    if (!is_complete() || result() != PI_SUCCESS)
        fail(PI_ERROR_PROFILING_UNAVAILABLE,
             "profiling times exist once the event is complete with success");
    const uint64_t time = payload_ ? payload_->profiling(name) : times_[name - PI_PROFILING_QUEUED];
    std::lock_guard lock(mutex_);
    return name < PI_PROFILING_START ? time : std::max(time, not_before_);
}

// ----- dependencies ------------------------------------------------------------------------------

inline void Event::expect(size_t dependencies) {
    if (dependencies) // one for the start, one for the completion
        waiting_ = std::make_unique<Waiter[]>(2 * dependencies);
}

inline bool Event::wait_for(Event &dependency, Phase phase, bool carries_error, bool starts) {
    // Counted first, since it may be reached at once. Cannot drop to zero here: launch() holds a
    // count.
    std::atomic<uint32_t> &counter = starts ? missing_ : unfinished_;
    counter.fetch_add(1, std::memory_order_relaxed);
    Waiter &waiter = waiting_[waiting_count_];
    waiter.carries_error = carries_error;
    waiter.starts = starts;
    {
        std::lock_guard lock(dependency.mutex_);
        if (!(phase == Phase::SUBMITTED ? dependency.reached_submitted_
                                        : dependency.reached_complete_)) {
            waiter.event = Ref<Event>(*this);
            (phase == Phase::SUBMITTED ? dependency.submitted_waiters_
                                       : dependency.complete_waiters_)
                .add(waiter);
            ++waiting_count_;
            return true;
        }
    }
    counter.fetch_sub(1, std::memory_order_relaxed);
    return false;
}

inline void Event::depend(Event &dependency, bool carries_error) {
    const Phase phase = command_->phase(dependency, carries_error);
    wait_for(dependency, phase, carries_error, true);
    if (phase == Phase::SUBMITTED && wait_for(dependency, Phase::COMPLETE, carries_error, false))
        return;
    if (!dependency.is_complete())
        return;
    note_end(dependency);
    if (carries_error)
        note_failure(dependency);
}

inline void Event::note_end(const Event &dependency) {
    const auto comparable = [](const Event &event) {
        return event.profiling_ && (!event.payload_ || event.payload_->shares_clock());
    };
    if (!comparable(*this) || !comparable(dependency) || dependency.result() != PI_SUCCESS)
        return;
    const uint64_t end = dependency.profiling(PI_PROFILING_END);
    std::lock_guard lock(mutex_);
    not_before_ = std::max(not_before_, end);
}

inline void Event::note_failure(const Event &root) {
    if (root.result() == PI_SUCCESS)
        return;
    std::string words = root.error_text();
    std::lock_guard lock(mutex_);
    // A vendor may fail the followers of a failed command by itself: the dependency is the better
    // cause.
    if (result_ == PI_ERROR_DEPENDENCY_FAILED)
        return;
    result_ = PI_ERROR_DEPENDENCY_FAILED;
    text_ = std::move(words);
}

inline void Event::dependency_reached(bool carries_error, bool starts, const Event &dependency,
                                      bool completed) {
    if (completed)
        note_end(dependency);
    if (completed && carries_error)
        note_failure(dependency);
    starts ? start_step() : finish_step();
}

inline void Event::launch(std::unique_ptr<Command> command, std::span<Event *const> waits,
                          std::span<Event *const> order) noexcept {
    command_ = std::move(command);
    for (Event *dependency : waits)
        depend(*dependency, true);
    for (Event *dependency : order)
        depend(*dependency, false);
    start_step();
}

// ----- the life of a command ---------------------------------------------------------------------

/// An event has one task at a time, which holds a reference.
inline void Event::post(void (Event::*step)()) {
    retain();
    step_ = step;
    task_.owner = this;
    task_.run = [](void *owner) {
        const Ref<Event> self = Ref<Event>::adopt(static_cast<Event *>(owner));
        (self.get()->*self->step_)();
    };
    Trampoline::post(task_);
}

inline void Event::start_step() {
    if (missing_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        post(&Event::begin);
}

inline void Event::finish_step() {
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1)
        post(&Event::complete);
}

inline void Event::begin() {
    bool failed;
    {
        std::lock_guard lock(mutex_);
        failed = result_ != PI_SUCCESS;
    }
    if (failed)
        return finish_step();
    if (profiling_)
        times_[1] = now();
    try {
        command_->start(*this);
    } catch (...) {
        with_current_error([this](pi_result code, const char *words) {
            found_no_memory_.store(code == PI_ERROR_OUT_OF_HOST_MEMORY, std::memory_order_relaxed);
            finish(code, words);
        });
    }
}

inline void Event::submitted() {
    Waiter *waiters;
    {
        std::lock_guard lock(mutex_);
        reached_submitted_ = true;
        waiters = submitted_waiters_.take_all();
        pi_event_status queued = PI_EVENT_QUEUED;
        status_.compare_exchange_strong(queued, PI_EVENT_SUBMITTED, std::memory_order_relaxed);
    }
    reached(waiters, false);
}

inline void Event::reached(Waiter *waiters, bool completed) const {
    while (waiters) {
        const Waiter &waiter = *waiters;
        const bool carries_error = waiter.carries_error, starts = waiter.starts;
        const Ref<Event> event = std::move(waiters->event); // `waiter` is a part of this event
        waiters = waiter.next;
        event->dependency_reached(carries_error, starts, *this, completed);
    }
}

inline void Event::finish(pi_result result, std::string_view words) {
    ended();
    if (result != PI_SUCCESS) {
        std::string text = copy_message(words);
        std::lock_guard lock(mutex_);
        if (result_ == PI_SUCCESS) {
            result_ = result;
            text_ = std::move(text);
        }
    }
    finish_step();
}

inline void Event::finish_within_call() {
    if (profiling_) {
        ended();
        times_[2] = times_[2] ? times_[2] : times_[3];
        times_[1] = times_[2];
    }
    reached_submitted_ = reached_complete_ = true;
    status_.store(PI_EVENT_COMPLETE, std::memory_order_release);
}

inline void Event::complete() {
    // Release the command's references before anyone can see that it is complete.
    command_.reset();
    Waiter *submitted_waiters, *complete_waiters;
    std::vector<std::pair<pi_event_callback, void *>> callbacks;
    pi_result result;
    {
        std::lock_guard lock(mutex_);
        reached_submitted_ = reached_complete_ = true;
        submitted_waiters = submitted_waiters_.take_all();
        complete_waiters = complete_waiters_.take_all();
        callbacks.swap(callbacks_);
        result = result_;
        status_.store(PI_EVENT_COMPLETE, std::memory_order_release);
        condition_.notify_all();
    }
    if (sequence_)
        sequence_->forget(*this);
    reached(submitted_waiters, true);
    reached(complete_waiters, true);
    for (const auto &[callback, user_data] : callbacks) {
        const CallbackScope scope(host());
        callback(handle(), result, user_data);
    }
}

// ----- the application's side --------------------------------------------------------------------

inline bool Event::wait_complete(uint64_t timeout) {
    std::unique_lock lock(mutex_);
    const auto done = [this] { return reached_complete_; };
    // Beyond about 100 years the clock's arithmetic would overflow: wait without a timeout.
    if (timeout > uint64_t{3'000'000'000} * 1'000'000'000) {
        condition_.wait(lock, done);
        return true;
    }
    return condition_.wait_for(lock, std::chrono::nanoseconds(timeout), done);
}

inline void Event::wait(uint64_t timeout) {
    if (!is_complete()) {
        if (timeout && CallbackScope::active(host()))
            fail(PI_ERROR_WOULD_BLOCK, "waiting for an event inside a callback");
        if (!wait_complete(timeout))
            fail(PI_ERROR_TIMEOUT, "the event was not complete after ", timeout, " ns");
    }
    const pi_result code = result();
    if (code != PI_SUCCESS)
        throw Error(code, error_text());
}

inline void Event::set_callback(pi_event_callback callback, void *user_data) {
    require(callback, "callback");
    {
        std::lock_guard lock(mutex_);
        if (!reached_complete_) {
            callbacks_.emplace_back(callback, user_data);
            return;
        }
    }
    struct Call {
        Trampoline::Task task;
        Ref<Event> event;
        pi_event_callback callback;
        void *user_data;
    };
    auto *const call = new Call{{}, Ref<Event>(*this), callback, user_data};
    call->task.owner = call;
    call->task.run = [](void *owner) {
        const std::unique_ptr<Call> self(static_cast<Call *>(owner));
        const CallbackScope scope(self->event->host());
        self->callback(self->event->handle(), self->event->result(), self->user_data);
    };
    Trampoline::post(call->task);
}

inline void Event::signal(pi_result result) {
    if (!is_host())
        fail(PI_ERROR_INVALID_OPERATION, "event is of a command; only host events are signalled");
    enforce<checks::check_signal>(result);
    const std::string words =
        result ? message("signalled by the application with ", result) : std::string();
    {
        std::lock_guard lock(mutex_);
        if (std::exchange(signalled_, true))
            fail(PI_ERROR_INVALID_OPERATION, "event was signalled before");
    }
    finish(result, words);
}

inline void Event::application_release() {
    if (is_host() && application_references_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
        bool abandoned;
        {
            std::lock_guard lock(mutex_);
            abandoned = !std::exchange(signalled_, true);
        }
        if (abandoned)
            finish(PI_ERROR_ABANDONED, "a host event was released before it was signalled");
    }
    release();
}

// ----- Sequence ----------------------------------------------------------------------------------

inline void Sequence::submit(Event &event, std::unique_ptr<Command> command,
                             std::span<Event *const> waits, Role role) {
    std::vector<Ref<Event>> order;
    std::vector<Event *> before;
    {
        std::lock_guard lock(mutex_);
        const Opened opened(*this);
        const bool waits_for_all = role != Role::COMMAND && waits.empty();
        if (in_order_) {
            if (last_)
                order.emplace_back(*last_);
            else if (runs_within_call())
                order.push_back(stand_in());
        } else if (waits_for_all) {
            order = open_events();
        } else if (barrier_) {
            order.emplace_back(*barrier_);
        }
        before.reserve(order.size());
        for (const Ref<Event> &one : order)
            before.push_back(one.get());
        event.expect(waits.size() + order.size());
        command->expect(waits.size() + order.size());
        // From here on nothing can fail.
        event.older_ = newest_;
        if (newest_)
            newest_->newer_ = &event;
        newest_ = &event;
        ++open_;
        last_ = &event;
        if (role == Role::BARRIER)
            barrier_ = &event;
    }
    event.launch(std::move(command), waits, before);
}

/// Under the lock, while a command runs within its call: an event that completes with it.
inline const Ref<Event> &Sequence::stand_in() {
    if (!stand_in_)
        stand_in_ = make<Event>(host_.load(std::memory_order_relaxed), AnyRef());
    return stand_in_;
}

inline void Sequence::end_within_call() noexcept {
    uint32_t state = within_call;
    if (state_.compare_exchange_strong(state, 0, std::memory_order_release,
                                       std::memory_order_relaxed))
        return;
    Ref<Event> stand_in;
    {
        std::lock_guard lock(mutex_);
        stand_in = std::move(stand_in_);
        state_.store(open_ ? has_events : 0, std::memory_order_release);
    }
    if (stand_in)
        stand_in->finish(PI_SUCCESS);
}

/// Under the lock, with Opened.
inline std::vector<Ref<Event>> Sequence::open_events() {
    std::vector<Ref<Event>> events;
    events.reserve(open_ + 1);
    if (runs_within_call())
        events.push_back(stand_in());
    for (Event *event = newest_; event; event = event->older_)
        events.emplace_back(*event);
    return events;
}

inline void Sequence::finish() {
    if (idle())
        return;
    std::vector<Ref<Event>> events;
    {
        std::lock_guard lock(mutex_);
        const Opened opened(*this);
        events = open_events();
    }
    for (const Ref<Event> &event : events) {
        if (!event->is_complete() && CallbackScope::active(event->host()))
            fail(PI_ERROR_WOULD_BLOCK, "finishing a queue inside a callback");
        event->help();
        event->wait_complete(PI_TIMEOUT_NEVER);
    }
}

inline void Sequence::forget(Event &event) {
    std::lock_guard lock(mutex_);
    (event.newer_ ? event.newer_->older_ : newest_) = event.older_;
    if (event.older_)
        event.older_->newer_ = event.newer_;
    --open_;
    if (last_ == &event)
        last_ = nullptr;
    if (barrier_ == &event)
        barrier_ = nullptr;
    settle();
}

inline std::vector<Event *> read_wait_list(const pi_host *host, uint32_t count,
                                           const pi_event *events) {
    enforce<checks::check_wait_list>(count, events);
    std::vector<Event *> list;
    list.reserve(count);
    for (uint32_t i = 0; i < count; ++i)
        list.push_back(&checked<Event>(host, events[i], {"wait_list", i}));
    return list;
}

} // namespace pi::sdk
