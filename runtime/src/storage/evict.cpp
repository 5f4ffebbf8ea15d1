// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a place's memory is out: which replica is evicted, and where its bytes are kept.
#include "storage/storage_state.hpp"
#include "transfer/commands.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>

namespace pi::runtime {

/// Whether making room helps: the storage fits if nothing else is there.
bool StorageState::fits_at(PlaceIndex place, uint32_t scope) const {
    const pi_memory_scope &memory = runtime_->topology->info(place).scopes.at(scope);
    const auto fits = [this](uint64_t limit) { return limit == 0 || description_.size <= limit; };
    return fits(memory.capacity) && fits(memory.max_allocation);
}

bool StorageState::make_room(PlaceIndex place, Room &room) {
    const std::optional<uint32_t> scope = attachments_.find_scope(place);
    if (place == host_place || !scope || !fits_at(place, *scope)) {
        return false;
    }
    if (room.pause && room.pause->await_release()) {
        return true;
    }
    // From here on it may wait for transfers, which may need staging memory: so without a pause.
    const bool staging_is_gone = room.pause.has_value();
    room.pause.reset();
    Residents &residents = runtime_->residents;
    // Read once: a use that ends meanwhile is one of those that are waited for.
    std::vector<Residents::Replica> replicas = residents.replicas(place, *scope, *this);
    if (Residents::evict_idle(replicas)) {
        return true;
    }
    if (runtime_->may_wait()) {
        if (!staging_is_gone) {
            room.pause.emplace(runtime_->staging, place);
            if (room.pause->await_release()) {
                return true;
            }
            room.pause.reset();
        }
        if (residents.await_destruction(place) || Residents::await_uses(replicas)) {
            return true;
        }
    }
    // Another thread may have freed memory after the steps above have looked for it.
    return runtime_->memory->times_freed(place) != room.times_freed;
}

bool StorageState::make_room_without_waiting(PlaceIndex place, bool for_staging) {
    if (place == host_place) {
        return false;
    }
    const std::optional<uint32_t> scope = for_staging ? 0 : attachments_.find_scope(place);
    if (runtime_->memory->trim_device(place)) {
        return true;
    }
    if (!scope || (!for_staging && !fits_at(place, *scope))) {
        return false;
    }
    std::vector<Residents::Replica> replicas = runtime_->residents.replicas(place, *scope, *this);
    return Residents::evict_idle(replicas);
}

std::optional<Resident::Replica> StorageState::replica(PlaceIndex place) {
    const std::lock_guard lock(mutex_);
    catch_up();
    const std::optional<Attachment> &attachment = attachments_[place];
    if (!attachment || !attachments_.memory(attachment->view).memory) {
        return {};
    }
    Replica replica;
    replica.scope = attachments_.scope_index(place);
    for (const std::optional<Attachment> &each : attachments_.all()) {
        if (each && each->view == attachment->view) { // includes the places that share it
            replica.last_use = std::max(replica.last_use, each->last_use);
        }
    }
    replica.busy = replicas_.ledger.busy(attachment->view);
    replica.dirty = static_cast<double>(replicas_.ledger.only_at(attachment->view).bytes()) /
                    static_cast<double>(description_.size);
    return replica;
}

bool StorageState::await_uses(PlaceIndex place) {
    if (!runtime_->may_wait()) {
        return false;
    }
    std::vector<std::shared_ptr<Completion>> uses;
    {
        const std::lock_guard lock(mutex_);
        catch_up();
        if (!attachments_[place]) {
            return true; // evicted meanwhile
        }
        const std::vector<OperationId> users = replicas_.ledger.users(attachments_[place]->view);
        if (operations_.any_held(users)) {
            return false;
        }
        for (const OperationId operation : users) {
            uses.push_back(operations_.completion_of(operation));
        }
    }
    for (const auto &use : uses) {
        use->wait_until(Completion::Clock::time_point::max());
    }
    return true;
}

bool StorageState::evict(PlaceIndex place) {
    // Another thread may write there meanwhile; then it is in use, and another replica is the
    // better victim.
    for (int attempt = 0; attempt < 2; ++attempt) {
        RangeSet dirty;
        ViewId view = 0;
        pi_mem mapped = nullptr; // by a map that could not be undone
        {
            const std::lock_guard lock(mutex_);
            catch_up();
            const std::optional<Attachment> &attachment = attachments_[place];
            if (!attachment || !attachments_.memory(attachment->view).memory) {
                return false;
            }
            view = attachment->view;
            if (replicas_.ledger.busy(view)) {
                return false;
            }
            dirty = replicas_.ledger.only_at(view);
            if (attachments_.is_mapped(attachments_.memory(view).mem.get())) {
                mapped = attachments_.memory(view).mem.get();
            } else if (dirty.empty()) {
                attachments_.drop_memory(view);
                for (SharedCounters *counters : {&counters_, &runtime_->counters.here()}) {
                    counters->update([](Counters &sum) { ++sum.evictions; });
                }
                return true;
            }
        }
        if (mapped != nullptr && !undo_all_maps(mapped)) {
            return false;
        }
        if (!dirty.empty() && !write_back(dirty, view)) {
            return false;
        }
    }
    return false;
}

/// False if one cannot be undone, or inside a callback, which may not wait.
bool StorageState::undo_all_maps(pi_mem mem) {
    if (!runtime_->may_wait()) {
        return false;
    }
    const auto undone = std::make_shared<Completion>(runtime_->continuations);
    runtime_->commands->undo_maps(mem, Range{0, description_.size}, true,
                                  [undone](pi_result result, const std::string &text) {
                                      undone->complete(result, text_if_possible(text));
                                  });
    undone->wait_until(Completion::Clock::time_point::max());
    return undone->result() == PI_SUCCESS;
}

bool StorageState::write_back(const RangeSet &dirty, ViewId from) {
    if (!runtime_->may_wait()) {
        return false;
    }
    try {
        const auto copies = bring(host_place, dirty, from);
        if (!copies) {
            return false; // used again meanwhile
        }
        for (const Dependency &dependency : *copies) {
            dependency.completion->wait_until(Completion::Clock::time_point::max());
            if (dependency.data && dependency.completion->result() != PI_SUCCESS) {
                return false;
            }
        }
    } catch (const Error &) {
        return false; // no route to the host; the acquire that needs room reports that
    }
    for (SharedCounters *counters : {&counters_, &runtime_->counters.here()}) {
        counters->update([&](Counters &sum) { sum.bytes_written_back += dirty.bytes(); });
    }
    return true;
}

} // namespace pi::runtime
