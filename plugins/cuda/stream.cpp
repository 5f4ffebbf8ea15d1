// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream.hpp"
#include "submission.hpp"

#include <new>

namespace pi::cuda {

using namespace sdk;

Stream::Stream(Primary &primary, int priority) : primary_(primary.shared_from_this()) {
    // Non-blocking: it must not wait for the legacy default stream, which the application's own
    // CUDA code may use.
    primary.check(primary.api().cuStreamCreateWithPriority(&id_, CU_STREAM_NON_BLOCKING, priority),
                  "cuStreamCreateWithPriority", "on ", primary.device().name());
}

void Stream::destroy() noexcept {
    if (!primary_)
        return;
    if (!own_ || *own_)
        primary_->api().cuStreamDestroy_v2(id_); // does not wait: the driver completes pending work
    primary_.reset();
}

void Stream::close() noexcept {
    std::lock_guard lock(mutex_);
    closed_ = true;
    if (idle() && (!watched_ || dozing_))
        destroy(); // else watch() does it
    condition_.notify_one();
}

// ----- commands in the stream --------------------------------------------------------------------

void Stream::expect(size_t references) {
    deferred_.reserve(references);
    if (mark_due_ && keeps())
        record(); // if the context is lost, the command will report it
    mark_due_ = false;
    if (watched_)
        return;
    Instance &instance = primary_->instance();
    if (!instance.run_waiting([self = shared_from_this()] { self->watch(); }))
        instance.watcher().add([self = shared_from_this()] { return self->look(); });
    watched_ = true;
}

uint64_t Stream::Entry::fill(Event &event, SharedEvent done) noexcept {
    stream_.pending_.back() = {++stream_.last_, Ref<Event>(event), std::move(done)};
    if (stream_.dozing_)
        stream_.condition_.notify_one();
    return stream_.last_;
}

void Stream::keep(CommandReferences &references) noexcept {
    if (!deferred_.defer(++last_, references))
        return;
    sweep_due_ = true;
    if (dozing_)
        condition_.notify_one();
}

/// Under mutex_: records a new event behind all work in the stream.
CUresult Stream::record() {
    Mark end{last_, std::make_shared<PooledEvent>(*primary_, false)};
    const CUresult code = primary_->api().cuEventRecord(end.done->id(), id_);
    if (code == CUDA_SUCCESS)
        marked_ = std::move(end);
    return code;
}

/// Under mutex_: the first event at or behind the number; records one if there is none.
CUresult Stream::mark(uint64_t number, Mark &out) {
    for (const Pending &pending : pending_)
        if (pending.number >= number && pending.done) {
            out = {pending.number, pending.done};
            break;
        }
    if (marked_.number >= number && (!out.done || marked_.number < out.number))
        out = marked_;
    if (out.done)
        return CUDA_SUCCESS;
    const CUresult code = record();
    out = code == CUDA_SUCCESS ? marked_ : Mark{last_};
    return code;
}

void Stream::seal() {
    const Current current(*primary_);
    std::lock_guard lock(mutex_);
    sealed_ = true;
    if (!idle())
        primary_->check(record(), "cuEventRecord");
}

// ----- completion --------------------------------------------------------------------------------

void Stream::watch() {
    std::unique_lock lock(mutex_);
    while (!idle()) {
        dozing_ = pending_.empty() && !closed_;
        if (dozing_)
            condition_.wait_for(lock, release_poll_interval,
                                [this] { return !pending_.empty() || closed_ || sweep_due_; });
        dozing_ = sweep_due_ = false;
        if (idle())
            break;
        const std::shared_ptr<Primary> keep = primary_; // the queue may be destroyed meanwhile
        const uint64_t number = !pending_.empty() ? pending_.front().number : closed_ ? last_ : 0;
        lock.unlock();
        if (number)
            wait_for(number);
        else
            sweep();
        lock.lock();
    }
    watched_ = false;
    if (closed_)
        destroy();
}

bool Stream::look() {
    std::unique_lock lock(mutex_);
    if (!idle()) {
        const std::shared_ptr<Primary> keep = primary_; // the queue may be destroyed meanwhile
        const uint64_t number = !pending_.empty() ? pending_.front().number : closed_ ? last_ : 0;
        lock.unlock();
        if (number)
            end_if_over(number);
        else
            sweep();
        lock.lock();
    }
    if (!idle())
        return false;
    watched_ = false;
    if (closed_)
        destroy();
    return true;
}

void Stream::wait() {
    bool sealed;
    uint64_t number;
    {
        std::lock_guard lock(mutex_);
        if (idle())
            return;
        sealed = sealed_;
        number = last_;
    }
    if (sealed)
        wait_for(number);
    else
        synchronize();
}

CUresult Stream::synchronize() {
    CUresult code = CUDA_ERROR_UNKNOWN;
    uint64_t number;
    bool any;
    {
        std::lock_guard lock(mutex_);
        number = last_;
        any = !idle();
    }
    try {
        const Current current(*primary_);
        code = primary_->api().cuStreamSynchronize(id_);
    } catch (...) {
    }
    primary_->note(code);
    if (any)
        end_through(number, code, "cuStreamSynchronize");
    return code;
}

void Stream::wait_for(uint64_t number) {
    end_by(number, &Api::cuEventSynchronize, "cuEventSynchronize");
}

void Stream::end_if_over(uint64_t number) {
    end_by(number, &Api::cuEventQuery, "cuEventQuery");
}

/// Ends the commands up to this number, unless the given call on the event behind them returns that
/// it has not completed.
template <class Call>
void Stream::end_by(uint64_t number, Call pi_cuda_functions::*call, const char *name) {
    CUresult code = CUDA_SUCCESS;
    try {
        const Current current(*primary_);
        Mark at;
        {
            std::lock_guard lock(mutex_);
            if (number <= ended_)
                return;
            code = mark(number, at);
        }
        number = at.number;
        if (code == CUDA_SUCCESS)
            code = (primary_->api().*call)(at.done->id());
        if (code == CUDA_ERROR_NOT_READY)
            return;
        if (code == CUDA_SUCCESS)
            number = last_ended(number);
    } catch (const std::bad_alloc &) { // no memory for an event: wait for the whole stream
        code = primary_->api().cuStreamSynchronize(id_);
    } catch (...) {
        code = CUDA_ERROR_UNKNOWN;
    }
    primary_->note(code);
    end_through(number, code, name);
}

std::function<bool()> Stream::mark_end() {
    const Current current(*primary_);
    std::lock_guard lock(mutex_);
    Mark end{last_, std::make_shared<PooledEvent>(*primary_, false)};
    primary_->check(primary_->api().cuEventRecord(end.done->id(), id_), "cuEventRecord");
    return [self = shared_from_this(), primary = primary_, end] {
        CUresult code = CUDA_ERROR_UNKNOWN;
        try {
            const Current inside(*primary);
            code = primary->api().cuEventQuery(end.done->id());
        } catch (...) {
        }
        if (code == CUDA_ERROR_NOT_READY)
            return false;
        primary->note(code);
        self->end_through(end.number, code, "cuEventQuery");
        return true;
    };
}

void Stream::sweep() {
    uint64_t number = 0;
    CUresult code = CUDA_SUCCESS;
    std::shared_ptr<Primary> primary;
    try {
        {
            std::lock_guard lock(mutex_);
            if (!keeps())
                return;
            // another thread may end the commands, and destroy the stream with them
            primary = primary_;
        }
        const Current current(*primary);
        std::lock_guard lock(mutex_);
        if (!keeps())
            return;
        const Api &cu = primary->api();
        number = last_;
        // The application may be capturing the stream, which forbids queries; a mark lies before
        // its work.
        code = sealed_ ? CUDA_ERROR_NOT_READY : cu.cuStreamQuery(id_);
        if (code == CUDA_ERROR_NOT_READY) {
            // The stream may never be empty: query the last mark. Do not record one here: behind
            // commands that have completed it would make the stream look busy to the next query.
            if (!marked_.done) {
                mark_due_ = true;
                return;
            }
            number = marked_.number;
            code = cu.cuEventQuery(marked_.done->id());
        }
    } catch (...) {
        return; // if the context is lost, the next command will report it
    }
    if (code == CUDA_ERROR_NOT_READY)
        return;
    primary->note(code);
    end_through(number, code, "cuStreamQuery");
}

/// Short commands complete faster than a thread wakes: end all that have completed.
uint64_t Stream::last_ended(uint64_t number) {
    std::lock_guard lock(mutex_);
    for (const Pending &pending : pending_) {
        if (pending.number <= number || !pending.done)
            continue;
        if (primary_->api().cuEventQuery(pending.done->id()) != CUDA_SUCCESS)
            break;
        number = pending.number;
    }
    return number;
}

void Stream::end_through(uint64_t number, CUresult code, const char *call) {
    std::unique_lock lock(mutex_);
    deferred_.release(number, lock); // first: observers of the event may rely on the release
    ended_ = std::max(ended_, number);
    if (marked_.number <= ended_)
        marked_.done.reset();
    while (!pending_.empty() && pending_.front().number <= number) {
        Ref<Event> event = std::move(pending_.front().event);
        pending_.pop_front();
        lock.unlock();
        StreamCommand::ended(*event, code, call);
        event = nullptr; // destroy it without the lock
        lock.lock();
    }
}

} // namespace pi::cuda
