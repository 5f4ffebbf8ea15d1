// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/topology.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::runtime {

class StorageState;

/// Which storages have memory of their own at each place, so that room can be made. Thread-safe; no lock
/// is held while a storage is asked.
class Residents {
public:
    explicit Residents(uint32_t places) : places_(places) {}

    void add(PlaceIndex place, std::weak_ptr<StorageState> storage);
    void remove(PlaceIndex place, const StorageState *storage);

    /// Evicts replicas at the place until at least so many bytes were freed: those first whose bytes are
    /// all valid elsewhere too, then those that must be written back, each least recently used first. Not
    /// those of `asking`. Waits for what is written back. False if nothing could be freed.
    bool make_room(PlaceIndex place, uint64_t bytes, const StorageState &asking);

private:
    std::vector<std::shared_ptr<StorageState>> at(PlaceIndex place);

    std::mutex mutex_;
    std::vector<std::map<const StorageState *, std::weak_ptr<StorageState>>> places_;
};

} // namespace pi::runtime
