// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about each object of one plugin instance: a table by handle, in shards with a spinlock
// each. A lock is held for a few instructions only, and never during a call of the plugin.
#pragma once

#include "layers/validate/facts.hpp"

#include <pi/pi_plugin.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace pi::loader::validate {

/// A handle of any kind, and which of the objects that had this address is meant.
struct Reference {
    void *handle;
    pi_kind kind;
    uint64_t serial;
};

struct Object {
    void *handle = nullptr;
    pi_kind kind = 0;
    uint32_t references = 0;     ///< of the application
    uint32_t own_references = 0; ///< of the layer: in quarantine, or for a map
    uint32_t lent = 0;           ///< of the layer: lent to callers that got it from another object
    uint32_t pinned = 0;         ///< running callbacks that received it
    uint16_t creator = 0;        ///< the row of the function that created it
    bool immortal = false;       ///< not counted: plugins, platforms, root devices
    bool direct = false;         ///< never goes into quarantine
    bool host_event = false;
    bool busy = false; ///< in a call that the caller must synchronise
    uint64_t call = 0; ///< the number of that function's call
    uint64_t serial = 0;
    std::vector<Reference> lends;       ///< borrowed from this object while it lives
    std::shared_ptr<const Facts> facts; ///< of the type of its kind

    bool usable() const noexcept { return references != 0 || immortal || lent != 0 || pinned != 0; }
    bool known_to_plugin() const noexcept { return usable() || own_references != 0; }
    Reference reference() const noexcept { return {handle, kind, serial}; }
};

class SpinLock {
public:
    void lock() noexcept {
        for (int tries = 0; locked_.exchange(true, std::memory_order_acquire); ++tries) {
            if (tries >= 64)
                std::this_thread::yield();
        }
    }
    void unlock() noexcept { locked_.store(false, std::memory_order_release); }

private:
    std::atomic<bool> locked_{false};
};

/// The upper bits select a shard, others a position in its table.
inline uint64_t hash_of(const void *handle) noexcept {
    return (reinterpret_cast<uintptr_t>(handle) >> 4) * UINT64_C(0x9E3779B97F4A7C15);
}

/// Open addressing with linear probing; not thread-safe.
class ObjectTable {
public:
    Object *find(const void *handle, uint64_t hash) noexcept {
        if (slots_.empty())
            return nullptr;
        for (std::size_t i = home(hash);; i = next(i)) {
            if (slots_[i].handle == handle)
                return &slots_[i];
            if (slots_[i].handle == nullptr)
                return nullptr;
        }
    }
    /// Inserts a handle that is not in the table.
    Object &insert(void *handle, uint64_t hash);
    void erase(Object &object) noexcept;
    template <typename Visit>
    void for_each(Visit &&visit) {
        for (Object &slot : slots_) {
            if (slot.handle != nullptr)
                visit(slot);
        }
    }

private:
    std::size_t home(uint64_t hash) const noexcept { return (hash >> 20) & (slots_.size() - 1); }
    std::size_t next(std::size_t i) const noexcept { return (i + 1) & (slots_.size() - 1); }
    void grow();

    std::vector<Object> slots_;
    std::size_t used_ = 0;
};

class Registry {
public:
    static constexpr std::size_t shard_count = 64;

    /// Calls visit(Object *, ObjectTable &, hash) under the lock; nullptr if the handle is unknown.
    template <typename Visit>
    auto with(const void *handle, Visit &&visit) {
        const uint64_t hash = hash_of(handle);
        Shard &shard = shards_[hash >> 58];
        const std::scoped_lock lock(shard.lock);
        return visit(shard.table.find(handle, hash), shard.table, hash);
    }
    template <typename Visit>
    auto with_object(const void *handle, Visit &&visit) {
        return with(handle, [&](Object *object, ObjectTable &, uint64_t) { return visit(object); });
    }
    /// All objects, one shard after the other.
    template <typename Visit>
    void for_each(Visit &&visit) {
        for (Shard &shard : shards_) {
            const std::scoped_lock lock(shard.lock);
            shard.table.for_each(visit);
        }
    }

    uint64_t make_serial() noexcept { return serial_.fetch_add(1, std::memory_order_relaxed) + 1; }

    /// Remembers a released object for a while, so that messages can describe its handle. The
    /// oldest are forgotten.
    void remember_gone(const Reference &gone);

private:
    struct alignas(64) Shard {
        SpinLock lock;
        ObjectTable table;
    };

    std::array<Shard, shard_count> shards_;
    std::atomic<uint64_t> serial_{0};

    static constexpr std::size_t gone_count = 16384;
    std::mutex gone_mutex_;
    std::vector<Reference> gone_; ///< a ring
    std::size_t oldest_gone_ = 0;
};

} // namespace pi::loader::validate
