// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/storage_state.hpp"
#include "storage/transfer_run.hpp"
#include "transfer/commands.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <new>
#include <utility>

namespace pi::runtime {
struct StorageState::Begun {
    const std::shared_ptr<BufferState> &buffer;
    std::unique_ptr<AcquisitionState> acquisition{};
    std::vector<std::shared_ptr<TransferRun>> transfers{};
    std::vector<OperationId> copies{};
    uint64_t number = 0;
    uint64_t time = 0;
    uint64_t bytes_copied = 0; // that will move
    uint64_t bytes_copy_in_copy_out = 0;
    uint64_t bytes_elsewhere = 0; // used where they are, at another device
};

void StorageState::check_place(PlaceIndex place) const {
    const uint32_t places = runtime_->topology->size();
    if (place >= places) {
        throw Error(PI_ERROR_INVALID_VALUE, "no place " + std::to_string(place) +
                                                ": the topology has places 0 to " +
                                                std::to_string(places - 1));
    }
}

void StorageState::forbid_self_wait(const std::vector<Ledger::Wait> &waits, PlaceIndex place,
                                    const Range &range) const {
    if (const Operations::Pending *other = operations_.held_here(waits)) {
        const Topology &topology = *runtime_->topology;
        throw Error(PI_ERROR_INVALID_OPERATION,
                    "acquiring " + to_string(range) + " at " + topology.info(place).name +
                        " would wait for the acquisition of " + to_string(other->range) + " at " +
                        topology.info(other->place).name +
                        " that this thread still holds: release that one first");
    }
}

template <class Begin>
Ledger::Begun StorageState::begin_operation(PlaceIndex place, const Range &range, bool held,
                                            Begin begin) {
    Ledger::Begun begun = operations_.begin(place, range, held, begin);
    if (!replicas_.ledger.has_units()) {
        return begun; // a failure need not wait for its turn
    }
    try {
        operations_.prepare_failure(
            [self = shared()](OperationId operation, pi_result result, const std::string &text) {
                self->finish_operation(operation, result, text);
            });
    } catch (...) {
        end_operation(begun.operation, Ending::undone);
        throw;
    }
    return begun;
}

std::unique_ptr<AcquisitionState> StorageState::acquire(const std::shared_ptr<BufferState> &buffer,
                                                        PlaceIndex place, Access access,
                                                        const Range &range, Spread *spread) {
    check_place(place);
    if (description_.read_only && writes(access)) {
        throw Error(PI_ERROR_INVALID_OPERATION, std::string("acquiring for ") + to_string(access) +
                                                    ": the storage '" + description_.name +
                                                    "' is read-only");
    }
    bool verified_only = false;
    for (Room room;;) {
        room.times_freed = runtime_->memory->times_freed(place);
        try {
            return try_acquire(buffer, place, access, range, spread, verified_only);
        } catch (const Unverified &needed) {
            verified_only = !runtime_->verify(needed.pairs);
        } catch (const Error &error) {
            // Without the lock: it takes other storages' locks, to make room.
            if (error.code() != PI_ERROR_OUT_OF_DEVICE_MEMORY || !make_room(place, room)) {
                throw;
            }
        }
    }
}

std::unique_ptr<AcquisitionState>
StorageState::try_acquire(const std::shared_ptr<BufferState> &buffer, PlaceIndex place,
                          Access access, const Range &range, Spread *spread, bool verified_only) {
    Begun begun{buffer};
    begun.acquisition = std::make_unique<AcquisitionState>();
    begun.acquisition->held = false; // nothing to release yet
    begun.acquisition->storage = buffer->storage;
    begun.acquisition->place = place;
    begun.acquisition->range = range;
    begun.acquisition->writes = writes(access);
    if (place != host_place) {
        begun.bytes_copy_in_copy_out =
            (fetches(access) ? range.size() : 0) + (writes(access) ? range.size() : 0);
    }
    {
        const std::lock_guard lock(mutex_);
        catch_up();
        if (runtime_->lost.count() != 0) {
            forbid_lost(place, access, range);
        }
        if (attachments_.uses_links()) {
            attachments_.prefer_own_memory(planner(verified_only), place, range);
        }
        Attachment &attachment = attachments_.attach(place, verified_only);
        std::vector<PlannedPart> parts;
        const RangeSet &there = replicas_.ledger.expected(attachment.view);
        if ((fetches(access) && !there.contains(range)) ||
            (writes(access) &&
             !there.contains(replicas_.ledger.rest_of_units(attachment.view, range)))) {
            const Planner planner = this->planner(verified_only);
            parts = planner.plan(planner.target_of(attachment.view),
                                 fetches(access) ? range : RangeSet(),
                                 writes(access) ? range : RangeSet(), spread);
            Planner::require_verified(parts);
        }
        if (!parts.empty() || runtime_->logs_up_to_date()) { // else neither is recorded
            begun.number = runtime_->acquisitions.take();
            begun.time = steady_time();
        }
        if (attachment.owner() != host_place) { // memory of the host is never evicted
            attachment.last_use =
                runtime_->residents.use(replicas_.views[attachment.view].home, attachment.last_use);
        }
        try {
            if (operations_.holds_any_here()) {
                forbid_self_wait(
                    replicas_.ledger.use_waits(attachment.view, place, range, true, writes(access)),
                    place, range);
            }
            if (!parts.empty()) {
                begin_copies(begun, attachment, planner(verified_only), std::move(parts), place,
                             spread);
            }
            begin_use(begun, attachment, access);
            if (begun.transfers.empty()) {
                log_nothing_stale(begun, attachment, access);
            }
        } catch (...) {
            undo(begun);
            throw;
        }
        account(begun);
    }
    for (const auto &transfer : begun.transfers) {
        transfer->start();
    }
    begun.acquisition->held = true;
    if (begun.acquisition->may_be_mapped) {
        undo_maps(*begun.acquisition);
    }
    if (place != host_place && !begun.acquisition->dependencies.empty()) {
        begun.acquisition->bridge();
    }
    return std::move(begun.acquisition);
}

/// A write of all bytes by the owner of the event; not counted, and not in the log.
void StorageState::await_first_content() {
    const auto buffer = std::make_shared<BufferState>();
    Begun begun{buffer};
    begun.acquisition = std::make_unique<AcquisitionState>();
    AcquisitionState &first = *begun.acquisition;
    first.held = false;
    first.storage = shared();
    first.place = description_.device_memory ? description_.device_place : host_place;
    first.range = {0, description_.size};
    first.writes = true;
    {
        const std::lock_guard lock(mutex_);
        begin_use(begun, attachments_.attach(first.place, false), Access::discard_write);
        first.held = true;
    }
    release(first, description_.ready.get());
}

std::optional<std::vector<Dependency>> StorageState::bring(PlaceIndex place, const RangeSet &ranges,
                                                           ViewId from) {
    const auto buffer = std::make_shared<BufferState>();
    buffer->storage = shared();
    buffer->range = {0, description_.size};
    Begun begun{buffer};
    std::vector<Dependency> copies;
    {
        const std::lock_guard lock(mutex_);
        catch_up();
        if (replicas_.ledger.busy(from)) {
            return std::nullopt;
        }
        const Attachment &attachment = attachments_.attach(place, true);
        const Planner planner = this->planner(true);
        begun.number = runtime_->acquisitions.take();
        try {
            begin_copies(begun, attachment, planner,
                         planner.plan(planner.target_of(attachment.view), ranges), place, nullptr);
            // Copies that were under way before are waited for as well.
            const auto waits =
                replicas_.ledger.use_waits(attachment.view, place, ranges, true, false);
            copies = operations_.dependencies(waits);
            if (operations_.any_held(operations_of(waits))) {
                undo(begun);
                return std::nullopt;
            }
        } catch (...) {
            undo(begun);
            throw;
        }
        account(begun);
    }
    for (const auto &transfer : begun.transfers) {
        transfer->start();
    }
    return copies;
}

void StorageState::begin_copies(Begun &begun, const Attachment &attachment, const Planner &planner,
                                std::vector<PlannedPart> parts, PlaceIndex place, Spread *spread) {
    // All that can be refused is refused before anything has begun.
    const bool holds_any = operations_.holds_any_here();
    for (PlannedPart &part : parts) {
        if (part.sources.empty()) {
            std::string reasons;
            for (const Candidate &candidate : part.refused) {
                reasons += std::string("; ") + to_string(candidate.route.kind) + " " +
                           to_string(candidate.route.style) + ": " + candidate.reason;
            }
            throw Error(PI_ERROR_UNSUPPORTED_FEATURE,
                        "no route brings " + to_string(part.ranges) + " to " +
                            runtime_->topology->info(place).name + reasons);
        }
        const ViewId to = part.by_way_of.value_or(attachment.view);
        if (holds_any) {
            forbid_self_wait(replicas_.ledger.copy_waits(part.sources.front().view, to,
                                                         replicas_.views[to].home, part.ranges),
                             place, part.ranges.hull());
        }
        planner.predict_delays(part);
    }
    uint64_t bytes_copy_in_copy_out = begun.bytes_copy_in_copy_out;
    std::vector<PlannedCopy> copies;
    for (PlannedPart &part : parts) {
        if (part.stays_at_host && !replicas_.host_view) {
            part.stays_at_host = keep_at_host();
            part.sources.front().candidate.reason +=
                part.stays_at_host ? "" : "; not kept there after all: no room was left";
        }
        planner.cut(copies, part, attachment.view, spread);
    }
    begun.copies.reserve(copies.size());
    for (PlannedCopy &each : copies) {
        PlannedPart &part = each.part;
        const PlaceIndex to = replicas_.views[each.destination].home;
        const Ledger::Begun copy = begin_operation(to, part.ranges.hull(), false, [&] {
            return replicas_.ledger.begin_copy(part.sources.front().view, each.destination, to,
                                               part.ranges);
        });
        Operations::Pending &pending = operations_.newest();
        for (const Source &source : part.sources) {
            const BounceStyle style = source.candidate.route.style;
            pending.maps_source |= part.coherence_sync ? replicas_.views[source.view].coherence ==
                                                             PI_COHERENCE_MAP_UNMAP
                                                       : style == BounceStyle::map_source;
            pending.maps_destination |= style == BounceStyle::map_destination;
        }
        begun.copies.push_back(copy.operation);
        begun.bytes_copied += part.coherence_sync || part.on_the_way ? 0 : part.ranges.bytes();
        // In the first record of the acquire; a part on the way has no record.
        const uint64_t logged =
            part.on_the_way ? 0 : std::exchange(bytes_copy_in_copy_out, uint64_t{0});
        begun.transfers.push_back(std::make_shared<TransferRun>(
            begun.buffer, copy.operation, each.destination, std::move(part),
            operations_.dependencies(copy.waits), begun.number, logged));
    }
}

/// False if other storages have used up the limit meanwhile, or there is no memory: staging needs
/// less.
bool StorageState::keep_at_host() {
    std::atomic<uint64_t> &used = runtime_->bounce_bytes;
    const uint64_t limit = runtime_->options.bounce_limit;
    uint64_t before = used.load();
    do {
        if (before > limit || limit - before < description_.size) {
            return false;
        }
    } while (!used.compare_exchange_weak(before, before + description_.size));
    try {
        attachments_.create_host_view();
    } catch (...) {
        used -= description_.size;
        return false;
    }
    replicas_.bounce_bytes = description_.size; // subtracted with the storage
    return true;
}

void StorageState::begin_use(Begun &begun, const Attachment &attachment, Access access) {
    AcquisitionState &acquisition = *begun.acquisition;
    const Ledger::Begun use = begin_operation(acquisition.place, acquisition.range, true, [&] {
        return replicas_.ledger.begin_use(attachment.view, acquisition.place, acquisition.range,
                                          fetches(access), writes(access));
    });
    acquisition.operation = use.operation;
    if (!use.waits.empty()) {
        acquisition.dependencies = operations_.dependencies(use.waits);
    }
    acquisition.mem = attachment.mem.get();
    acquisition.offset_alignment = attachment.offset_alignment;
    acquisition.lender = attachment.lender;
    acquisition.may_be_mapped = (!use.waits.empty() || runtime_->commands->standing_maps().any()) &&
                                may_be_mapped(acquisition, use.waits);
    begun.bytes_elsewhere = attachment.elsewhere ? acquisition.range.size() : 0;
    if (attachments_.uses_links()) {
        attachments_.note_use(acquisition.place, acquisition.range, writes(access));
    }
    if (acquisition.place == host_place) {
        acquisition.pointer = attachments_.memory(attachment.view).host + acquisition.range.begin;
    }
}

bool StorageState::may_be_mapped(const AcquisitionState &acquisition,
                                 const std::vector<Ledger::Wait> &waits) const {
    if (acquisition.place == host_place) {
        return false; // the host's own view is never mapped
    }
    return runtime_->commands->standing_maps().forbid(acquisition.mem, acquisition.range,
                                                      acquisition.writes) ||
           std::any_of(waits.begin(), waits.end(), [&](const Ledger::Wait &wait) {
               const Operations::Pending &earlier = operations_.at(wait.operation);
               return !wait.data &&
                      (earlier.maps_destination || (acquisition.writes && earlier.maps_source));
           });
}

/// Without the lock: the posted work may run at once.
void StorageState::undo_maps(AcquisitionState &acquisition) {
    std::vector<Dependency> earlier = acquisition.dependencies;
    for (Dependency &dependency : earlier) {
        dependency.data = false;
    }
    const auto undone = std::make_shared<Completion>(runtime_->continuations);
    const auto finish = [undone, runtime = runtime_](pi_result result, const std::string &text) {
        undone->complete(result, text_if_possible(text));
        runtime->continuations->post_or_run([runtime] { runtime->in_flight->remove(); });
    };
    acquisition.dependencies.reserve(acquisition.dependencies.size() + 1);
    runtime_->in_flight->add();
    try {
        when_all(earlier, runtime_->continuations,
                 [finish, self = shared(), mem = acquisition.mem, range = acquisition.range,
                  writes = acquisition.writes](pi_result, const std::string &) {
                     try {
                         self->runtime_->commands->undo_maps(mem, range, writes, finish);
                     } catch (const std::bad_alloc &error) {
                         finish(PI_ERROR_OUT_OF_HOST_MEMORY, text_if_possible(error.what()));
                     }
                 });
    } catch (...) {
        runtime_->in_flight->remove();
        throw;
    }
    acquisition.dependencies.push_back({undone, true});
}

/// Under the lock under which all of it began: no other operation has seen it, so none depends on
/// it.
void StorageState::undo(Begun &begun) {
    if (begun.acquisition != nullptr && begun.acquisition->operation != 0) {
        end_operation(begun.acquisition->operation, Ending::undone);
    }
    for (auto copy = begun.copies.rbegin(); copy != begun.copies.rend(); ++copy) {
        end_operation(*copy, Ending::undone);
    }
}

void StorageState::account(const Begun &begun) {
    for (size_t index = 0; index < begun.transfers.size(); ++index) {
        runtime_->in_flight->add();
        in_flight_->add();
    }
    if (begun.bytes_copied == 0 && begun.bytes_copy_in_copy_out == 0 &&
        begun.bytes_elsewhere == 0) {
        return;
    }
    for (SharedCounters *counters :
         {&begun.buffer->counters, &counters_, &runtime_->counters.here()}) {
        counters->add_acquire(begun.bytes_copied, begun.bytes_copy_in_copy_out);
        if (begun.bytes_elsewhere != 0) {
            counters->update([&](Counters &sum) {
                ++sum.uses_elsewhere;
                sum.bytes_elsewhere += begun.bytes_elsewhere;
            });
        }
    }
}

void StorageState::log_nothing_stale(const Begun &begun, const Attachment &attachment,
                                     Access access) {
    if (!runtime_->logs_up_to_date()) {
        return;
    }
    runtime_->log.add(UpToDate{begun.number, begun.time, attachment.owner(),
                               begun.acquisition->place, begun.acquisition->range, attachment.kind,
                               access == Access::discard_write, begun.bytes_copy_in_copy_out},
                      attachment.texts);
}

bool StorageState::may_copy_from(OperationId copy, ViewId source) {
    const std::lock_guard lock(mutex_);
    catch_up();
    return replicas_.ledger.retry_from(copy, source);
}

TransferRequest StorageState::request(const Source &source, ViewId destination,
                                      const RangeSet &ranges) const {
    const std::lock_guard lock(mutex_);
    const auto end = [this](ViewId id) {
        const View &view = replicas_.views[id];
        const ViewMemory &memory = attachments_.memory(id);
        return MemoryEnd{view.home, memory.mem.get(), memory.host, view.coherence};
    };
    TransferRequest request;
    request.route = source.candidate.route;
    request.source = end(source.view);
    request.destination = end(destination);
    request.ranges = ranges;
    return request;
}

} // namespace pi::runtime
