// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maps of a memory object that the application has not unmapped.
#pragma once

#include <pi/sdk/layout.hpp>

#include <algorithm>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace pi::sdk {

/// The maps of one memory object. A map of flat memory that the host can address returns the memory
/// itself; a map of an n-D allocation or of other memory returns a dense copy, which the unmap
/// writes back. Several maps may have the same pointer: maps for reading, any of which an unmap may
/// end; and, after an unmap that is enqueued but has not run, a new map of any kind. Each has its
/// own range and flags. Thread-safe.
class MapTable {
public:
    struct Range {
        uint64_t offset, size;
        uint64_t flags; ///< PI_MAP_
    };
    struct Map {
        Range range{};
        std::vector<std::byte> copy{}; ///< dense; empty: the memory itself is mapped
        void *pointer = nullptr;
        bool has_run = false;
    };
    using Handle = std::list<Map>::iterator;

    /// Adds an enqueued map. Unless `in_place`, it returns a copy even of flat memory.
    Handle promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc, bool in_place = true);
    /// The map has run; returns its pointer.
    void *fulfil(const LogicalBytes &bytes, Handle map);
    /// Removes a map that will never run.
    void withdraw(Handle map);
    /// Adds an enqueued unmap and returns the range that it unmaps; nothing if every map of the
    /// pointer, including those that have not run, has an unmap already.
    std::optional<Range> claim(const void *pointer);
    /// Runs an unmap: removes the oldest map of the pointer that has run. False if there is none.
    bool unmap(const LogicalBytes &bytes, const void *pointer);
    /// Removes an unmap that will never run; the map stays.
    void withdraw_claim(const void *pointer);

private:
    void drop_claim(const void *pointer);

    std::mutex mutex_;
    std::list<Map> maps_;                     ///< oldest first
    std::map<const void *, uint32_t> claims_; ///< enqueued unmaps by pointer; never 0
};

inline MapTable::Handle MapTable::promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc,
                                          bool in_place) {
    std::list<Map> one(1);
    Map &map = one.front();
    map.range = {desc.offset, desc.size, desc.flags};
    map.pointer = bytes.at(desc.offset);
    if (!in_place || bytes.run(desc.offset) < desc.size) {
        map.copy.resize(desc.size);
        map.pointer = map.copy.data();
    }
    std::lock_guard lock(mutex_);
    maps_.splice(maps_.end(), one);
    return std::prev(maps_.end());
}

inline void *MapTable::fulfil(const LogicalBytes &bytes, Handle map) {
    std::lock_guard lock(mutex_);
    if (!map->copy.empty() && map_reads(map->range.flags))
        copy_bytes(bytes, map->range.offset, map->copy.data(), 0, map->copy.size());
    map->has_run = true;
    return map->pointer;
}

inline void MapTable::withdraw(Handle map) {
    std::lock_guard lock(mutex_);
    maps_.erase(map);
}

inline std::optional<MapTable::Range> MapTable::claim(const void *pointer) {
    std::lock_guard lock(mutex_);
    // Unmaps take the maps in order, as far as the order matters.
    const auto claims = claims_.find(pointer);
    uint32_t claimed = claims == claims_.end() ? 0 : claims->second;
    for (const Map &map : maps_) {
        if (map.pointer != pointer)
            continue;
        if (claimed == 0) {
            ++claims_[pointer];
            return map.range;
        }
        --claimed;
    }
    return std::nullopt;
}

inline bool MapTable::unmap(const LogicalBytes &bytes, const void *pointer) {
    std::lock_guard lock(mutex_);
    drop_claim(pointer);
    const auto map = std::find_if(maps_.begin(), maps_.end(), [&](const Map &each) {
        return each.pointer == pointer && each.has_run;
    });
    if (map == maps_.end())
        return false;
    if (!map->copy.empty() && map_writes(map->range.flags))
        copy_bytes(map->copy.data(), 0, bytes, map->range.offset, map->copy.size());
    maps_.erase(map);
    return true;
}

inline void MapTable::withdraw_claim(const void *pointer) {
    std::lock_guard lock(mutex_);
    drop_claim(pointer);
}

inline void MapTable::drop_claim(const void *pointer) {
    const auto claims = claims_.find(pointer);
    if (--claims->second == 0)
        claims_.erase(claims);
}

/// An enqueued map: removed if the command never runs. Keeps the memory object alive.
template <class Mem>
class MapPromise {
public:
    /// `maps` is of `mem`; the map is of `bytes`.
    MapPromise(Mem &mem, MapTable &maps, const LogicalBytes &bytes, const pi_buffer_map_desc &desc,
               bool in_place = true)
        : mem_(mem), maps_(maps), bytes_(bytes), map_(maps.promise(bytes, desc, in_place)) {}
    MapPromise(MapPromise &&other) noexcept
        : mem_(std::move(other.mem_)), maps_(other.maps_), bytes_(other.bytes_), map_(other.map_),
          promised_(std::exchange(other.promised_, false)) {}
    MapPromise &operator=(MapPromise &&) = delete;
    ~MapPromise() {
        if (promised_)
            maps_.withdraw(map_);
    }
    Mem &mem() const { return *mem_; }
    /// The command has run; returns the map's pointer.
    void *fulfil() {
        promised_ = false;
        return maps_.fulfil(bytes_, map_);
    }

private:
    Ref<Mem> mem_;
    MapTable &maps_;
    LogicalBytes bytes_;
    MapTable::Handle map_;
    bool promised_ = true;
};

/// An enqueued unmap: the map stays if the command never runs. Keeps the memory object alive.
template <class Mem>
class UnmapPromise {
public:
    /// PI_ERROR_INVALID_VALUE if no map in `maps`, the maps of `mem`, has the pointer, or if each
    /// has an unmap.
    UnmapPromise(Mem &mem, MapTable &maps, const void *pointer)
        : mem_(mem), maps_(maps), pointer_(pointer), range_(maps.claim(pointer)) {
        if (!range_)
            fail(PI_ERROR_INVALID_VALUE, "pointer ", pointer,
                 " is not what a map of mem gave, or is unmapped already");
    }
    UnmapPromise(UnmapPromise &&other) noexcept
        : mem_(std::move(other.mem_)), maps_(other.maps_), pointer_(other.pointer_),
          range_(std::exchange(other.range_, std::nullopt)) {}
    UnmapPromise &operator=(UnmapPromise &&) = delete;
    ~UnmapPromise() {
        if (range_)
            maps_.withdraw_claim(pointer_);
    }
    Mem &mem() const { return *mem_; }
    const MapTable::Range &range() const { return *range_; }
    /// The command runs; the map was of `bytes`. PI_ERROR_INVALID_VALUE if the map has not run.
    void run(const LogicalBytes &bytes) {
        range_.reset();
        if (!maps_.unmap(bytes, pointer_))
            fail(PI_ERROR_INVALID_VALUE, "pointer ", pointer_,
                 " was not mapped when the unmap ran");
    }

private:
    Ref<Mem> mem_;
    MapTable &maps_;
    const void *pointer_;
    std::optional<MapTable::Range> range_;
};

} // namespace pi::sdk
