// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "submission.hpp"

#include <algorithm>
#include <string_view>

namespace pi::cuda {

using namespace sdk;

namespace {

StreamEvent &payload_of(const Event &event) {
    return static_cast<StreamEvent &>(*event.payload());
}

} // namespace

void StreamEvent::note_times() {
    if (!base_)
        return;
    const Current current(primary_);
    Clock &clock = primary_.clock();
    times_[2] = clock.time_of(*base_, *began_);
    times_[3] = clock.time_of(*base_, *place_.done);
    // QUEUED and SUBMIT are host times, which may differ from the device's by nanoseconds.
    for (size_t i = 2; i-- > 0;)
        times_[i] = std::min(times_[i], times_[i + 1]);
}

CUevent StreamEvent::native(const Event &event) {
    const auto shared = [](const SharedEvent &pooled) {
        return std::shared_ptr<CUevent_st>(pooled, pooled->id());
    };
    std::lock_guard lock(mutex_);
    if (native_)
        return native_.get();
    if (place_.done)
        native_ = shared(place_.done);
    else if (succeeded_ || (event.is_complete() && event.result() == PI_SUCCESS)) {
        // An event that was never recorded counts as complete, and so do all in the pool.
        const Current current(primary_);
        native_ = shared(std::make_shared<PooledEvent>(primary_, false));
    }
    return native_.get();
}

void StreamEvent::help(Event &) {
    const Place now = place();
    if (now.stream)
        now.stream->wait_for(now.number);
}

// ----- StreamCommand -----------------------------------------------------------------------------

Phase phase_in_stream(const Primary &primary, const Event &dependency) {
    return dependency.payload() && !payload_of(dependency).around() &&
                   &payload_of(dependency).primary() == &primary
               ? Phase::SUBMITTED
               : Phase::COMPLETE;
}

Phase StreamCommand::phase(const Event &dependency, bool) const noexcept {
    const Phase phase = phase_in_stream(queue_.primary(), dependency);
    if (phase == Phase::SUBMITTED)
        before_.emplace_back(const_cast<Event &>(dependency));
    return phase;
}

/// Makes the stream wait for dependencies in other streams. False if all dependencies have
/// completed.
bool StreamCommand::wait_in_stream(Stream &stream) {
    bool waits = false;
    for (const Ref<Event> &dependency : before_) {
        const StreamEvent::Place place = payload_of(*dependency).place();
        if (!place.stream)
            continue; // completed
        waits = true;
        if (place.stream != &stream) // a command in another stream always has an event
            queue_.primary().check(queue_.api().cuStreamWaitEvent(stream.id(), place.done->id(), 0),
                                   "cuStreamWaitEvent");
    }
    return waits;
}

void StreamCommand::record(Stream &stream, const PooledEvent &event) {
    queue_.primary().check(queue_.api().cuEventRecord(event.id(), stream.id()), "cuEventRecord");
}

/// Called before anything is in the stream: later failures could not be undone.
SharedEvent StreamCommand::make_done(StreamEvent *timed) const {
    Primary &primary = queue_.primary();
    if (timed) {
        timed->base_ = primary.clock().base();
        timed->began_ = std::make_shared<PooledEvent>(primary, true);
    }
    return std::make_shared<PooledEvent>(primary, timed != nullptr);
}

void StreamCommand::put(Event &event, StreamEvent &payload) {
    const Stream *wish = nullptr;
    for (const Ref<Event> &dependency : before_)
        if (const StreamEvent::Place place = payload_of(*dependency).place(); place.stream)
            wish = place.stream;
    Primary &primary = queue_.primary();
    primary.require_alive();
    const Current current(primary);
    Stream &stream = queue_.choose(wish);
    std::lock_guard lock(stream.mutex());
    const bool waits = wait_in_stream(stream);
    if (marker_ && !waits && !timed() && !queue_.shared() && !stream.keeps())
        return;
    stream.expect();
    Stream::Entry entry(stream);
    const bool unnamed = payload.unnamed_ && !timed() && queue_.stream() && !queue_.shared();
    const SharedEvent done = unnamed ? nullptr : make_done(timed() ? &payload : nullptr);
    if (payload.began_)
        record(stream, *payload.began_);
    Submission submission(primary, stream.id());
    try {
        issue(submission);
    } catch (...) {
        if (!submission.taken())
            throw;
        // Parts in the stream still use the command's memory: the event fails behind them.
        payload.failure_ = current_error();
    }
    taken_ = submission.taken();
    if (done)
        record(stream, *done);
    payload.command_ = this;
    std::lock_guard own(payload.mutex_);
    payload.place_ = {&stream, entry.fill(event, done), done};
}

void StreamCommand::start(Event &event) {
    const Ref<Event> keep(event);
    StreamEvent &payload = payload_of(event);
    payload.times_[1] = now();
    try {
        put(event, payload);
    } catch (...) {
        payload.base_.reset();
        // A failure after the driver has accepted a part is reported by the event: the command may
        // already have destroyed its context.
        payload.refused_.store(!taken_, std::memory_order_release);
        throw;
    }
    // If the command is in a stream, a waiting thread may have finished the event and destroyed
    // *this by now. Dependents of a command that will fail must not get into a stream: the failure
    // reaches them through the graph.
    if (payload.command_) {
        if (!payload.failure_)
            event.submitted();
        return;
    }
    payload.times_[2] = payload.times_[3] = payload.times_[1];
    completed();
    event.finish(PI_SUCCESS);
}

void StreamCommand::ended(Event &event, CUresult code, const char *call) {
    StreamEvent &payload = payload_of(event);
    const auto end = [&](pi_result result, std::string_view words) {
        {
            std::lock_guard lock(payload.mutex_);
            payload.place_ = {};
            payload.succeeded_ = result == PI_SUCCESS;
        }
        payload.began_.reset();
        payload.base_.reset();
        event.finish(result, words);
    };
    try {
        if (code != CUDA_SUCCESS)
            fail(to_result(code) == PI_ERROR_DEVICE_LOST ? PI_ERROR_DEVICE_LOST : PI_ERROR_BACKEND,
                 call, ": ", error_name(payload.primary_.api(), code), " on ",
                 payload.primary_.device().name());
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

void StreamCommand::put_on_fast_path(CommandReferences &references) {
    Primary &primary = queue_.primary();
    const Current current(primary);
    Stream &stream = queue_.front();
    if (!references.size()) // the command needs the primary context until it completes
        references.add(queue_.context());
    std::lock_guard lock(stream.mutex());
    stream.expect(references.size());
    Submission submission(primary, stream.id());
    try {
        issue(submission);
    } catch (...) {
        if (submission.taken())
            stream.keep(references);
        throw;
    }
    if (submission.taken())
        stream.keep(references);
}

void StreamCommand::run(StreamEvent *payload) {
    Primary &primary = queue_.primary();
    const Current current(primary);
    Stream &stream = queue_.choose(nullptr);
    Submission submission(primary, stream.id());
    const bool with_time = payload && timed();
    bool behind; // the stream has work that the graph does not track
    {
        std::lock_guard lock(stream.mutex());
        behind = queue_.shared() || stream.keeps();
        if (with_time) {
            payload->times_[1] = now();
            payload->place_.done = make_done(payload);
            record(stream, *payload->began_);
        }
        try {
            issue(submission);
        } catch (...) {
            if (submission.taken())
                primary.note(queue_.api().cuStreamSynchronize(stream.id()));
            throw;
        }
        if (with_time)
            record(stream, *payload->place_.done);
    }
    if (submission.taken() || with_time || behind)
        primary.check(stream.synchronize(), "cuStreamSynchronize", "on ", queue_.device().name());
    if (payload) {
        payload->note_times();
        payload->place_ = {};
        payload->began_.reset();
        payload->base_.reset();
    }
    completed();
}

// ----- enqueueing --------------------------------------------------------------------------------

void enqueue_within_call(Queue &queue, const EnqueueArguments &arguments, StreamCommand &command) {
    run_within_call(queue, arguments, [&](Event *event) {
        auto payload = event ? std::make_unique<StreamEvent>(queue.primary()) : nullptr;
        command.run(payload.get());
        if (event)
            event->set_payload(std::move(payload));
    });
}

void enqueue_in_graph(Queue &queue, const EnqueueArguments &arguments,
                      std::unique_ptr<StreamCommand> command) {
    auto payload = std::make_unique<StreamEvent>(queue.primary());
    if (!arguments.out_event && !(arguments.flags & PI_COMMAND_BLOCKING))
        payload->set_unnamed();
    enqueue(queue, arguments, std::move(command), std::move(payload));
}

} // namespace pi::cuda
