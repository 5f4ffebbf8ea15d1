// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the bytes of USM come from: the system, or a pool that keeps blocks for reuse.
#pragma once

#include "storage.hpp"

#include <pi/pi.h>

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

namespace pi::host {

class Device;
class UsmPoolMemory;

/// The next multiple of `alignment`, a power of two.
constexpr uint64_t align_up(uint64_t value, uint64_t alignment) {
    return (value + alignment - 1) & ~(alignment - 1);
}

/// The bytes of one allocation; they go back to their pool, or to the system, when it goes.
class UsmBlock {
public:
    /// Memory of the device's node. Demands and errors as those of Storage::allocate.
    UsmBlock(const Device &device, uint64_t size, uint64_t alignment, uint64_t demands)
        : storage_(Storage::allocate(device, size, alignment, demands)), bytes_(size), used_(size) {
    }
    /// A block of `home`, of which the application asked for `used` bytes.
    UsmBlock(std::shared_ptr<UsmPoolMemory> home, Storage storage, uint64_t bytes, uint64_t used)
        : home_(std::move(home)), storage_(std::move(storage)), bytes_(bytes), used_(used) {}
    UsmBlock(UsmBlock &&) = default;
    ~UsmBlock();

    std::byte *data() const { return storage_.data(); }
    /// NULL for memory of no pool.
    const std::shared_ptr<UsmPoolMemory> &home() const { return home_; }

private:
    std::shared_ptr<UsmPoolMemory> home_;
    Storage storage_;
    uint64_t bytes_, used_;
};

/// The memory of a pool. It outlives the pool's handle until the last of its blocks is back. Thread-safe.
class UsmPoolMemory : public std::enable_shared_from_this<UsmPoolMemory> {
public:
    /// Keeps up to `threshold` bytes for reuse and hands out at most `limit`; a limit of 0 is none.
    UsmPoolMemory(const Device &device, uint64_t threshold, uint64_t limit)
        : device_(device), threshold_(threshold), limit_(limit) {}

    /// A block that fits, a used one if there is one. PI_ERROR_OUT_OF_DEVICE_MEMORY, naming the limit or what
    /// the system says.
    UsmBlock take(uint64_t size, uint64_t alignment);
    /// By ~UsmBlock alone.
    void give_back(Storage storage, uint64_t bytes, uint64_t used) noexcept;

    /// Bytes taken from the system; of these, bytes that the application has asked for and not freed.
    uint64_t reserved() const;
    uint64_t used() const;

    /// The pool's handle while it has references, else NULL.
    pi_usm_pool handle() const;
    void open(pi_usm_pool handle);
    /// The handle's last reference is gone: nothing is kept for reuse any more.
    void close() noexcept;

private:
    /// Its alignment, its bytes, and a number that makes it unlike any other.
    using Key = std::tuple<uint64_t, uint64_t, uint64_t>;
    struct Idle {
        Key key;
        Storage storage;
    };
    using Idles = std::list<Idle>;

    void count_used(uint64_t size);
    /// A block that waits for reuse; NULL storage is told by an empty list.
    Idles find(uint64_t size, uint64_t alignment);
    Storage allocate(uint64_t bytes, uint64_t alignment);
    void keep(Storage storage, uint64_t bytes);
    /// Moves the blocks that have waited longest to `gone` until at most `bytes` wait.
    void trim(uint64_t bytes, Idles &gone) noexcept;

    const Device &device_;
    mutable std::mutex mutex_; ///< guards what follows
    uint64_t threshold_;
    const uint64_t limit_;
    pi_usm_pool handle_ = nullptr;
    uint64_t reserved_ = 0, used_ = 0, idle_bytes_ = 0, next_number_ = 0;
    Idles idle_; ///< those that have waited longest first
    std::map<Key, Idles::iterator> by_fit_;
};

} // namespace pi::host
