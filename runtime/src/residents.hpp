// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/topology.hpp>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::runtime {

class StorageState;

/// Which storages have memory of their own at each place, so that room can be made. Thread-safe; no lock
/// is held while a storage is asked.
///
/// Who goes is decided as GreedyDual does (N. Young, 1994), which is LRU where all replicas cost the same.
/// Keeping a replica is worth what it would cost to bring it again, and a quarter of what must be written
/// back (a quarter, as the host mostly wants these bytes sooner or later anyway). The place's age is the
/// worth of what went last, and each use renews a replica's worth on top of it. So of replicas used at
/// about the same time clean ones go first, and dirty ones that nobody uses go before clean ones in use.
class Residents {
public:
    explicit Residents(std::shared_ptr<const Topology> topology)
        : topology_(std::move(topology)), places_(topology_->size()) {}

    void add(PlaceIndex place, std::weak_ptr<StorageState> storage);
    void remove(PlaceIndex place, const StorageState *storage);

    /// What a use at this place now is worth on top of.
    double age(PlaceIndex place) const {
        return places_.at(place).age.load(std::memory_order_relaxed);
    }

    /// Evicts one replica at the place's device that may be in the memory of the place's `scope`, not the place's
    /// own of `asking`: the one that is worth least among those not in use, once its dirty bytes are written back,
    /// which is waited for. When all are in use it waits until the one used longest ago is not, unless that is
    /// held. False if neither is possible, or inside a callback.
    bool make_room(PlaceIndex place, uint32_t scope, const StorageState &asking);

private:
    struct Place {
        std::map<const StorageState *, std::weak_ptr<StorageState>> storages;
        std::atomic<double> age{0};
    };

    std::vector<std::shared_ptr<StorageState>> at(PlaceIndex place);
    bool may_be_one_memory(PlaceIndex place, uint32_t scope, PlaceIndex other,
                           uint32_t other_scope) const;

    const std::shared_ptr<const Topology> topology_;
    std::mutex mutex_; // guards the storages
    std::vector<Place> places_;
};

} // namespace pi::runtime
