// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The USM allocations of an instance, by address.
#pragma once

#include <pi/sdk/usm_memory.hpp>

#include <atomic>
#include <optional>
#include <vector>

namespace pi::sdk {

/// A USM allocation.
template <class Memory>
struct UsmAllocation {
    UsmBlock<Memory> block;
    uint64_t size;
    pi_usm_kind kind;
    pi_device device;     ///< NULL for PI_USM_HOST
    const void *context;  ///< the plugin's object
    bool freeing = false; ///< a command is going to free it
};

/// The allocation that an address lies in.
template <class Memory>
struct UsmRange {
    std::byte *base;
    uint64_t size;
    pi_usm_kind kind;
    pi_device device;
    const void *context;
    std::shared_ptr<UsmPoolMemory<Memory>> pool; ///< NULL for none

    /// The offset of the address in the allocation.
    uint64_t offset_of(const void *pointer) const {
        return static_cast<uint64_t>(static_cast<const std::byte *>(pointer) - base);
    }
    /// The number of bytes from the address to the end.
    uint64_t left(const void *pointer) const { return size - offset_of(pointer); }
};

/// The live allocations of an instance, by address. A context frees its remaining ones by drop().
/// Thread-safe; a lookup is logarithmic in their number.
template <class Memory>
class UsmTable {
public:
    using Allocation = UsmAllocation<Memory>;
    using Range = UsmRange<Memory>;

    /// The pools of the instance.
    UsmPools<Memory> &pools() { return pools_; }

    /// Returns the allocation's address.
    void *add(Allocation allocation);
    /// nullopt if the address lies in no live allocation of any context.
    std::optional<Range> find(const void *pointer) const;
    /// As find, but throws PI_ERROR_INVALID_USM_POINTER, naming the argument.
    Range get(const void *pointer, const char *name) const;

    /// A number that changes whenever an allocation is added or freed, and never repeats: while it
    /// is the same, an address within an allocation stays in that allocation. Never 0.
    uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

    /// Frees the allocation that begins at this address. PI_ERROR_INVALID_USM_POINTER unless this
    /// context has one that no command is going to free.
    void free(const void *context, const void *pointer);
    /// A free by a command: promise_free marks the allocation, so that no other call frees it;
    /// fulfil_free frees it, or withdraw_free unmarks it.
    void promise_free(const void *context, const void *pointer);
    void fulfil_free(const void *pointer);
    void withdraw_free(const void *pointer);

    /// Calls body(list) while no allocation is added or freed. list(kinds) returns the start of
    /// every allocation of the context whose kind is in `kinds` (1 << kind). `body` must not use
    /// anything else of this table but generation().
    template <class Body>
    void with_addresses(const void *context, Body &&body) const;

    /// Frees the remaining allocations of a context that is being destroyed.
    void drop(const void *context);

private:
    using Allocations = std::map<const std::byte *, Allocation>;
    typename Allocations::const_iterator around(const void *pointer) const;
    typename Allocations::iterator freeable(const void *context, const void *pointer);

    void changed() { generation_.fetch_add(1, std::memory_order_release); }

    UsmPools<Memory> pools_;
    std::atomic<uint64_t> generation_{1}; ///< written under the lock
    mutable std::mutex mutex_;            ///< a pool's mutex is never taken under it
    Allocations allocations_;             ///< by their start; they do not overlap
};

template <class Memory>
void *UsmTable<Memory>::add(Allocation allocation) {
    std::byte *const begin = allocation.block.data();
    const std::lock_guard lock(mutex_);
    allocations_.emplace(begin, std::move(allocation));
    changed();
    return begin;
}

template <class Memory>
typename UsmTable<Memory>::Allocations::const_iterator
UsmTable<Memory>::around(const void *pointer) const {
    const auto *address = static_cast<const std::byte *>(pointer);
    auto entry = allocations_.upper_bound(address);
    if (entry == allocations_.begin())
        return allocations_.end();
    --entry;
    const bool inside = static_cast<uint64_t>(address - entry->first) < entry->second.size;
    return inside ? entry : allocations_.end();
}

template <class Memory>
std::optional<UsmRange<Memory>> UsmTable<Memory>::find(const void *pointer) const {
    const std::lock_guard lock(mutex_);
    const auto entry = around(pointer);
    if (entry == allocations_.end())
        return std::nullopt;
    const Allocation &found = entry->second;
    return Range{found.block.data(), found.size,    found.kind,
                 found.device,       found.context, found.block.home()};
}

template <class Memory>
UsmRange<Memory> UsmTable<Memory>::get(const void *pointer, const char *name) const {
    std::optional<Range> range = find(pointer);
    if (!range)
        fail(PI_ERROR_INVALID_USM_POINTER, name, ' ', pointer,
             " is not an address in a live USM allocation");
    return std::move(*range);
}

template <class Memory>
typename UsmTable<Memory>::Allocations::iterator UsmTable<Memory>::freeable(const void *context,
                                                                            const void *pointer) {
    const auto found = around(pointer);
    if (found == allocations_.end())
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " is not the address of a live USM allocation: it is freed already, or was never one");
    const auto &[begin, allocation] = *found;
    const void *const base = begin;
    if (pointer != base)
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " lies within a USM allocation, which is freed by its start, ", base);
    if (allocation.context != context)
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " is a USM allocation of another context");
    if (allocation.freeing)
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " is to be freed by a command already");
    return allocations_.find(begin);
}

template <class Memory>
void UsmTable<Memory>::free(const void *context, const void *pointer) {
    typename Allocations::node_type gone; // destroyed without the lock
    const std::lock_guard lock(mutex_);
    gone = allocations_.extract(freeable(context, pointer));
    changed();
}

template <class Memory>
void UsmTable<Memory>::promise_free(const void *context, const void *pointer) {
    const std::lock_guard lock(mutex_);
    freeable(context, pointer)->second.freeing = true;
}

template <class Memory>
void UsmTable<Memory>::fulfil_free(const void *pointer) {
    typename Allocations::node_type gone;
    const std::lock_guard lock(mutex_);
    gone = allocations_.extract(static_cast<const std::byte *>(pointer));
    changed();
}

template <class Memory>
void UsmTable<Memory>::withdraw_free(const void *pointer) {
    const std::lock_guard lock(mutex_);
    allocations_.find(static_cast<const std::byte *>(pointer))->second.freeing = false;
}

template <class Memory>
template <class Body>
void UsmTable<Memory>::with_addresses(const void *context, Body &&body) const {
    const std::lock_guard lock(mutex_);
    std::forward<Body>(body)([&](uint32_t kinds) {
        std::vector<void *> addresses;
        for (const auto &[begin, allocation] : allocations_)
            if (allocation.context == context && kinds >> allocation.kind & 1)
                addresses.push_back(allocation.block.data());
        return addresses;
    });
}

template <class Memory>
void UsmTable<Memory>::drop(const void *context) {
    Allocations gone;
    const std::lock_guard lock(mutex_);
    changed();
    for (auto entry = allocations_.begin(); entry != allocations_.end();) {
        const auto next = std::next(entry);
        if (entry->second.context == context)
            gone.insert(allocations_.extract(entry));
        entry = next;
    }
}

} // namespace pi::sdk
