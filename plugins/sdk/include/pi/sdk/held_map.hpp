// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maps that the application holds of memory that is mapped by commands in a vendor's stream: in place, or through
// staging. (Of memory that the plugin copies itself: map_table.hpp.)
#pragma once

#include <pi/sdk/object.hpp>

#include <algorithm>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace pi::sdk {

template <class Staging>
struct HeldMap {
    void *pointer = nullptr;
    uint64_t offset = 0, size = 0; ///< bytes from the mem's begin
    uint64_t flags = 0;            ///< PI_MAP_
    Staging
        staging{}; ///< what the pointer is in, if that is neither the memory itself nor host_ptr
};

/// Of one memory object. Thread-safe.
template <class Map>
class HeldMaps {
public:
    void add(Map map) {
        std::lock_guard lock(mutex_);
        maps_.push_back(std::move(map));
    }
    /// Takes a map out, for an unmap; PI_ERROR_INVALID_VALUE if there is none of this pointer.
    Map take(const void *pointer) {
        std::lock_guard lock(mutex_);
        // Of several maps with one pointer, all of them for reading, any will do.
        const auto found = std::find_if(maps_.begin(), maps_.end(),
                                        [&](const Map &map) { return map.pointer == pointer; });
        if (found == maps_.end())
            fail(PI_ERROR_INVALID_VALUE, "pointer is ", pointer,
                 "; no map of this mem that is complete and not yet unmapped gave it (",
                 maps_.size(), " others did)");
        Map map = std::move(*found);
        maps_.erase(found);
        return map;
    }

private:
    std::mutex mutex_;
    std::vector<Map> maps_; ///< guarded by mutex_
};

/// A map that an unmap is for: still there if the unmap does not happen. Mem has `HeldMaps<Map> &maps()`.
template <class Mem, class Map>
class TakenMap {
public:
    TakenMap(Mem &mem, const void *pointer) : mem_(mem), map_(mem.maps().take(pointer)) {}
    TakenMap(TakenMap &&other) noexcept
        : mem_(other.mem_), map_(std::move(other.map_)), done_(std::exchange(other.done_, true)) {}
    ~TakenMap() {
        if (!done_)
            mem_->maps().add(std::move(map_));
    }
    Mem &mem() const { return *mem_; }
    const Map &map() const { return map_; }
    void done() { done_ = true; }

private:
    const Ref<Mem> mem_;
    Map map_;
    bool done_ = false;
};

} // namespace pi::sdk
