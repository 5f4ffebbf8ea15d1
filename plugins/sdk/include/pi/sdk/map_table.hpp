// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The maps of a memory object that the application holds.
#pragma once

#include <pi/sdk/layout.hpp>

#include <map>
#include <mutex>
#include <optional>
#include <vector>

namespace pi::sdk {

/// Which pointers the maps of one memory object have given or will give. A map of flat memory that the host can address
/// gives the memory itself; one of an n-D allocation, or of other memory, a dense copy, which the unmap brings back.
/// Thread-safe.
class MapTable {
public:
    /// What a map is of. Of several maps with one pointer, all of them for reading, the largest.
    struct Range {
        uint64_t offset, size;
        uint64_t flags; ///< PI_MAP_
    };

    /// A map has been enqueued: the pointer that it will give. Unless `in_place`, this is a copy even of flat memory.
    void *promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc, bool in_place = true);
    /// It has run; it will never run.
    void fulfil(const LogicalBytes &bytes, const void *pointer);
    void withdraw(const void *pointer);
    /// Whether an unmap may be enqueued, and of what: the pointer is mapped, or will be.
    std::optional<Range> find(const void *pointer) const;
    /// An unmap runs; false if the pointer is not mapped.
    bool unmap(const LogicalBytes &bytes, const void *pointer);

private:
    struct Entry {
        uint32_t promised = 0, mapped = 0;
        Range range{};
        std::vector<std::byte> copy; ///< dense, one map's own; empty: the memory itself is mapped
    };
    void drop_if_unused(std::map<const void *, Entry>::iterator entry);

    mutable std::mutex mutex_;
    std::map<const void *, Entry> entries_;
};

inline void *MapTable::promise(const LogicalBytes &bytes, const pi_buffer_map_desc &desc,
                               bool in_place) {
    std::vector<std::byte> copy;
    void *pointer = bytes.at(desc.offset);
    if (!in_place || bytes.run(desc.offset) < desc.size) {
        copy.resize(desc.size);
        pointer = copy.data();
    }
    std::lock_guard lock(mutex_);
    Entry &entry = entries_[pointer];
    ++entry.promised;
    if (desc.size > entry.range.size)
        entry.range = {desc.offset, desc.size, desc.flags};
    if (!copy.empty())
        entry.copy = std::move(copy);
    return pointer;
}

inline void MapTable::fulfil(const LogicalBytes &bytes, const void *pointer) {
    std::lock_guard lock(mutex_);
    Entry &entry = entries_.at(pointer);
    if (!entry.copy.empty() && map_reads(entry.range.flags))
        copy_bytes(bytes, entry.range.offset, entry.copy.data(), 0, entry.copy.size());
    --entry.promised;
    ++entry.mapped;
}

inline void MapTable::withdraw(const void *pointer) {
    std::lock_guard lock(mutex_);
    const auto entry = entries_.find(pointer);
    --entry->second.promised;
    drop_if_unused(entry);
}

inline std::optional<MapTable::Range> MapTable::find(const void *pointer) const {
    std::lock_guard lock(mutex_);
    const auto entry = entries_.find(pointer);
    return entry == entries_.end() ? std::nullopt : std::optional(entry->second.range);
}

inline bool MapTable::unmap(const LogicalBytes &bytes, const void *pointer) {
    std::lock_guard lock(mutex_);
    const auto entry = entries_.find(pointer);
    if (entry == entries_.end() || !entry->second.mapped)
        return false;
    const Entry &mapped = entry->second;
    if (!mapped.copy.empty() && map_writes(mapped.range.flags))
        copy_bytes(mapped.copy.data(), 0, bytes, mapped.range.offset, mapped.copy.size());
    --entry->second.mapped;
    drop_if_unused(entry);
    return true;
}

inline void MapTable::drop_if_unused(std::map<const void *, Entry>::iterator entry) {
    if (!entry->second.promised && !entry->second.mapped)
        entries_.erase(entry);
}

/// A map between its enqueue and its unmap: withdrawn if the command never runs. Keeps the memory object alive.
template <class Mem>
class MapPromise {
public:
    /// `maps` is of `mem`; `bytes` are what the map is of.
    MapPromise(Mem &mem, MapTable &maps, const LogicalBytes &bytes, const pi_buffer_map_desc &desc,
               bool in_place = true)
        : mem_(mem), maps_(maps), bytes_(bytes), pointer_(maps.promise(bytes, desc, in_place)) {}
    MapPromise(MapPromise &&other) noexcept
        : mem_(std::move(other.mem_)), maps_(other.maps_), bytes_(other.bytes_),
          pointer_(std::exchange(other.pointer_, nullptr)) {}
    MapPromise &operator=(MapPromise &&) = delete;
    ~MapPromise() {
        if (pointer_)
            maps_.withdraw(pointer_);
    }
    Mem &mem() const { return *mem_; }
    /// The command has run: the map's pointer.
    void *fulfil() {
        maps_.fulfil(bytes_, pointer_);
        return std::exchange(pointer_, nullptr);
    }

private:
    Ref<Mem> mem_;
    MapTable &maps_;
    LogicalBytes bytes_;
    void *pointer_;
};

} // namespace pi::sdk
