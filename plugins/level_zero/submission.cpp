// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "submission.hpp"

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

namespace {

ListEvent &payload_of(const Event &event) {
    return static_cast<ListEvent &>(*event.payload());
}

std::vector<ze_event_handle_t> ids_of(const std::vector<SharedEvent> &events) {
    std::vector<ze_event_handle_t> ids;
    ids.reserve(events.size());
    for (const SharedEvent &event : events)
        ids.push_back(event->id());
    return ids;
}

} // namespace

// ----- ListEvent ---------------------------------------------------------------------------------

ze_event_handle_t ListEvent::native(const Event &event) {
    std::lock_guard lock(mutex_);
    if (native_)
        return static_cast<ze_event_handle_t>(native_.get());
    if (!done_ && event.is_complete() && event.result() == PI_SUCCESS) {
        // The command had no work for the list.
        const auto done = std::make_shared<PooledEvent>(place_.context(), false);
        place_.check(place_.api().zeEventHostSignal(done->id()), "zeEventHostSignal");
        done_ = done;
    }
    return done_ ? done_->id() : nullptr;
}

void ListEvent::note_times() {
    if (!began_)
        return;
    Clock &clock = place_.device().clock();
    const auto read = [this](const PooledEvent &event) {
        ze_kernel_timestamp_result_t times{};
        place_.check(place_.api().zeEventQueryKernelTimestamp(event.id(), &times),
                     "zeEventQueryKernelTimestamp");
        return times.global;
    };
    const ze_kernel_timestamp_data_t done = read(*done_);
    times_[2] = clock.time_of(whole_ ? done.kernelStart : read(*began_).kernelEnd);
    times_[3] = std::max(clock.time_of(done.kernelEnd), times_[2]);
    // QUEUED and SUBMIT are host times, which may differ from the device's by nanoseconds.
    for (size_t i = 2; i-- > 0;)
        times_[i] = std::min(times_[i], times_[i + 1]);
}

void ListEvent::help(Event &) {
    const Where now = where();
    if (now.list)
        now.list->wait_for(now.number);
}

// ----- Submission --------------------------------------------------------------------------------

void Submission::check_barrier(ze_event_handle_t signal, uint32_t count, ze_event_handle_t *waits) {
    check(api().zeCommandListAppendBarrier(list(), signal, count, waits),
          "zeCommandListAppendBarrier");
}

void Submission::open() {
    if (std::exchange(open_, true))
        return;
    if (begin_ || !waits_.empty())
        check_barrier(begin_, static_cast<uint32_t>(waits_.size()), data());
}

void Submission::close() {
    if (std::exchange(ended_, true))
        return;
    if (begin_)
        open();
    const bool waits = !open_;
    check_barrier(end_, waits ? static_cast<uint32_t>(waits_.size()) : 0, waits ? data() : nullptr);
}

// ----- ListCommand -------------------------------------------------------------------------------

Phase phase_in_list(const Place &place, const Event &dependency) {
    return dependency.payload() && !payload_of(dependency).around() &&
                   &payload_of(dependency).place() == &place
               ? Phase::SUBMITTED
               : Phase::COMPLETE;
}

Phase ListCommand::phase(const Event &dependency, bool) const noexcept {
    const Phase phase = phase_in_list(queue_.place(), dependency);
    if (phase == Phase::SUBMITTED)
        before_.emplace_back(const_cast<Event &>(dependency));
    return phase;
}

/// Under the list's mutex: the events that the driver must wait for.
std::vector<SharedEvent> ListCommand::events_before(const List &list) const {
    std::vector<SharedEvent> events;
    if (list.in_order())
        if (SharedEvent tail = list.tail())
            events.push_back(std::move(tail));
    for (const Ref<Event> &dependency : before_) {
        ListEvent::Where where = payload_of(*dependency).where();
        if (where.list && !(list.in_order() && where.list == &list))
            events.push_back(std::move(where.done));
    }
    return events;
}

void ListCommand::put(Event &event, ListEvent &payload) {
    Place &place = queue_.place();
    place.require_alive();
    List &list = queue_.list();
    std::lock_guard lock(list.mutex());
    std::vector<SharedEvent> before = events_before(list);
    if (marker_ && before.empty() && !timed())
        return;
    list.expect();
    List::Entry entry(list);
    const auto done = std::make_shared<PooledEvent>(place.context(), timed());
    if (timed())
        payload.began_ = std::make_shared<PooledEvent>(place.context(), true);
    std::vector<ze_event_handle_t> waits = ids_of(before);
    Submission submission(place, list.id(), waits, timed() ? payload.began_->id() : nullptr,
                          done->id());
    try {
        issue(submission);
        submission.close();
    } catch (...) {
        taken_ = submission.taken();
        if (!taken_)
            throw;
        // Parts in the list still use the command's memory: the event fails behind them.
        payload.failure_ = current_error();
        submission.close();
    }
    taken_ = true;
    payload.whole_ = submission.was_whole();
    payload.command_ = this;
    std::lock_guard own(payload.mutex_);
    payload.before_ = std::move(before);
    payload.done_ = done;
    payload.where_ = {&list, entry.fill(event, done), done};
}

void ListCommand::start(Event &event) {
    const Ref<Event> keep(event);
    ListEvent &payload = payload_of(event);
    payload.times_[1] = now();
    try {
        put(event, payload);
    } catch (...) {
        payload.began_.reset();
        // A failure after the driver has accepted a part is reported by the event.
        payload.refused_.store(!taken_, std::memory_order_release);
        throw;
    }
    // If the command is in a list, a waiting thread may have finished the event and destroyed *this
    // by now. Dependents of a command that will fail must not get into a list: the failure reaches
    // them through the graph.
    if (payload.command_) {
        if (!payload.failure_)
            event.submitted();
        return;
    }
    payload.times_[2] = payload.times_[3] = payload.times_[1];
    completed();
    event.finish(PI_SUCCESS);
}

void ListCommand::ended(Event &event, ze_result_t code, const char *call) {
    ListEvent &payload = payload_of(event);
    const auto end = [&](pi_result result, std::string_view words) {
        std::vector<SharedEvent> before;
        {
            std::lock_guard lock(payload.mutex_);
            payload.where_ = {};
            before.swap(payload.before_);
        }
        payload.began_.reset();
        event.finish(result, words);
    };
    try {
        if (code != ZE_RESULT_SUCCESS)
            fail(to_result(code) == PI_ERROR_DEVICE_LOST ? PI_ERROR_DEVICE_LOST : PI_ERROR_BACKEND,
                 call, ": ", error_name(code), " on ", payload.place_.device().name());
        if (payload.failure_)
            throw *payload.failure_;
        payload.note_times();
        payload.command_->completed();
        end(PI_SUCCESS, {});
    } catch (...) {
        const Error error = current_error();
        end(error.code(), error.text());
    }
}

void ListCommand::put_on_fast_path(CommandReferences &references) {
    Place &place = queue_.place();
    List &list = queue_.list();
    if (!references.size()) // the command needs the place until it completes
        references.add(queue_.context());
    auto done = std::make_shared<PooledEvent>(place.context(), false);
    std::lock_guard lock(list.mutex());
    list.expect(references.size());
    SharedEvent before = list.tail();
    List::Entry entry(list);
    ze_event_handle_t wait = before ? before->id() : nullptr;
    Submission submission(place, list.id(), {&wait, before ? 1U : 0U}, nullptr, done->id());
    try {
        issue(submission);
        submission.close();
    } catch (...) {
        if (!submission.taken())
            throw;
        submission.close();
        entry.keep(references, std::move(before), std::move(done));
        throw;
    }
    entry.keep(references, std::move(before), std::move(done));
}

void ListCommand::run(ListEvent *payload) {
    Place &place = queue_.place();
    List &list = queue_.list();
    const bool with_time = payload && timed();
    const auto done = std::make_shared<PooledEvent>(place.context(), with_time);
    const auto began = with_time ? std::make_shared<PooledEvent>(place.context(), true) : nullptr;
    std::vector<SharedEvent> before;
    std::optional<Error> failure;
    bool ordered = !marker_ || with_time, whole = false;
    uint64_t through = 0;
    {
        std::lock_guard lock(list.mutex());
        before = events_before(list);
        ordered = ordered || !before.empty();
        through = list.newest();
        std::vector<ze_event_handle_t> waits = ids_of(before);
        if (payload)
            payload->times_[1] = now();
        Submission submission(place, list.id(), waits, began ? began->id() : nullptr, done->id());
        try {
            issue(submission);
        } catch (...) {
            if (!submission.taken())
                throw;
            failure = current_error();
        }
        if (ordered)
            submission.close();
        whole = submission.was_whole();
    }
    if (ordered)
        place.check(place.api().zeEventHostSynchronize(done->id(), UINT64_MAX),
                    "zeEventHostSynchronize", "on ", queue_.device().name());
    if (list.in_order())
        list.end_through(through);
    if (failure)
        throw *failure;
    if (payload && ordered) {
        payload->done_ = done;
        payload->whole_ = whole;
        payload->began_ = began;
        payload->note_times();
        payload->began_.reset();
    } else if (payload) {
        payload->times_[2] = payload->times_[3] = payload->times_[1];
    }
    completed();
}

// ----- enqueueing --------------------------------------------------------------------------------

void enqueue_within_call(Queue &queue, const EnqueueArguments &arguments, ListCommand &command) {
    run_within_call(queue, arguments, [&](Event *event) {
        auto payload = event ? std::make_unique<ListEvent>(queue.place()) : nullptr;
        command.run(payload.get());
        if (event)
            event->set_payload(std::move(payload));
    });
}

void enqueue_in_graph(Queue &queue, const EnqueueArguments &arguments,
                      std::unique_ptr<ListCommand> command) {
    enqueue(queue, arguments, std::move(command), std::make_unique<ListEvent>(queue.place()));
}

} // namespace pi::level_zero
