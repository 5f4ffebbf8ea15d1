// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The memory of USM: the backend's, or blocks that a pool keeps for reuse. `Memory` is the
// backend's memory: movable, freed by its destructor, with `std::byte *data() const`.
#pragma once

#include <pi/sdk/address.hpp>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <tuple>
#include <utility>
#include <vector>

namespace pi::sdk {

template <class Memory>
class UsmPoolMemory;

/// The memory of one allocation. The destructor returns it to its pool or to the backend.
template <class Memory>
class UsmBlock {
public:
    /// Memory without a pool.
    explicit UsmBlock(Memory memory) : memory_(std::move(memory)) {}
    /// A block of the pool `home`; the application requested `used` bytes of it.
    UsmBlock(std::shared_ptr<UsmPoolMemory<Memory>> home, Memory memory, uint64_t bytes,
             uint64_t used)
        : home_(std::move(home)), memory_(std::move(memory)), bytes_(bytes), used_(used) {}
    UsmBlock(UsmBlock &&) noexcept = default;
    ~UsmBlock() {
        if (home_)
            home_->give_back(std::move(memory_), bytes_, used_);
    }

    std::byte *data() const { return memory_.data(); }
    /// NULL for memory without a pool.
    const std::shared_ptr<UsmPoolMemory<Memory>> &home() const { return home_; }

private:
    std::shared_ptr<UsmPoolMemory<Memory>> home_;
    Memory memory_;
    uint64_t bytes_ = 0, used_ = 0;
};

/// A pool's limits. All alignments are powers of two.
struct UsmPoolLimits {
    uint64_t threshold;     ///< the most bytes kept for reuse
    uint64_t limit;         ///< the most bytes allocated at once; 0: no limit
    uint64_t min_alignment; ///< the smallest alignment for take(); block sizes are multiples of it
    uint64_t max_alignment; ///< the largest alignment for take()
};

/// The memory of a pool. It outlives the pool's handle until its last block is returned.
/// Thread-safe.
template <class Memory>
class UsmPoolMemory : public std::enable_shared_from_this<UsmPoolMemory<Memory>> {
public:
    /// Allocates memory from the backend. Only called by take().
    using Allocate = std::function<Memory(uint64_t bytes, uint64_t alignment)>;
    UsmPoolMemory(Allocate allocate, const UsmPoolLimits &limits)
        : allocate_(std::move(allocate)), limits_(limits), threshold_(limits.threshold) {}

    /// Returns a block that fits, a kept one if possible. PI_ERROR_OUT_OF_DEVICE_MEMORY, naming the
    /// limit, or the backend's exception if the pool has no kept memory left to free.
    UsmBlock<Memory> take(uint64_t size, uint64_t alignment);
    /// Only called by ~UsmBlock.
    void give_back(Memory memory, uint64_t bytes, uint64_t used) noexcept;

    /// Bytes taken from the backend; and, of these, the bytes of allocations that the application
    /// has not freed.
    uint64_t reserved() const {
        const std::lock_guard lock(mutex_);
        return reserved_;
    }
    uint64_t used() const {
        const std::lock_guard lock(mutex_);
        return used_;
    }

    /// The pool's handle, or NULL once it has no references.
    pi_usm_pool handle() const {
        const std::lock_guard lock(mutex_);
        return handle_;
    }
    void open(pi_usm_pool handle) {
        const std::lock_guard lock(mutex_);
        handle_ = handle;
    }
    /// The handle's last reference is gone: frees what is kept, and keeps nothing more.
    void close() noexcept;
    /// Frees the kept blocks. False if there were none.
    bool free_idle() noexcept;

private:
    /// {alignment, bytes, a unique number}.
    using Key = std::tuple<uint64_t, uint64_t, uint64_t>;
    struct Idle {
        Key key;
        Memory memory;
    };
    using Idles = std::list<Idle>;

    /// The size of a new block: eight sizes for each power of two, from 1 MiB on, so that blocks
    /// fit slowly growing requests. At most an eighth of a block is unused.
    uint64_t block_size(uint64_t exact) const;
    void count_used(uint64_t size);
    /// A kept block that fits, or none.
    Idles find(uint64_t size, uint64_t alignment);
    Memory allocate(uint64_t bytes, uint64_t alignment);
    void keep(Memory memory, uint64_t bytes);
    /// Moves the blocks that were kept longest to `gone` until at most `bytes` are kept.
    void trim(uint64_t bytes, Idles &gone) noexcept;

    const Allocate allocate_;
    const UsmPoolLimits limits_;
    mutable std::mutex mutex_; ///< guards the members below
    uint64_t threshold_;
    pi_usm_pool handle_ = nullptr;
    uint64_t reserved_ = 0, used_ = 0, idle_bytes_ = 0, next_number_ = 0;
    Idles idle_; ///< kept longest first
    std::map<Key, typename Idles::iterator> by_fit_;
};

template <class Memory>
UsmBlock<Memory> UsmPoolMemory<Memory>::take(uint64_t size, uint64_t alignment) {
    count_used(size);
    try {
        if (Idles found = find(size, alignment); !found.empty()) {
            Idle &block = found.front();
            return {this->shared_from_this(), std::move(block.memory), std::get<1>(block.key),
                    size};
        }
        const uint64_t step = limits_.min_alignment;
        const uint64_t exact = size > UINT64_MAX - step ? size : align_up(size, step);
        if (const uint64_t bytes = block_size(exact); bytes != exact)
            try {
                return {this->shared_from_this(), allocate(bytes, alignment), bytes, size};
            } catch (const Error &) {
                // There may be room for the exact size.
            }
        return {this->shared_from_this(), allocate(exact, alignment), exact, size};
    } catch (...) {
        const std::lock_guard lock(mutex_);
        used_ -= size;
        throw;
    }
}

template <class Memory>
uint64_t UsmPoolMemory<Memory>::block_size(uint64_t exact) const {
    constexpr uint64_t smallest = uint64_t{1} << 20, largest = uint64_t{1} << 62;
    if (exact < smallest || exact > largest)
        return exact;
    const uint64_t bytes = align_up(exact, std::bit_floor(exact) / 8);
    return bytes > limits_.threshold ? exact : bytes;
}

template <class Memory>
void UsmPoolMemory<Memory>::count_used(uint64_t size) {
    const std::lock_guard lock(mutex_);
    const uint64_t limit = limits_.limit;
    if (limit && (size > limit || used_ > limit - size))
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "the pool's limit is ", limit, " bytes, ", used_,
             " of them are allocated: ", size, " more requested");
    used_ += size;
}

template <class Memory>
typename UsmPoolMemory<Memory>::Idles UsmPoolMemory<Memory>::find(uint64_t size,
                                                                  uint64_t alignment) {
    Idles found;
    const std::lock_guard lock(mutex_);
    for (; alignment <= limits_.max_alignment; alignment *= 2) {
        const auto entry = by_fit_.lower_bound(Key{alignment, size, 0});
        if (entry == by_fit_.end() || std::get<0>(entry->first) != alignment)
            continue;
        const uint64_t bytes = std::get<1>(entry->first);
        if (bytes / 2 > size && bytes > 2 * limits_.min_alignment)
            continue; // most of it would be unused
        found.splice(found.begin(), idle_, entry->second);
        by_fit_.erase(entry);
        idle_bytes_ -= bytes;
        break;
    }
    return found;
}

template <class Memory>
Memory UsmPoolMemory<Memory>::allocate(uint64_t bytes, uint64_t alignment) {
    const auto counted = [&](Memory memory) {
        const std::lock_guard lock(mutex_);
        reserved_ += bytes;
        return memory;
    };
    try {
        return counted(allocate_(bytes, alignment));
    } catch (const Error &) {
        if (!free_idle())
            throw;
    }
    return counted(allocate_(bytes, alignment));
}

template <class Memory>
void UsmPoolMemory<Memory>::give_back(Memory memory, uint64_t bytes, uint64_t used) noexcept {
    Idles gone; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    used_ -= used;
    if (bytes > threshold_) {
        reserved_ -= bytes;
        return;
    }
    try {
        keep(std::move(memory), bytes);
    } catch (const std::bad_alloc &) {
        reserved_ -= bytes;
    }
    trim(threshold_, gone);
}

template <class Memory>
void UsmPoolMemory<Memory>::keep(Memory memory, uint64_t bytes) {
    const Key key{alignment_of(memory.data(), limits_.max_alignment), bytes, next_number_++};
    Idles block;
    block.push_back({key, std::move(memory)});
    by_fit_.emplace(key, block.begin());
    idle_.splice(idle_.end(), block);
    idle_bytes_ += bytes;
}

template <class Memory>
void UsmPoolMemory<Memory>::trim(uint64_t bytes, Idles &gone) noexcept {
    while (idle_bytes_ > bytes) {
        const Key key = idle_.front().key;
        by_fit_.erase(key);
        idle_bytes_ -= std::get<1>(key);
        reserved_ -= std::get<1>(key);
        gone.splice(gone.end(), idle_, idle_.begin());
    }
}

template <class Memory>
bool UsmPoolMemory<Memory>::free_idle() noexcept {
    Idles gone; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    trim(0, gone);
    return !gone.empty();
}

template <class Memory>
void UsmPoolMemory<Memory>::close() noexcept {
    Idles gone;
    const std::lock_guard lock(mutex_);
    handle_ = nullptr;
    threshold_ = 0;
    trim(0, gone);
}

/// The pools of an instance. Before an allocation fails for lack of memory, all pools of that
/// memory free the blocks that they keep. Thread-safe.
template <class Memory>
class UsmPools {
public:
    /// `source` identifies the memory that the pool's blocks come from: an address common to all
    /// allocations there.
    void add(const void *source, const std::shared_ptr<UsmPoolMemory<Memory>> &pool) {
        const std::lock_guard lock(mutex_);
        std::erase_if(pools_, [](const Pool &each) { return each.second.expired(); });
        pools_.emplace_back(source, pool);
    }

    /// Frees the kept blocks of all pools of that memory. True if there were any, or if blocks were
    /// freed since times_freed() returned `times`.
    bool free_idle(const void *source, uint64_t times = 0) {
        std::vector<std::shared_ptr<UsmPoolMemory<Memory>>> found;
        {
            const std::lock_guard lock(mutex_);
            for (const auto &[of, pool] : pools_)
                if (auto alive = of == source ? pool.lock() : nullptr)
                    found.push_back(std::move(alive));
        }
        // One thread at a time: no thread fails while another is about to free.
        const std::lock_guard lock(freeing_);
        for (const auto &pool : found)
            times_freed_ += pool->free_idle() ? 1 : 0;
        return times_freed_ != times;
    }
    uint64_t times_freed() const { return times_freed_.load(); }

    /// Returns allocate(); if that finds no memory, calls it once more after free_idle().
    template <class Allocate>
    auto with_room(const void *source, Allocate &&allocate) {
        const uint64_t times = times_freed();
        try {
            return allocate();
        } catch (const Error &error) {
            const bool no_memory = error.code() == PI_ERROR_OUT_OF_DEVICE_MEMORY ||
                                   error.code() == PI_ERROR_OUT_OF_HOST_MEMORY;
            if (!no_memory || !free_idle(source, times))
                throw;
        }
        return allocate();
    }

private:
    using Pool = std::pair<const void *, std::weak_ptr<UsmPoolMemory<Memory>>>;

    std::mutex mutex_; ///< guards the list
    std::vector<Pool> pools_;
    std::mutex freeing_; ///< locked while blocks return to the backend
    std::atomic<uint64_t> times_freed_{0};
};

} // namespace pi::sdk
