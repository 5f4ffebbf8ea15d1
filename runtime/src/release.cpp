// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "commands.hpp"
#include "storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <utility>

namespace pi::runtime {

void StorageState::conclude(OperationId operation, pi_result result, const std::string &text,
                            std::vector<Submitted> commands) {
    std::shared_ptr<Completion> completion;
    {
        const std::lock_guard lock(mutex_);
        const auto found =
            std::find_if(pending_.begin(), pending_.end(),
                         [operation](const Pending &each) { return each.operation == operation; });
        if (found != pending_.end()) {
            completion = std::move(found->completion);
            pending_.erase(found);
        }
        notice_lost_places(); // a write that failed is no worse than what is gone
        ledger_.finish(operation, result == PI_SUCCESS);
        notice_lost_places(); // what it made valid there is none the less gone
    }
    if (completion != nullptr) {
        if (!commands.empty()) {
            completion->set_commands(std::move(commands));
        }
        completion->complete(result, text);
    }
}

void StorageState::finish_operation(OperationId operation, pi_result result,
                                    const std::string &text, std::vector<Submitted> commands) {
    conclude(operation, result, text, std::move(commands));
    // Posted, so that what holds on to the storage on this operation's behalf is gone by then.
    runtime_->continuations->post([all = runtime_->in_flight, own = in_flight_] {
        own->remove();
        all->remove();
    });
}

namespace {

pi_queue queue_of(pi_event event) {
    pi_queue queue = nullptr;
    piEventGetInfo(event, PI_EVENT_INFO_QUEUE, sizeof queue, &queue, nullptr);
    return queue;
}

} // namespace

/// A write that fetches is good for as much as what it fetches.
void StorageState::release_now(AcquisitionState &acquisition) {
    const OperationId operation = acquisition.operation;
    std::vector<Dependency> missing;
    for (const Dependency &dependency : acquisition.dependencies) {
        const Completion &fetched = *dependency.completion;
        if (!acquisition.writes || !dependency.data ||
            (fetched.is_over() && fetched.result() == PI_SUCCESS)) {
            continue;
        }
        if (fetched.is_over()) {
            acquisition.held = false;
            conclude(operation, PI_ERROR_DEPENDENCY_FAILED, fetched.text());
            return;
        }
        missing.push_back(dependency);
    }
    acquisition.held = false;
    if (missing.empty()) {
        conclude(operation, PI_SUCCESS, {});
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        pending(operation).held = false;
    }
    runtime_->in_flight->add();
    in_flight_->add();
    when_all(missing, runtime_->continuations,
             [self = shared_from_this(), operation](pi_result result, const std::string &text) {
                 self->finish_operation(operation, result, text);
             });
}

void StorageState::release(AcquisitionState &acquisition, pi_event event) {
    if (!acquisition.held) {
        throw Error(PI_ERROR_INVALID_OPERATION, "released twice");
    }
    const OperationId operation = acquisition.operation;
    uint32_t instance = 0;
    if (event != nullptr) {
        pi_context context = nullptr;
        check(piEventGetInfo(event, PI_EVENT_INFO_CONTEXT, sizeof context, &context, nullptr),
              "piEventGetInfo(CONTEXT)");
        instance = runtime_->topology->instance_of(context);
        const PlaceInfo &place = runtime_->topology->info(acquisition.place);
        if (acquisition.place != host_place && instance != place.instance) {
            throw Error(PI_ERROR_INVALID_EVENT,
                        "the event is not of the plugin instance of " + place.name);
        }
    }
    if (event == nullptr) {
        release_now(acquisition);
        return;
    }
    Event told = Event::share(event);
    std::vector<Submitted> command = only({Event::share(event), instance});
    runtime_->in_flight->add();
    in_flight_->add();
    std::shared_ptr<Completion> completion;
    {
        const std::lock_guard lock(mutex_);
        pending(operation).held = false;
        completion = completion_of(operation);
    }
    completion->set_commands(std::move(command));
    try {
        if (pi_queue queue = queue_of(event)) {
            piQueueFlush(queue); // what others wait for must not wait for a flush
        }
        when_final(std::move(told), runtime_->continuations,
                   [self = shared_from_this(), operation, place = acquisition.place,
                    lender = acquisition.lender](pi_result result, const std::string &text) {
                       if (result != PI_ERROR_DEVICE_LOST) {
                           self->finish_operation(operation, result, text);
                           return;
                       }
                       self->runtime_->lost.suspect(
                           {place, lender}, [self, operation, result, text] {
                               self->finish_operation(operation, result, text);
                           });
                   });
    } catch (...) {
        runtime_->in_flight->remove();
        in_flight_->remove();
        completion->set_commands({});
        const std::lock_guard lock(mutex_);
        pending(operation).held = true;
        throw;
    }
    acquisition.held = false;
}

void StorageState::abandon(AcquisitionState &acquisition) noexcept {
    if (!acquisition.held) {
        return;
    }
    acquisition.held = false;
    conclude(acquisition.operation, acquisition.writes ? PI_ERROR_ABANDONED : PI_SUCCESS,
             acquisition.writes ? "a write was acquired and never released" : "");
}

AcquisitionState::~AcquisitionState() {
    if (storage != nullptr) {
        storage->abandon(*this);
    }
}

} // namespace pi::runtime
