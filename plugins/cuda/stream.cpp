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
        SharedEvent done;
        uint64_t number;
        {
            std::lock_guard lock(mutex_);
            watched_ = !pending_.empty();
            if (!watched_)
                return;
            done = pending_.front().done;
            number = first_;
        }
        wait_for(number, *done);
    }
}

void Stream::wait_for(uint64_t number, const PooledEvent &done) {
    CUresult code = CUDA_SUCCESS;
    try {
        const Current current(primary_);
        code = primary_.api().cuEventSynchronize(done.id());
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
    while (number + 1 - first_ < pending_.size() &&
           primary_.api().cuEventQuery(pending_[number + 1 - first_].done->id()) == CUDA_SUCCESS)
        ++number;
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
