// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the commands of an acquisition wait for, as events of their place's plugin instance. An event that fails fails who
// waits for it. So events are right for uses that make the bytes, but not for those that must only be over: these come
// over a host event, which costs a callback, or by a queue's order, which carries no error.
#include "storage/event_queue.hpp"
#include "storage/storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <utility>

namespace pi::runtime {

void StorageState::bridge(AcquisitionState &acquisition) {
    const uint32_t instance = runtime_->topology->info(acquisition.place).instance;
    std::vector<Dependency> foreign;
    for (const Dependency &dependency : acquisition.dependencies) {
        if (dependency.completion->is_over() &&
            (!dependency.data || dependency.completion->result() == PI_SUCCESS)) {
            continue;
        }
        Event event = dependency.completion->event_of(instance);
        if (!event) {
            foreign.push_back(dependency);
        } else if (dependency.data) {
            acquisition.events.reserve(acquisition.events.size() + 1);
            acquisition.events.push_back(event.get());
            acquisition.owned_events.push_back(std::move(event));
        } else {
            acquisition.only_before.push_back({dependency.completion, std::move(event)});
        }
    }
    join(acquisition, foreign);
}

/// Adds one host event, which is final when all of these are over, and fails with those that make bytes.
void StorageState::join(AcquisitionState &acquisition, const std::vector<Dependency> &foreign) {
    if (foreign.empty()) {
        return;
    }
    Event joined;
    check(piEventCreateHost(runtime_->topology->context(acquisition.place), nullptr, joined.out()),
          "piEventCreateHost");
    acquisition.events.reserve(acquisition.events.size() + 1);
    acquisition.owned_events.push_back(joined);
    TransferDone signal = [joined, continuations = runtime_->continuations,
                           in_flight = runtime_->in_flight](pi_result result, const std::string &) {
        piEventSignalHost(joined.get(), result);
        continuations->post_or_run([in_flight] { in_flight->remove(); });
    };
    runtime_->in_flight->add();
    try {
        when_all(foreign, runtime_->continuations, std::move(signal));
    } catch (...) {
        runtime_->in_flight->remove();
        throw;
    }
    acquisition.events.push_back(joined.get());
}

const std::vector<pi_event> &StorageState::events(AcquisitionState &acquisition) {
    std::vector<Dependency> running;
    for (const AcquisitionState::OnlyBefore &use : acquisition.only_before) {
        if (!use.completion->is_over()) {
            running.push_back({use.completion, false});
        }
    }
    join(acquisition, running);
    acquisition.only_before.clear();
    return acquisition.events;
}

const std::vector<pi_event> &StorageState::events(AcquisitionState &acquisition, pi_queue queue) {
    if (acquisition.only_before.empty() || queue == acquisition.behind.get()) {
        return acquisition.events;
    }
    if (is_out_of_order(queue)) {
        return events(acquisition); // a barrier there would hold up what has nothing to do with it
    }
    std::vector<pi_event> elsewhere;
    for (const AcquisitionState::OnlyBefore &use : acquisition.only_before) {
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
    acquisition.behind = std::move(behind);
    return acquisition.events;
}

} // namespace pi::runtime
