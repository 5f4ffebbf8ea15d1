// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "cache_line.hpp"

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
/// The replica used longest ago goes first, and of those used at about the same time the clean ones: as much of a replica
/// as is dirty puts off its turn, by up to a third as many uses as there are replicas. (CFLRU, S. Park et al., 2006, looks
/// for clean pages in a window at the cold end; but bytes that are dirty in part are worth a part.) So dirty bytes that
/// nobody uses go before clean ones in use.
class Residents {
public:
    explicit Residents(std::shared_ptr<const Topology> topology);

    void add(PlaceIndex place, std::weak_ptr<StorageState> storage);
    /// Its destructor may, too.
    void remove(PlaceIndex place, const StorageState *storage);

    /// The number of a use that begins now of memory at that place, whose last one had the number `last`: uses in a row
    /// are one, so that they cost nothing. Two threads may get one number, as an order among them means nothing.
    uint64_t use(PlaceIndex place, uint64_t last) {
        std::atomic<uint64_t> &uses = places_[device_of_[place]].uses;
        uint64_t now = uses.load(std::memory_order_relaxed);
        if (now != last) {
            uses.store(++now, std::memory_order_relaxed);
        }
        return now;
    }

    /// Evicts one replica at the place's device that may be in the memory of the place's `scope`, not the place's
    /// own of `asking`: the one whose turn is first among those not in use, once its dirty bytes are written back,
    /// which is waited for. When all are in use it waits until the one used longest ago is not, unless that is
    /// held. False if neither is possible, or inside a callback.
    bool make_room(PlaceIndex place, uint32_t scope, const StorageState &asking);

private:
    struct alignas(cache_line) Place {
        std::map<const StorageState *, std::weak_ptr<StorageState>> storages;
        std::atomic<uint64_t> uses{
            1}; // of its device, where that has others as well: at the first of them
    };

    std::vector<std::shared_ptr<StorageState>> at(PlaceIndex place);
    bool may_be_one_memory(PlaceIndex place, uint32_t scope, PlaceIndex other,
                           uint32_t other_scope) const;

    const std::shared_ptr<const Topology> topology_;
    std::mutex mutex_; // guards the storages
    std::vector<Place> places_;
    std::vector<PlaceIndex> device_of_; // the first place of the same device
};

} // namespace pi::runtime
