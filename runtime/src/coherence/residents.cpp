// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "coherence/residents.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace pi::runtime {

Residents::Residents(const TopologyDescription &topology, std::vector<PlaceIndex> device_of)
    : topology_(topology), places_(device_of.size()), device_of_(std::move(device_of)) {}

void Residents::add(PlaceIndex place, Resident &storage) {
    const std::lock_guard lock(mutex_);
    places_.at(place).storages[&storage] = storage.weak_from_this();
}

void Residents::remove(PlaceIndex place, const Resident *storage) {
    const std::lock_guard lock(mutex_);
    places_.at(place).storages.erase(storage);
    removed_.notify_all();
}

std::vector<std::shared_ptr<Resident>> Residents::at(PlaceIndex place) {
    std::vector<std::shared_ptr<Resident>> found;
    const std::lock_guard lock(mutex_);
    for (const auto &[key, resident] : places_.at(place).storages) {
        if (auto storage = resident.lock()) {
            found.push_back(std::move(storage));
        }
    }
    return found;
}

/// With the lock.
bool Residents::any_in_destruction(PlaceIndex place) const {
    for (PlaceIndex other = 0; other < places_.size(); ++other) {
        const auto &storages = places_[other].storages;
        if (device_of_[other] == device_of_[place] &&
            std::any_of(storages.begin(), storages.end(),
                        [](const auto &entry) { return entry.second.expired(); })) {
            return true;
        }
    }
    return false;
}

bool Residents::await_destruction(PlaceIndex place) {
    std::unique_lock lock(mutex_);
    const bool any = any_in_destruction(place);
    removed_.wait(lock, [&] { return !any_in_destruction(place); });
    return any;
}

/// Whether two scopes of one device may be one memory: such scopes report the same capacity.
bool Residents::may_be_one_memory(PlaceIndex place, uint32_t scope, PlaceIndex other,
                                  uint32_t other_scope) const {
    const pi_memory_scope &a = topology_.place(place).scopes.at(scope);
    const pi_memory_scope &b = topology_.place(other).scopes.at(other_scope);
    return std::string_view(a.name) == b.name || a.capacity == 0 || b.capacity == 0 ||
           a.capacity == b.capacity;
}

std::vector<Residents::Replica> Residents::replicas(PlaceIndex place, uint32_t scope,
                                                    const Resident &asking) {
    std::vector<Replica> found;
    for (PlaceIndex other = 0; other < device_of_.size(); ++other) {
        if (device_of_[other] != device_of_[place]) {
            continue;
        }
        for (std::shared_ptr<Resident> &storage : at(other)) {
            const bool own = storage.get() == &asking && other == place;
            const auto state = own ? std::nullopt : storage->replica(other);
            if (state && may_be_one_memory(place, scope, other, state->scope)) {
                found.push_back(
                    {std::move(storage), other, state->busy, state->dirty, state->last_use});
            }
        }
    }
    return found;
}

bool Residents::evict_idle(std::vector<Replica> &replicas) {
    const double put_off = static_cast<double>(replicas.size()) / 3;
    const auto turn = [put_off](const Replica &replica) {
        return static_cast<double>(replica.last_use) + put_off * replica.dirty;
    };
    std::sort(replicas.begin(), replicas.end(),
              [&](const Replica &a, const Replica &b) { return turn(a) < turn(b); });
    return std::any_of(replicas.begin(), replicas.end(), [](const Replica &victim) {
        return !victim.busy && victim.storage->evict(victim.place);
    });
}

bool Residents::await_uses(std::vector<Replica> &replicas) {
    std::sort(replicas.begin(), replicas.end(),
              [](const Replica &a, const Replica &b) { return a.last_use < b.last_use; });
    return std::any_of(replicas.begin(), replicas.end(), [](const Replica &replica) {
        return replica.busy && replica.storage->await_uses(replica.place);
    });
}

} // namespace pi::runtime
