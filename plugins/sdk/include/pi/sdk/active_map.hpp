// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maps that the application has not unmapped, of memory that commands in a vendor's stream map,
// in place or through staging. (Memory that the plugin copies itself: map_table.hpp.)
#pragma once

#include <pi/sdk/object.hpp>

#include <algorithm>
#include <cstdint>
#include <list>
#include <mutex>
#include <utility>

namespace pi::sdk {

template <class Staging>
struct ActiveMap {
    void *pointer = nullptr;
    uint64_t offset = 0, size = 0; ///< bytes from the start of the mem
    uint64_t flags = 0;            ///< PI_MAP_
    Staging
        staging{}; ///< the pointer's memory, unless that is the mapped memory itself or host_ptr
};

/// One map or none. Commands make it before they run: adding it to a list then needs no memory.
template <class Map>
using OneMap = std::list<Map>;

/// The maps of one memory object. A Map has a `pointer`. Thread-safe.
template <class Map>
class ActiveMaps {
public:
    void add(OneMap<Map> &map) noexcept {
        std::lock_guard lock(mutex_);
        maps_.splice(maps_.end(), map);
    }
    /// Removes and returns a map for an unmap. PI_ERROR_INVALID_VALUE if no map has this pointer.
    OneMap<Map> take(const void *pointer) {
        std::lock_guard lock(mutex_);
        // Several maps with the same pointer are all for reading: any of them will do.
        const auto found = std::find_if(maps_.begin(), maps_.end(),
                                        [&](const Map &map) { return map.pointer == pointer; });
        if (found == maps_.end())
            fail(PI_ERROR_INVALID_VALUE, "pointer is ", pointer,
                 "; no map of this mem that is complete and not yet unmapped gave it (",
                 maps_.size(), " others did)");
        OneMap<Map> map;
        map.splice(map.end(), maps_, found);
        return map;
    }
    std::list<Map> take_all() {
        std::lock_guard lock(mutex_);
        return std::exchange(maps_, {});
    }

private:
    std::mutex mutex_;
    std::list<Map> maps_; ///< guarded by mutex_
};

/// The map that an unmap removes; it is added again if the unmap does not happen. Mem has
/// `ActiveMaps<Map> &maps()`.
template <class Mem, class Map>
class TakenMap {
public:
    TakenMap(Mem &mem, const void *pointer) : mem_(mem), map_(mem.maps().take(pointer)) {}
    TakenMap(TakenMap &&other) noexcept
        : mem_(other.mem_), map_(std::move(other.map_)), done_(std::exchange(other.done_, true)) {}
    ~TakenMap() {
        if (!done_)
            mem_->maps().add(map_);
    }
    Mem &mem() const { return *mem_; }
    const Map &map() const { return map_.front(); }
    void done() { done_ = true; }

private:
    const Ref<Mem> mem_;
    OneMap<Map> map_;
    bool done_ = false;
};

} // namespace pi::sdk
