// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/handle.hpp>
#include <pi/runtime/layout.hpp>
#include <pi/runtime/pool.hpp>
#include <pi/runtime/topology.hpp>

#include <atomic>
#include <compare>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::runtime {

class MemoryPool;

/// The requirements of memory. Memory made for one kind never serves another.
struct MemoryKind {
    PlaceIndex place = host_place;
    uint32_t scope = 0;
    uint64_t alignment = 0; ///< bytes; 0 = the scope's own
    uint64_t flags = 0;     ///< PI_MEM_REQUIRE_ bits
    MemoryLayout layout{};  ///< which has the size that it describes
    friend auto operator<=>(const MemoryKind &, const MemoryKind &) = default;
};

/// Device memory in use. The destructor returns it to the pool: nothing may use it any more then.
class PooledMemory {
public:
    PooledMemory() noexcept = default;
    PooledMemory(PooledMemory &&) noexcept = default;
    PooledMemory &operator=(PooledMemory &&other) noexcept;
    ~PooledMemory();

    pi_mem get() const noexcept { return mem_.get(); }
    uint64_t size() const noexcept { return size_; } ///< at least the requested size
    explicit operator bool() const noexcept { return static_cast<bool>(mem_); }
    /// Releases it to the plugin instead of the pool.
    void drop() noexcept;

private:
    friend class MemoryPool;
    std::shared_ptr<MemoryPool> pool_;
    MemoryKind kind_;
    uint64_t size_ = 0;
    Mem mem_;
};

/// Keeps the device memory of all places for use again. A scope without PI_SCOPE_POOLABLE is never
/// pooled. Thread-safe. A lookup takes logarithmic time in the number of blocks.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
public:
    /// `limit`: the most idle bytes at each place; the longest idle are dropped first.
    MemoryPool(std::shared_ptr<const Topology> topology, uint64_t limit);

    /// An idle block, else new memory of the plugin: up to an eighth larger than the request, so
    /// that it serves others later. If the plugin has no memory left, drops the idle blocks of the
    /// place's device and tries once more, with the exact size. Throws the plugin's Error.
    PooledMemory take(const MemoryKind &kind, uint64_t size);
    /// Drops idle blocks, the longest idle first, until at most so many bytes are kept at the
    /// place.
    void trim(PlaceIndex place, uint64_t bytes_to_keep);
    /// Drops all idle blocks on the place's device, in any context, and waits for blocks that other
    /// threads are releasing there. False if there was neither.
    bool trim_device(PlaceIndex place);
    /// How often memory of the place's device was freed. The same number before and after a failed
    /// allocation means that no thread freed any meanwhile.
    uint64_t times_freed(PlaceIndex place) const noexcept {
        return places_[device_of_[place]].times_freed.load();
    }
    PoolStatistics statistics(PlaceIndex place) const;

private:
    friend class PooledMemory;
    struct Block {
        uint64_t size;
        Mem mem;
    };
    /// Keyed by kind and size; the lowest serial number is idle longest.
    using Blocks = std::map<std::pair<MemoryKind, std::pair<uint64_t, uint64_t>>, Block>;
    struct PlacePool {
        Blocks blocks;
        std::map<uint64_t, Blocks::iterator> by_age;
        PoolStatistics statistics;
        uint64_t releases_under_way = 0;      // to the plugin, without the lock
        std::atomic<uint64_t> times_freed{0}; // of the device; counted at its first place
    };

    bool is_pooled(const MemoryKind &kind) const;
    /// The size of new memory for so many bytes.
    uint64_t block_size(const MemoryKind &kind, uint64_t size) const;
    Mem find(const MemoryKind &kind, uint64_t size, uint64_t &found_size);
    Mem create(const MemoryKind &kind, uint64_t size) const;
    void recycle(PooledMemory &memory, bool keep) noexcept;
    void count_freed(PlaceIndex place) noexcept { ++places_[device_of_[place]].times_freed; }
    bool insert(PlacePool &pool, PooledMemory &memory) noexcept;
    static Blocks remove_oldest(PlacePool &pool, uint64_t bytes_to_keep) noexcept;
    template <class Dropped>
    void release(PlaceIndex place, Dropped dropped, std::unique_lock<std::mutex> lock) noexcept;

    const std::shared_ptr<const Topology> topology_;
    const uint64_t limit_;
    const std::vector<PlaceIndex> device_of_; // the first place of the same device
    mutable std::mutex mutex_;
    std::condition_variable released_;
    std::vector<PlacePool> places_;
    uint64_t next_ = 0;
};

} // namespace pi::runtime
