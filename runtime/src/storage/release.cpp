// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/storage_state.hpp"
#include "transfer/commands.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace pi::runtime {

/// With the lock. Returns the operation's completion, or NULL if nothing waits for it.
std::shared_ptr<Completion> StorageState::end_operation(OperationId operation,
                                                        Ending ending) noexcept {
    Operations::Pending *const over = operations_.end(operation, ending);
    if (over == nullptr) {
        return nullptr;
    }
    std::shared_ptr<Completion> completion = over->completion;
    try {
        if (operations_.owed() == 1 && runtime_->lost.count() == 0) {
            operations_.learn(*over);
        } else {
            learn_ends();
        }
    } catch (const std::exception &) {
        // The operation is over all the same: the ledger gets its end before its next use.
    }
    return completion;
}

void StorageState::conclude(OperationId operation, pi_result result, std::string_view text,
                            std::vector<Submitted> commands) noexcept {
    std::shared_ptr<Completion> completion;
    {
        const std::lock_guard lock(mutex_);
        completion =
            end_operation(operation, result == PI_SUCCESS ? Ending::succeeded : Ending::failed);
    }
    if (completion != nullptr) {
        if (!commands.empty()) {
            completion->set_commands(std::move(commands));
        }
        completion->complete(result, text_if_possible(text));
    }
}

/// An operation may fail before its turn: if it was abandoned, or its event waited for nothing.
/// Then earlier operations may still be working on the same bytes, and it fails after them.
bool StorageState::fail_in_turn(OperationId operation, pi_result result,
                                const std::string &text) noexcept {
    std::unique_ptr<Operations::FailureInTurn> in_turn;
    {
        const std::lock_guard lock(mutex_);
        if (Operations::Pending *const pending = operations_.find(operation)) {
            in_turn = std::move(pending->in_turn);
        }
    }
    if (in_turn == nullptr || !in_turn->wait.waits()) {
        return false;
    }
    *in_turn->outcome = {result, text_if_possible(text)};
    in_turn->wait.begin();
    return true;
}

void StorageState::finish_operation(OperationId operation, pi_result result,
                                    const std::string &text,
                                    std::vector<Submitted> commands) noexcept {
    if (result != PI_SUCCESS && fail_in_turn(operation, result, text)) {
        return;
    }
    conclude(operation, result, text, std::move(commands));
    // Posted, so that this operation's references to the storage are gone by then.
    runtime_->continuations->post_or_run([all = runtime_->in_flight, own = in_flight_] {
        own->remove();
        all->remove();
    });
}

/// A write ends in its turn, and fails if the bytes that it fetches failed to arrive.
void StorageState::release_now(AcquisitionState &acquisition) {
    const OperationId operation = acquisition.operation;
    const std::vector<Dependency> &dependencies = acquisition.dependencies;
    if (acquisition.writes &&
        !std::all_of(dependencies.begin(), dependencies.end(), [](const Dependency &dependency) {
            return dependency.completion->is_over();
        })) {
        end_later(acquisition, [&] {
            when_all(dependencies, runtime_->continuations,
                     [self = shared(), operation](pi_result result, const std::string &text) {
                         self->finish_operation(operation, result, text);
                     });
        });
        return;
    }
    acquisition.held = false;
    const auto failed =
        std::find_if(dependencies.begin(), dependencies.end(), [&](const Dependency &dependency) {
            return acquisition.writes && dependency.data &&
                   dependency.completion->result() != PI_SUCCESS;
        });
    if (failed != dependencies.end()) {
        conclude(operation, PI_ERROR_DEPENDENCY_FAILED, failed->completion->text());
    } else {
        conclude(operation, PI_SUCCESS, {});
    }
}

/// The acquisition is released, and counts as in flight until the work that `begin` begins has
/// finished its operation. After an exception it is held as before.
template <class Begin>
void StorageState::end_later(AcquisitionState &acquisition, Begin begin) {
    const auto set_held = [&](bool held) {
        const std::lock_guard lock(mutex_);
        operations_.at(acquisition.operation).held = held;
    };
    set_held(false);
    runtime_->in_flight->add();
    in_flight_->add();
    try {
        begin();
    } catch (...) {
        runtime_->in_flight->remove();
        in_flight_->remove();
        set_held(true);
        throw;
    }
    acquisition.held = false;
}

void StorageState::release(AcquisitionState &acquisition, pi_event event) {
    if (!acquisition.held) {
        throw Error(PI_ERROR_INVALID_OPERATION,
                    "Acquisition::release: the acquisition of " + to_string(acquisition.range) +
                        " at " + runtime_->topology->info(acquisition.place).name +
                        " was released or abandoned already");
    }
    acquisition.under_way.reset();
    if (event == nullptr) {
        release_now(acquisition);
        return;
    }
    pi_context context = nullptr;
    check(piEventGetInfo(event, PI_EVENT_INFO_CONTEXT, sizeof context, &context, nullptr),
          "piEventGetInfo(CONTEXT)");
    const uint32_t instance = runtime_->topology->instance_of(context);
    const PlaceInfo &place = runtime_->topology->info(acquisition.place);
    if (acquisition.place != host_place && instance != place.instance) {
        throw Error(PI_ERROR_INVALID_EVENT,
                    "the event is not of the plugin instance of " + place.name);
    }
    try {
        release_with(acquisition, {Event::share(event), instance});
    } catch (...) {
        acquisition.under_way = Event::share(event); // the acquisition may be dropped now
        throw;
    }
}

void StorageState::release_with(AcquisitionState &acquisition, Submitted command) {
    const OperationId operation = acquisition.operation;
    Event awaited = command.event;
    std::vector<Submitted> commands(1);
    commands.front() = std::move(command);
    std::shared_ptr<Completion> completion;
    {
        const std::lock_guard lock(mutex_);
        completion = operations_.completion_of(operation);
    }
    end_later(acquisition, [&] {
        completion->set_commands(std::move(commands));
        try {
            when_complete(std::move(awaited), runtime_->continuations,
                          [self = shared(), operation, place = acquisition.place,
                           lender = acquisition.lender](pi_result result, const std::string &text) {
                              self->finish_use(operation, place, lender, result, text);
                          });
        } catch (...) {
            completion->set_commands({});
            throw;
        }
    });
}

/// Abandoned after a failed release: the memory is in use until that release's commands are over.
void StorageState::end_under_way(AcquisitionState &acquisition) noexcept {
    Event event = std::move(acquisition.under_way);
    const auto end = [self = shared(), operation = acquisition.operation, place = acquisition.place,
                      lender = acquisition.lender,
                      otherwise = acquisition.writes ? PI_ERROR_ABANDONED : PI_SUCCESS](
                         pi_result result, const std::string &) {
        self->finish_use(operation, place, lender,
                         result == PI_ERROR_DEVICE_LOST ? result : otherwise,
                         text_if_possible("a release failed, and was not tried again"));
    };
    try {
        end_later(acquisition, [&] { when_complete(Event(event), runtime_->continuations, end); });
    } catch (const std::exception &) {
        const pi_result result = wait_until_complete(event.get());
        event.reset(); // first: no handle may outlive the wait for the storage
        end_later(acquisition, [&] { end(result, {}); });
    }
}

/// Ends a use by a command at a place, in memory that the lender's plugin made: either device may
/// be lost.
void StorageState::finish_use(OperationId operation, PlaceIndex place, PlaceIndex lender,
                              pi_result result, const std::string &text) {
    if (result != PI_ERROR_DEVICE_LOST) {
        finish_operation(operation, result, text);
        return;
    }
    try {
        runtime_->loss_probe.suspect({place, lender}, [self = shared(), operation, result, text] {
            self->finish_operation(operation, result, text);
        });
    } catch (const std::exception &) { // cannot probe; the next command reports the loss
        finish_operation(operation, result, text);
    }
}

void StorageState::abandon(AcquisitionState &acquisition) noexcept {
    if (!acquisition.held || !runtime_->origin.is_here()) {
        return;
    }
    if (acquisition.under_way) {
        end_under_way(acquisition);
        return;
    }
    if (!acquisition.writes) {
        acquisition.held = false;
        conclude(acquisition.operation, PI_SUCCESS, {});
        return;
    }
    end_later(acquisition, [&] {
        finish_operation(acquisition.operation, PI_ERROR_ABANDONED,
                         text_if_possible("a write was acquired and never released"));
    });
}

} // namespace pi::runtime
