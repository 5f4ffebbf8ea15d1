// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maps of a memory object that the application holds.
#pragma once

#include <pi/sdk/layout.hpp>

#include <algorithm>
#include <list>
#include <mutex>
#include <utility>
#include <vector>

namespace pi::sdk {

/// Which maps of one memory object there are. A map of flat memory that the host can address gives the memory itself; one of
/// an n-D allocation, or of other memory, a dense copy, which the unmap brings back. Several maps may have one pointer: those
/// for reading, and a new one beside the unmap of an old one that has not run. Each keeps its own range and flags.
/// Thread-safe.
class MapTable {
public:
    struct Range {
        uint64_t offset, size;
        uint64_t flags; ///< PI_MAP_
    };
    class Map;

    /// A map has been enqueued. Unless `in_place`, it gives a copy even of flat memory.
    Map &promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc, bool in_place = true);
    /// It has run: its pointer.
    void *fulfil(const LogicalBytes &bytes, Map &map);
    /// It will never run.
    void withdraw(Map &map);
    /// An unmap has been enqueued, and takes a map, even one that has not run, from all others; NULL if none has the pointer.
    Map *take(const void *pointer);
    /// It runs: the map is gone; false if it never was.
    bool unmap(const LogicalBytes &bytes, Map &map);
    /// It will never run: the map stays.
    void give_back(Map &map);

private:
    std::mutex mutex_;
    std::list<Map> maps_; ///< oldest first
};

/// The table's alone.
class MapTable::Map {
public:
    const Range &range() const { return range_; }

private:
    friend class MapTable;
    friend class std::list<Map>;
    enum class State { PROMISED, MAPPED, WITHDRAWN };

    Range range_{};
    std::vector<std::byte> copy_; ///< dense; empty: the memory itself is mapped
    void *pointer_ = nullptr;
    State state_ = State::PROMISED;
    bool taken_ = false; ///< by an unmap
};

inline MapTable::Map &MapTable::promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc,
                                        bool in_place) {
    std::list<Map> one(1);
    Map &map = one.front();
    map.range_ = {desc.offset, desc.size, desc.flags};
    map.pointer_ = bytes.at(desc.offset);
    if (!in_place || bytes.run(desc.offset) < desc.size) {
        map.copy_.resize(desc.size);
        map.pointer_ = map.copy_.data();
    }
    std::lock_guard lock(mutex_);
    maps_.splice(maps_.end(), one);
    return map;
}

inline void *MapTable::fulfil(const LogicalBytes &bytes, Map &map) {
    std::lock_guard lock(mutex_);
    if (!map.copy_.empty() && map_reads(map.range_.flags))
        copy_bytes(bytes, map.range_.offset, map.copy_.data(), 0, map.copy_.size());
    map.state_ = Map::State::MAPPED;
    return map.pointer_;
}

inline void MapTable::withdraw(Map &map) {
    std::lock_guard lock(mutex_);
    map.state_ = Map::State::WITHDRAWN;
    if (!map.taken_)
        maps_.remove_if([&](const Map &each) { return &each == &map; });
}

inline MapTable::Map *MapTable::take(const void *pointer) {
    std::lock_guard lock(mutex_);
    const auto found = std::find_if(maps_.begin(), maps_.end(), [&](const Map &map) {
        return map.pointer_ == pointer && !map.taken_;
    });
    if (found == maps_.end())
        return nullptr;
    found->taken_ = true;
    return &*found;
}

inline bool MapTable::unmap(const LogicalBytes &bytes, Map &map) {
    std::lock_guard lock(mutex_);
    if (map.state_ != Map::State::MAPPED)
        return false;
    if (!map.copy_.empty() && map_writes(map.range_.flags))
        copy_bytes(map.copy_.data(), 0, bytes, map.range_.offset, map.copy_.size());
    maps_.remove_if([&](const Map &each) { return &each == &map; });
    return true;
}

inline void MapTable::give_back(Map &map) {
    std::lock_guard lock(mutex_);
    map.taken_ = false;
    if (map.state_ == Map::State::WITHDRAWN)
        maps_.remove_if([&](const Map &each) { return &each == &map; });
}

/// A map between its enqueue and its run: withdrawn if the command never runs. Keeps the memory object alive.
template <class Mem>
class MapPromise {
public:
    /// `maps` is of `mem`; `bytes` are what the map is of.
    MapPromise(Mem &mem, MapTable &maps, const LogicalBytes &bytes, const pi_buffer_map_desc &desc,
               bool in_place = true)
        : mem_(mem), maps_(maps), bytes_(bytes), map_(&maps.promise(bytes, desc, in_place)) {}
    MapPromise(MapPromise &&other) noexcept
        : mem_(std::move(other.mem_)), maps_(other.maps_), bytes_(other.bytes_),
          map_(std::exchange(other.map_, nullptr)) {}
    MapPromise &operator=(MapPromise &&) = delete;
    ~MapPromise() {
        if (map_)
            maps_.withdraw(*map_);
    }
    Mem &mem() const { return *mem_; }
    /// The command has run: the map's pointer.
    void *fulfil() { return maps_.fulfil(bytes_, *std::exchange(map_, nullptr)); }

private:
    Ref<Mem> mem_;
    MapTable &maps_;
    LogicalBytes bytes_;
    MapTable::Map *map_;
};

/// An unmap between its enqueue and its run: the map stays if the command never runs. Keeps the memory object alive.
template <class Mem>
class UnmapPromise {
public:
    /// PI_ERROR_INVALID_VALUE if no map of `maps`, which are of `mem`, gave the pointer, or unmaps have taken all that did.
    UnmapPromise(Mem &mem, MapTable &maps, const void *pointer)
        : mem_(mem), maps_(maps), map_(maps.take(pointer)), pointer_(pointer) {
        if (!map_)
            fail(PI_ERROR_INVALID_VALUE, "pointer ", pointer,
                 " is not what a map of mem gave, or is unmapped already");
    }
    UnmapPromise(UnmapPromise &&other) noexcept
        : mem_(std::move(other.mem_)), maps_(other.maps_), map_(std::exchange(other.map_, nullptr)),
          pointer_(other.pointer_) {}
    UnmapPromise &operator=(UnmapPromise &&) = delete;
    ~UnmapPromise() {
        if (map_)
            maps_.give_back(*map_);
    }
    Mem &mem() const { return *mem_; }
    const MapTable::Range &range() const { return map_->range(); }
    /// The command runs: `bytes` are what the map was of. PI_ERROR_INVALID_VALUE if the map failed.
    void run(const LogicalBytes &bytes) {
        if (!maps_.unmap(bytes, *map_))
            fail(PI_ERROR_INVALID_VALUE, "pointer ", pointer_,
                 " was not mapped when the unmap ran");
        map_ = nullptr;
    }

private:
    Ref<Mem> mem_;
    MapTable &maps_;
    MapTable::Map *map_;
    const void *pointer_;
};

} // namespace pi::sdk
