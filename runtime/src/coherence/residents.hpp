// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"

#include <pi/runtime/topology.hpp>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace pi::runtime {

/// A storage, as far as it may have to give up replicas.
class Resident : public std::enable_shared_from_this<Resident> {
public:
    /// Its own memory at a place: whether an operation uses it, and what decides when it goes (see
    /// Residents).
    struct Replica {
        uint32_t scope = 0;
        bool busy = false;
        double dirty = 0; ///< the share of its bytes that are valid nowhere else
        uint64_t last_use = 0;
    };
    /// Empty if the place has none.
    virtual std::optional<Replica> replica(PlaceIndex place) = 0;
    /// Waits until every use that has begun is over. False, at once, while an acquisition of it is
    /// held.
    virtual bool await_uses(PlaceIndex place) = 0;
    /// Writes its dirty bytes back to the host, waits for that, and frees it. False, and nothing is
    /// lost, if an operation uses it by then or they cannot be written back.
    virtual bool evict(PlaceIndex place) = 0;

protected:
    ~Resident() = default;
};

/// Which storages have memory of their own at each place, so that room can be made. Thread-safe; it
/// holds no lock while it calls a storage.
///
/// The replica used longest ago goes first, and of those used at about the same time the clean
/// ones: a dirty replica's turn is put off in proportion to its dirty share, by at most a third as
/// many uses as there are replicas. (CFLRU, S. Park et al., 2006, looks for clean pages in a window
/// at the cold end; but a replica that is dirty in part is worth a part.) So dirty bytes that are
/// not used go before clean ones that are.
class Residents {
public:
    /// `device_of`: for each place the first one of the same device. The topology must outlive it.
    Residents(const TopologyDescription &topology, std::vector<PlaceIndex> device_of);

    void add(PlaceIndex place, Resident &storage);
    /// Call it once the storage's memory there is free, also from its destructor: a storage that
    /// has expired is about to be removed.
    void remove(PlaceIndex place, const Resident *storage);

    /// Numbers a use that begins now of memory at that place; `last` is the number of that memory's
    /// last use. Uses in a row get one number, so that they cost nothing. Two threads may get the
    /// same number: an order between them means nothing.
    uint64_t use(PlaceIndex place, uint64_t last) {
        std::atomic<uint64_t> &uses = places_[device_of_[place]].uses;
        uint64_t now = uses.load(std::memory_order_relaxed);
        if (now != last) {
            uses.store(++now, std::memory_order_relaxed);
        }
        return now;
    }

    /// A replica of a storage, as it was when replicas() read it.
    struct Replica {
        std::shared_ptr<Resident> storage;
        PlaceIndex place;
        bool busy;
        double dirty;
        uint64_t last_use;
    };

    /// The replicas at the place's device that may be in the memory of the place's `scope`, except
    /// for that of `asking` at the place itself.
    std::vector<Replica> replicas(PlaceIndex place, uint32_t scope, const Resident &asking);
    /// Evicts the first of these that is not in use. Waits until its dirty bytes are written back,
    /// except inside a callback: there it evicts only a clean one. False if there is none.
    static bool evict_idle(std::vector<Replica> &replicas);
    /// Waits until the one that was used longest ago is not in use any more; skips those that are
    /// held. False if there is none, or inside a callback.
    static bool await_uses(std::vector<Replica> &replicas);
    /// Waits for storages that other threads are destroying and that have memory of the place's
    /// device. False at once if there are none.
    bool await_destruction(PlaceIndex place);

private:
    struct alignas(cache_line) Place {
        std::map<const Resident *, std::weak_ptr<Resident>> storages;
        std::atomic<uint64_t> uses{1}; // of the device; counted at its first place
    };

    std::vector<std::shared_ptr<Resident>> at(PlaceIndex place);
    bool any_in_destruction(PlaceIndex place) const;
    bool may_be_one_memory(PlaceIndex place, uint32_t scope, PlaceIndex other,
                           uint32_t other_scope) const;

    const TopologyDescription &topology_;
    std::mutex mutex_; // guards the storages
    std::condition_variable removed_;
    std::vector<Place> places_;
    const std::vector<PlaceIndex> device_of_;
};

} // namespace pi::runtime
