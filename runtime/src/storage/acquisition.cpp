// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events that the commands of an acquisition wait for, of their place's plugin instance. An
// event that fails also fails its waiters. So events are right for operations that make the bytes,
// but not for those that must only be over: these use a host event, which costs a callback, or a
// queue's order, which carries no error.
#include "storage/acquisition.hpp"

#include "storage/event_queue.hpp"
#include "storage/storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <utility>

namespace pi::runtime {

AcquisitionState::~AcquisitionState() {
    if (storage != nullptr) {
        storage->abandon(*this);
    }
}

void AcquisitionState::bridge() {
    const uint32_t instance = storage->runtime()->topology->info(place).instance;
    std::vector<Dependency> others;
    for (const Dependency &dependency : dependencies) {
        if (dependency.completion->is_over() &&
            (!dependency.data || dependency.completion->result() == PI_SUCCESS)) {
            continue;
        }
        Event event = dependency.completion->event_of(instance);
        if (!event) {
            others.push_back(dependency);
        } else if (dependency.data) {
            events_.reserve(events_.size() + 1);
            events_.push_back(event.get());
            owned_events_.push_back(std::move(event));
        } else {
            only_before_.push_back({dependency.completion, std::move(event)});
        }
    }
    join(others);
}

/// Adds one host event, which completes when all of these are over, and fails if one fails that
/// makes the bytes.
void AcquisitionState::join(const std::vector<Dependency> &others) {
    if (others.empty()) {
        return;
    }
    Event joined;
    check(piEventCreateHost(storage->runtime()->topology->context(place), nullptr, joined.out()),
          "piEventCreateHost");
    events_.reserve(events_.size() + 1);
    owned_events_.push_back(joined);
    TransferDone signal = [joined, continuations = storage->runtime()->continuations,
                           in_flight = storage->runtime()->in_flight](pi_result result,
                                                                      const std::string &) {
        piEventSignalHost(joined.get(), result);
        continuations->post_or_run([in_flight] { in_flight->remove(); });
    };
    storage->runtime()->in_flight->add();
    try {
        when_all(others, storage->runtime()->continuations, std::move(signal));
    } catch (...) {
        storage->runtime()->in_flight->remove();
        throw;
    }
    events_.push_back(joined.get());
}

const std::vector<pi_event> &AcquisitionState::events_for_any_queue() {
    std::vector<Dependency> running;
    for (const OnlyBefore &use : only_before_) {
        if (!use.completion->is_over()) {
            running.push_back({use.completion, false});
        }
    }
    join(running);
    only_before_.clear();
    return events_;
}

const std::vector<pi_event> &AcquisitionState::events_for(pi_queue queue) {
    if (only_before_.empty() || queue == behind_.get()) {
        return events_;
    }
    if (is_out_of_order(queue)) {
        return events_for_any_queue(); // a barrier there would delay unrelated commands
    }
    std::vector<pi_event> elsewhere;
    for (const OnlyBefore &use : only_before_) {
        if (!use.completion->is_over() && queue_of(use.event.get()) != queue) {
            elsewhere.push_back(use.event.get());
        }
    }
    Queue behind = Queue::share(queue);
    if (!elsewhere.empty()) {
        check(piEnqueueBarrier(queue, nullptr, static_cast<uint32_t>(elsewhere.size()),
                               elsewhere.data(), nullptr),
              "piEnqueueBarrier");
    }
    behind_ = std::move(behind);
    return events_;
}

} // namespace pi::runtime
