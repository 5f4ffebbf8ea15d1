// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stream.hpp"
#include "submission.hpp"

#include <vector>

namespace pi::cuda {

using namespace sdk;

Stream::Stream(Primary &primary, int priority) : primary_(primary) {
    // Not one that waits for the legacy default stream, into which the application's own CUDA code may put work.
    primary_.check(
        primary_.api().cuStreamCreateWithPriority(&id_, CU_STREAM_NON_BLOCKING, priority),
        "cuStreamCreateWithPriority", "on ", primary_.device().name());
}

Stream::~Stream() {
    if (!own_ || *own_)
        primary_.api().cuStreamDestroy_v2(id_); // without waiting: the driver ends what is in it
}

uint64_t Stream::add(Event &event, SharedEvent done) {
    pending_.push_back({Ref<Event>(event), std::move(done)});
    const uint64_t number = first_ + pending_.size() - 1;
    if (watched_)
        return number;
    try {
        // The queue's reference outlives what it waits for: the last event may be the last that keeps the queue.
        primary_.instance().run_waiting(
            [this, queue = Ref<Queue>(Queue::from(static_cast<pi_queue>(event.queue())))] {
                watch();
            });
    } catch (...) {
        pending_.pop_back();
        primary_.note(primary_.api().cuStreamSynchronize(id_)); // nobody else would
        throw;
    }
    watched_ = true;
    return number;
}

void Stream::watch() {
    for (;;) {
        uint64_t number;
        {
            std::lock_guard lock(mutex_);
            watched_ = !pending_.empty();
            if (!watched_)
                return;
            number = first_;
        }
        wait_for(number);
    }
}

void Stream::wait() {
    uint64_t number;
    {
        std::lock_guard lock(mutex_);
        if (pending_.empty())
            return;
        number = first_ + pending_.size() - 1;
    }
    wait_for(number);
}

void Stream::seal() {
    const Current current(primary_);
    std::lock_guard lock(mutex_);
    if (pending_.empty())
        return;
    uint64_t last = first_ + pending_.size() - 1;
    SharedEvent done;
    primary_.check(mark(last, done), "cuEventRecord");
}

/// Under mutex_, with a number that is pending: the first event at or behind it, which becomes the event's; one is recorded
/// now if there is none.
CUresult Stream::mark(uint64_t &number, SharedEvent &done) {
    for (; number - first_ < pending_.size(); ++number) {
        done = pending_[number - first_].done;
        if (done)
            return CUDA_SUCCESS;
    }
    --number;
    done = std::make_shared<PooledEvent>(primary_, false);
    pending_.back().done = done;
    return primary_.api().cuEventRecord(done->id(), id_);
}

void Stream::wait_for(uint64_t number) {
    CUresult code = CUDA_SUCCESS;
    try {
        const Current current(primary_);
        SharedEvent done;
        {
            std::lock_guard lock(mutex_);
            if (number < first_)
                return;
            code = mark(number, done);
        }
        if (code == CUDA_SUCCESS)
            code = primary_.api().cuEventSynchronize(done->id());
        if (code == CUDA_SUCCESS)
            number = last_ended(number);
    } catch (...) {
        code = CUDA_ERROR_UNKNOWN;
    }
    end_through(number, code);
}

/// Short commands end faster than a thread wakes: one that has woken ends all of them.
uint64_t Stream::last_ended(uint64_t number) {
    std::lock_guard lock(mutex_);
    if (number < first_)
        number = first_ - 1; // another thread has ended them
    for (uint64_t next = number + 1; next - first_ < pending_.size(); ++next) {
        const SharedEvent &done = pending_[next - first_].done;
        if (!done)
            continue;
        if (primary_.api().cuEventQuery(done->id()) != CUDA_SUCCESS)
            break;
        number = next;
    }
    return number;
}

void Stream::end_through(uint64_t number, CUresult code) {
    primary_.note(code);
    std::vector<Ref<Event>> ended;
    {
        std::lock_guard lock(mutex_);
        for (; first_ <= number && !pending_.empty(); ++first_) {
            ended.push_back(std::move(pending_.front().event));
            pending_.pop_front();
        }
    }
    for (const Ref<Event> &event : ended)
        StreamCommand::ended(*event, code);
}

} // namespace pi::cuda
