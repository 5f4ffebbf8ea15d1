// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "submission.hpp"
#include "native.hpp"

#include <algorithm>
#include <memory>
#include <span>

namespace pi::opencl {

using namespace sdk;

namespace {

VendorEvent &payload_of(const Event &event) {
    return static_cast<VendorEvent &>(*event.payload());
}

std::string failure(const Queue &queue, cl_int status) {
    return message("the driver of ", queue.device().name(),
                   " failed the command: ", error_name(status), " (", status, ")");
}

/// The time of an event without vendor work, by the clock that times the queue's other commands.
uint64_t time_now(Queue &queue) {
    if (queue.profiling() && queue.device().clock() != Clock::NONE) {
        try {
            return read_clock(queue.device());
        } catch (const Error &) {
            // Ignored: the command does not fail for it.
        }
    }
    return now();
}

void wait_for(const Api &api, const EventOwner &event) {
    const cl_event id = event.get();
    api.clWaitForEvents(1, &id); // the result does not matter
}

} // namespace

EventOwner VendorEvent::get(const Api &api) const {
    std::lock_guard lock(mutex_);
    if (!event_ || api.clRetainEvent(event_.get()) != CL_SUCCESS)
        return {};
    return {api, event_.get()};
}

void VendorEvent::note_times(const Api &api, cl_event event) {
    constexpr cl_profiling_info names[] = {CL_PROFILING_COMMAND_QUEUED, CL_PROFILING_COMMAND_SUBMIT,
                                           CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END};
    uint64_t before = 0;
    for (size_t i = 0; i < times_.size(); ++i) {
        cl_ulong time = 0;
        if (api.clGetEventProfilingInfo(event, names[i], sizeof time, &time, nullptr))
            time = 0;
        times_[i] = before = std::max<uint64_t>(before, time);
    }
    // Some drivers record only the later times of markers.
    for (size_t i = times_.size() - 1; i > 0; --i)
        if (!times_[i - 1])
            times_[i - 1] = times_[i];
}

cl_event VendorEvent::give_out(const Event &event, const Api &api, cl_context context) {
    std::lock_guard lock(mutex_);
    if (!event_) {
        cl_int end = end_;
        if (end > CL_COMPLETE && event.is_complete())
            end = event.result() ? CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST : CL_COMPLETE;
        if (end > CL_COMPLETE)
            fail(PI_ERROR_INVALID_OPERATION, "event has no cl_event yet: the plugin holds its "
                                             "command until its dependencies are complete");
        cl_int code = CL_SUCCESS;
        EventOwner ended(api, api.clCreateUserEvent(context, &code));
        check(code, "clCreateUserEvent");
        check(api.clSetUserEventStatus(ended.get(), end), "clSetUserEventStatus");
        event_ = std::move(ended);
    }
    given_out_ = true;
    return event_.get();
}

void VendorEvent::finish_native(Event &event, const Api &api) {
    VendorEvent &payload = payload_of(event);
    const cl_event id = payload.event_.get(); // constant for such an event
    cl_int status = api.clWaitForEvents(1, &id);
    // The wait reports that it failed; the event's status says why.
    if (const cl_int cause = status_of(api, id); cause < 0)
        status = cause;
    if (status < CL_COMPLETE)
        return event.finish(to_result(status), message("the cl_event ", id, " failed: ",
                                                       error_name(status), " (", status, ")"));
    payload.note_times(api, id);
    event.finish(PI_SUCCESS);
}

void VendorEvent::help(Event &event) {
    const Api &api = Queue::from(static_cast<pi_queue>(event.queue())).api();
    const EventOwner vendor = get(api);
    if (!vendor)
        return;
    const cl_event id = vendor.get();
    api.clWaitForEvents(1, &id);
    // After a failure drivers wake a waiting thread, but call no callback.
    if (const cl_int status = status_of(api, id); status <= CL_COMPLETE)
        VendorCommand::finished(event, status);
}

// ----- Submission --------------------------------------------------------------------------------

Submission::Submission(Queue &queue, cl_command_queue on, std::vector<EventOwner> waits)
    : queue_(queue), on_(on), waits_(std::move(waits)) {
    for (const EventOwner &wait : waits_)
        wait_ids_.push_back(wait.get());
}

EventOwner Submission::join() {
    std::vector<cl_event> all{newest_.get()};
    for (const EventOwner &event : older_)
        all.push_back(event.get());
    cl_event marker = nullptr;
    check(queue_.api().clEnqueueMarkerWithWaitList(on_, static_cast<cl_uint>(all.size()),
                                                   all.data(), &marker),
          "clEnqueueMarkerWithWaitList", "on ", queue_.device().name());
    return {queue_.api(), marker};
}

void Submission::order() {
    if (empty() || in_order())
        return;
    gather();
    wait_ids_ = {newest_.get()};
}

void Submission::gather() {
    if (older_.empty())
        return;
    newest_ = join();
    older_.clear();
}

void Submission::drain() {
    const Api &api = queue_.api();
    gather();
    api.clFlush(on_);
    if (drained_)
        wait_for(api, drained_);
    drained_ = EventOwner::retained(api, newest_.get());
    count_ = 0;
}

void Submission::wait() const noexcept {
    for (const EventOwner &event : older_)
        wait_for(queue_.api(), event);
    if (newest_)
        wait_for(queue_.api(), newest_);
}

// ----- VendorCommand -----------------------------------------------------------------------------

Phase VendorCommand::phase(const Event &dependency, bool carries_error) const noexcept {
    if (on_ != queue_.id() || !dependency.payload() || !dependency.queue() ||
        dependency.context() != queue_.context().handle())
        return Phase::COMPLETE;
    const Queue &other = Queue::from(static_cast<pi_queue>(dependency.queue()));
    if (queue_.device().quirk(QUIRK_HOLD_DEPENDENTS) || other.device().quirk(QUIRK_HOLD_DEPENDENTS))
        return Phase::COMPLETE;
    before_.push_back({Ref<Event>(const_cast<Event &>(dependency)), carries_error});
    return Phase::SUBMITTED;
}

Submission VendorCommand::begin() {
    const Api &api = queue_.api();
    std::vector<EventOwner> waits;
    bool ordered = false;
    for (const auto &[dependency, carries_error] : before_) {
        EventOwner event = payload_of(*dependency).get(api);
        // No vendor event: the dependency is complete.
        const cl_int status = event ? status_of(api, event.get())
                                    : std::min(payload_of(*dependency).end(), CL_COMPLETE);
        // Some drivers never finish a command that waits for a failed event.
        if (status < 0 && carries_error)
            fail(PI_ERROR_DEPENDENCY_FAILED, "a dependency failed: ", error_name(status), " (",
                 status, ")");
        if (status <= CL_COMPLETE)
            continue;
        if (payload_of(*dependency).queue_ == on_ && queue_.vendor_in_order())
            ordered = true;
        else
            waits.push_back(std::move(event));
    }
    Submission submission(queue_, on_, std::move(waits));
    submission.set_ordered(ordered);
    return submission;
}

void VendorCommand::start(Event &event) {
    VendorEvent &payload = payload_of(event);
    std::unique_lock<std::mutex> lock = device_.submission_lock();
    EventOwner vendor;
    Submission submission = begin(); // a failed dependency fails the event, not the call
    Instance::NoticePointer notice;
    try {
        notice = queue_.context().instance().make_notice(
            [keep = Ref<Event>(event)](cl_int how) { finished(*keep, how); });
        issue(submission);
        vendor = submission.seal();
    } catch (...) {
        if (submission.empty()) {
            payload.refused_.store(true, std::memory_order_release);
            throw;
        }
        const Error error = current_error();
        queue_.api().clFlush(on_);
        return fail_after(event, std::move(submission), error);
    }
    if (vendor) {
        queue_.api().clFlush(on_);
        if (lock)
            lock.unlock();
        return submit(event, std::move(vendor), std::move(notice));
    }
    // The vendor has nothing to do.
    payload.times_.fill(event.queue() && queue_.profiling() ? time_now(queue_) : 0);
    {
        std::lock_guard own(payload.mutex_);
        payload.end_ = CL_COMPLETE;
    }
    payload.claimed_ = true;
    if (lock)
        lock.unlock();
    completed();
    event.finish(PI_SUCCESS);
}

void VendorCommand::submit(Event &event, EventOwner vendor,
                           Instance::NoticePointer notice) noexcept {
    const Api &api = queue_.api();
    Instance &instance = queue_.context().instance();
    VendorEvent &payload = payload_of(event);
    const cl_event id = vendor.get();
    {
        std::lock_guard lock(payload.mutex_);
        payload.command_ = this;
        payload.event_ = std::move(vendor);
        payload.queue_ = on_;
    }
    // From here on a waiting thread may finish the event and destroy this command.
    const Ref<Event> keep(event);
    const EventOwner reference = payload.get(api);
    event.submitted();
    if (!reference)
        return;
    // Synchronous devices have finished: save two thread switches.
    const cl_int status = status_of(api, id);
    if (status <= CL_COMPLETE)
        return finished(event, status);
    queue_.shared() ? instance.watch(api, id, std::move(notice))
                    : instance.when_final(api, id, std::move(notice));
}

void VendorCommand::finished(Event &event, cl_int status) {
    VendorEvent &payload = payload_of(event);
    if (payload.claimed_.exchange(true, std::memory_order_acq_rel))
        return;
    VendorCommand &command = *payload.command_;
    const Api &api = command.queue_.api();
    {
        std::lock_guard lock(payload.mutex_);
        const cl_event id = payload.event_.get();
        // Some drivers report success to a callback that was registered after a failure.
        if (status == CL_COMPLETE)
            status = std::min(status, status_of(api, id));
        if (status == CL_COMPLETE && command.timed())
            payload.note_times(api, id);
        payload.end_ = status;
        // The vendor's event may keep memory alive that the application considers released.
        if (!payload.given_out_)
            payload.event_ = {};
    }
    if (status < CL_COMPLETE)
        return event.finish(to_result(status), failure(command.queue_, status));
    try {
        command.completed();
    } catch (...) {
        const Error error = current_error();
        return event.finish(error.code(), error.text());
    }
    event.finish(PI_SUCCESS);
}

void VendorCommand::fail_after(Event &event, Submission submission, Error error) noexcept {
    // Parts that were enqueued before the failure still use the command's memory: the event ends
    // after them.
    struct Rest {
        Ref<Event> event;
        Submission submission;
        Error error;
        void end() const {
            submission.wait();
            event->finish(error.code(), error.text());
        }
    };
    std::shared_ptr<Rest> rest;
    Workers &threads = queue_.context().instance().busy();
    try {
        rest = std::make_shared<Rest>(
            Rest{Ref<Event>(event), std::move(submission), std::move(error)});
        return threads.post([rest] { rest->end(); });
    } catch (...) {
    }
    if (rest) // no memory for the task: do it here
        return rest->end();
    submission.wait();
    event.finish(error.code(), error.text());
}

void VendorCommand::run(VendorEvent *payload) {
    const Api &api = queue_.api();
    Submission submission(queue_, on_);
    // Intel's blocking calls return early, with a complete event, in out-of-order queues when other
    // threads block as well, and where another device of the context used the memory before.
    submission.blocks_ = submission.in_order() && queue_.context().devices().size() == 1 &&
                         !device_.quirk(QUIRK_RUNS_IN_CALLS | QUIRK_NO_BLOCKING_CALLS);
    submission.timed_ = payload;
    EventOwner vendor;
    // Held while waiting, too: a driver that runs commands inside its calls may run this one inside
    // the wait.
    std::unique_lock<std::mutex> lock = device_.submission_lock();
    try {
        issue(submission);
        vendor = submission.seal();
    } catch (...) {
        // Parts that were enqueued before the failure still use the command's memory.
        if (!submission.empty())
            submission.wait();
        throw;
    }
    if (vendor) {
        const cl_event id = vendor.get();
        // A status alone is not a synchronisation point (see clGetEventInfo): wait.
        cl_int status = submission.blocked_ || device_.quirk(QUIRK_RUNS_IN_CALLS)
                            ? status_of(api, id)
                            : CL_QUEUED;
        if (status > CL_COMPLETE) {
            status = api.clWaitForEvents(1, &id); // CL_SUCCESS is CL_COMPLETE
            if (const cl_int cause = status ? status_of(api, id) : 0; cause < 0)
                status = cause;
        }
        if (status < CL_COMPLETE)
            throw Error(to_result(status), failure(queue_, status));
        if (payload)
            payload->note_times(api, id);
    } else if (payload) {
        payload->times_.fill(time_now(queue_));
    }
    if (lock)
        lock.unlock();
    completed();
}

// ----- enqueueing --------------------------------------------------------------------------------

namespace {

/// An event behind the work that the application itself has enqueued in the vendor's queue, for a
/// command that does not go there. Empty if there is no such work, or the queue does not order it.
Ref<Event> after_shared_work(Queue &queue) {
    if (!queue.shared() || !queue.vendor_in_order())
        return {};
    cl_event marker = nullptr;
    {
        const auto lock = queue.device().submission_lock();
        check(queue.api().clEnqueueMarkerWithWaitList(queue.id(), 0, nullptr, &marker),
              "clEnqueueMarkerWithWaitList", "on ", queue.device().name());
        queue.api().clFlush(queue.id());
    }
    const EventOwner owner(queue.api(), marker);
    return event_around(queue.context(), marker);
}

/// `elsewhere`: the command does not go into the vendor's queue of `queue`.
Ref<Event> submit(Queue &queue, const EnqueueArguments &arguments, std::unique_ptr<Command> command,
                  std::unique_ptr<VendorEvent> payload, bool elsewhere) {
    if (arguments.flags & PI_COMMAND_BLOCKING && CallbackScope::active(queue.host()))
        fail(PI_ERROR_WOULD_BLOCK, "a blocking command inside a callback");
    std::vector<Event *> waits =
        read_wait_list(queue.host(), arguments.wait_count, arguments.wait_list);
    const Ref<Event> before = elsewhere ? after_shared_work(queue) : Ref<Event>();
    if (before)
        waits.push_back(before.get());
    Ref<Event> event = queue.make_event(arguments.type);
    event->set_payload(std::move(payload));
    queue.sequence().submit(*event, std::move(command), waits, arguments.role);
    throw_refusal(*event);
    return event;
}

void conclude(const EnqueueArguments &arguments, Ref<Event> event) {
    if (arguments.flags & PI_COMMAND_BLOCKING)
        wait_with_help(*event);
    if (arguments.out_event)
        *arguments.out_event = event.give();
}

} // namespace

void enqueue_within_call(Queue &queue, const EnqueueArguments &arguments, VendorCommand &command) {
    sdk::run_within_call(queue, arguments, [&](Event *event) {
        auto payload = event ? std::make_unique<VendorEvent>() : nullptr;
        command.run(command.timed() ? payload.get() : nullptr);
        if (event)
            event->set_payload(std::move(payload));
    });
}

void enqueue_in_graph(Queue &queue, const EnqueueArguments &arguments,
                      std::unique_ptr<VendorCommand> command) {
    command->prepare();
    auto payload = std::make_unique<VendorEvent>();
    const bool elsewhere = command->on() != queue.id();
    conclude(arguments,
             submit(queue, arguments, std::move(command), std::move(payload), elsewhere));
}

void enqueue_own(Queue &queue, const EnqueueArguments &arguments,
                 std::unique_ptr<Command> command) {
    conclude(arguments, submit(queue, arguments, std::move(command), nullptr, true));
}

} // namespace pi::opencl
