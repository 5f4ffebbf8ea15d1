// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "addresses.hpp"

#include "check.hpp"

#include <mutex>

namespace pi::loader::validate {

Allocation Addresses::find(const void *pointer) const noexcept {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const std::shared_lock lock(mutex_);
    const auto behind = allocations_.upper_bound(address);
    if (behind == allocations_.begin())
        return {};
    const Allocation &found = std::prev(behind)->second;
    return address - found.begin < found.size ? found : Allocation{};
}

void Addresses::add(const Allocation &allocation) {
    const std::scoped_lock lock(mutex_);
    // Allocations that ended in a way that the layer does not see.
    auto next = allocations_.lower_bound(allocation.begin);
    if (next != allocations_.begin()) {
        const Allocation &before = std::prev(next)->second;
        if (before.begin + before.size > allocation.begin)
            --next;
    }
    while (next != allocations_.end() && next->first < allocation.begin + allocation.size)
        next = allocations_.erase(next);
    allocations_.insert_or_assign(allocation.begin, allocation);
}

Addresses::Taken Addresses::take(const void *pointer) noexcept {
    const std::scoped_lock lock(mutex_);
    return allocations_.extract(reinterpret_cast<uintptr_t>(pointer));
}

void Addresses::put_back(Taken taken) noexcept {
    const std::scoped_lock lock(mutex_);
    if (!taken.empty())
        allocations_.insert(std::move(taken));
}

void Addresses::forget(pi_context context) noexcept {
    const std::scoped_lock lock(mutex_);
    std::erase_if(allocations_, [&](const auto &row) { return row.second.context == context; });
}

void check_freed(Check &check, pi_context context, const void *pointer, const Name &name) noexcept {
    const Allocation found = check.validator().addresses().find(pointer);
    if (found.size == 0)
        return;
    const auto begin = reinterpret_cast<void *>(found.begin);
    if (begin != pointer)
        check.refuse(PI_ERROR_INVALID_USM_POINTER, name,
                     "is {}, {} bytes into the allocation at {}; the begin is needed", pointer,
                     reinterpret_cast<uintptr_t>(pointer) - found.begin, begin);
    if (context != nullptr && context != found.context)
        check.refuse(PI_ERROR_INVALID_USM_POINTER, name,
                     "is {}, of context {}; it must be of context {}", pointer,
                     static_cast<void *>(found.context), static_cast<void *>(context));
}

} // namespace pi::loader::validate
