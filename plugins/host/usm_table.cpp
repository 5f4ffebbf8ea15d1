// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm_table.hpp"

#include <pi/sdk/error.hpp>

namespace pi::host {

using sdk::fail;

void *UsmTable::add(UsmAllocation allocation) {
    std::byte *const begin = allocation.block.data();
    const std::lock_guard lock(mutex_);
    allocations_.emplace(begin, std::move(allocation));
    return begin;
}

UsmTable::Allocations::const_iterator UsmTable::around(const void *pointer) const {
    const auto *address = static_cast<const std::byte *>(pointer);
    auto entry = allocations_.upper_bound(address);
    if (entry == allocations_.begin())
        return allocations_.end();
    --entry;
    const bool inside = static_cast<uint64_t>(address - entry->first) < entry->second.size;
    return inside ? entry : allocations_.end();
}

std::optional<UsmRange> UsmTable::find(const void *pointer) const {
    const std::lock_guard lock(mutex_);
    const auto entry = around(pointer);
    if (entry == allocations_.end())
        return std::nullopt;
    const UsmAllocation &found = entry->second;
    return UsmRange{found.block.data(), found.size,    found.kind,
                    found.device,       found.context, found.block.home()};
}

UsmRange UsmTable::get(const void *pointer, const char *name) const {
    std::optional<UsmRange> range = find(pointer);
    if (!range)
        fail(PI_ERROR_INVALID_USM_POINTER, name, ' ', pointer,
             " is no address of a live USM allocation");
    return std::move(*range);
}

UsmTable::Allocations::iterator UsmTable::freeable(const Context &context, const void *pointer) {
    const auto found = around(pointer);
    if (found == allocations_.end())
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " is no address of a live USM allocation: it is freed already, or never was one");
    const auto &[begin, allocation] = *found;
    const void *const base = begin;
    if (pointer != base)
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " lies within a USM allocation, which is freed by its begin, ", base);
    if (allocation.context != &context)
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " is a USM allocation of another context");
    if (allocation.freeing)
        fail(PI_ERROR_INVALID_USM_POINTER, "pointer ", pointer,
             " is to be freed by a command already");
    return allocations_.find(begin);
}

void UsmTable::free(const Context &context, const void *pointer) {
    Allocations::node_type gone; // freed without the lock
    const std::lock_guard lock(mutex_);
    gone = allocations_.extract(freeable(context, pointer));
}

void UsmTable::promise_free(const Context &context, const void *pointer) {
    const std::lock_guard lock(mutex_);
    freeable(context, pointer)->second.freeing = true;
}

void UsmTable::fulfil_free(const void *pointer) {
    Allocations::node_type gone;
    const std::lock_guard lock(mutex_);
    gone = allocations_.extract(static_cast<const std::byte *>(pointer));
}

void UsmTable::withdraw_free(const void *pointer) {
    const std::lock_guard lock(mutex_);
    allocations_.find(static_cast<const std::byte *>(pointer))->second.freeing = false;
}

void UsmTable::drop(const Context &context) {
    Allocations gone;
    const std::lock_guard lock(mutex_);
    for (auto entry = allocations_.begin(); entry != allocations_.end();) {
        const auto next = std::next(entry);
        if (entry->second.context == &context)
            gone.insert(allocations_.extract(entry));
        entry = next;
    }
}

} // namespace pi::host
