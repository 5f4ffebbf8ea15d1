// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a place's memory is out: whose replica goes, and where its bytes stay.
#include "storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <tuple>

namespace pi::runtime {

void Residents::add(PlaceIndex place, std::weak_ptr<StorageState> storage) {
    const StorageState *key = storage.lock().get();
    const std::lock_guard lock(mutex_);
    places_.at(place)[key] = std::move(storage);
}

void Residents::remove(PlaceIndex place, const StorageState *storage) {
    const std::lock_guard lock(mutex_);
    places_.at(place).erase(storage);
}

std::vector<std::shared_ptr<StorageState>> Residents::at(PlaceIndex place) {
    std::vector<std::shared_ptr<StorageState>> found;
    const std::lock_guard lock(mutex_);
    for (auto entry = places_.at(place).begin(); entry != places_.at(place).end();) {
        if (auto storage = entry->second.lock()) {
            found.push_back(std::move(storage));
            ++entry;
        } else {
            entry = places_.at(place).erase(entry);
        }
    }
    return found;
}

bool Residents::make_room(PlaceIndex place, uint64_t bytes, const StorageState &asking) {
    struct Victim {
        std::shared_ptr<StorageState> storage;
        StorageState::Evictable replica;
        auto order() const { return std::tuple(replica.dirty != 0, replica.last_use); }
    };
    std::vector<Victim> victims;
    for (std::shared_ptr<StorageState> &storage : at(place)) {
        const auto replica = storage.get() == &asking ? std::nullopt : storage->evictable(place);
        if (replica) {
            victims.push_back({std::move(storage), *replica});
        }
    }
    std::sort(victims.begin(), victims.end(),
              [](const Victim &a, const Victim &b) { return a.order() < b.order(); });
    uint64_t freed = 0;
    for (const Victim &victim : victims) {
        if (freed >= bytes) {
            break;
        }
        freed += victim.storage->evict(place) ? victim.replica.size : 0;
    }
    return freed > 0;
}

std::optional<ViewId> StorageState::vacant_view(PlaceIndex place) const {
    for (ViewId view = 0; view < views_.size(); ++view) {
        if (place != host_place && views_[view].home == place && !views_[view].mem) {
            return view;
        }
    }
    return {};
}

std::optional<StorageState::Evictable> StorageState::evictable(PlaceIndex place) const {
    const std::lock_guard lock(mutex_);
    const std::optional<Attachment> &attachment = attachments_[place];
    if (!attachment || !views_[attachment->view].memory ||
        ledger_.busy(ledger_.memory_of(attachment->view))) {
        return {};
    }
    uint64_t last_use = 0;
    for (const std::optional<Attachment> &each : attachments_) {
        if (each && each->view == attachment->view) {
            last_use = std::max(last_use, each->last_use); // places that share it use it, too
        }
    }
    return Evictable{views_[attachment->view].memory.size(),
                     ledger_.only_at(attachment->view).bytes(), last_use};
}

bool StorageState::evict(PlaceIndex place) {
    // Another thread may write there meanwhile; then it is in use, and others are better victims.
    for (int attempt = 0; attempt < 2; ++attempt) {
        RangeSet dirty;
        {
            const std::lock_guard lock(mutex_);
            const std::optional<Attachment> &attachment = attachments_[place];
            if (!attachment || !views_[attachment->view].memory ||
                ledger_.busy(ledger_.memory_of(attachment->view))) {
                return false;
            }
            dirty = ledger_.only_at(attachment->view);
            if (dirty.empty()) {
                drop_memory(attachment->view);
                return true;
            }
        }
        if (!write_back(dirty)) {
            return false;
        }
    }
    return false;
}

bool StorageState::write_back(const RangeSet &dirty) {
    if (runtime_->continuations->running_here()) {
        return false; // inside a callback nothing can be waited for
    }
    const auto whole = std::make_shared<BufferState>();
    whole->storage = shared_from_this();
    whole->range = {0, description_.size};
    try {
        for (const Range &range : dirty.ranges()) {
            const auto host = try_acquire(whole, host_place, Access::read, range);
            for (const Dependency &dependency : host->dependencies) {
                dependency.completion->wait_until(Completion::Clock::time_point::max());
                if (dependency.data && dependency.completion->result() != PI_SUCCESS) {
                    return false;
                }
            }
            release(*host, nullptr);
        }
    } catch (const Error &) {
        return false; // no way to the host; the acquire that asked for room says that there is none
    }
    for (SharedCounters *counters : {&counters_, &runtime_->counters}) {
        counters->update([&](Counters &sum) { sum.bytes_written_back += dirty.bytes(); });
    }
    return true;
}

void StorageState::drop_memory(ViewId view) {
    ledger_.forget(view);
    for (std::optional<Attachment> &attachment : attachments_) {
        if (attachment && attachment->view == view) {
            attachment.reset();
        }
    }
    views_[view].mem.reset();
    views_[view].memory.drop();
    runtime_->residents.remove(views_[view].home, this);
    for (SharedCounters *counters : {&counters_, &runtime_->counters}) {
        counters->update([](Counters &sum) { ++sum.evictions; });
    }
}

} // namespace pi::runtime
