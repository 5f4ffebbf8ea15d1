// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm_register.hpp"

#include "entries.hpp"
#include "memory.hpp"
#include "physical.hpp"
#include "plugin.hpp"

#include <pi/sdk/address.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace pi::host {

using sdk::fail;

namespace {

void *as_pointer(uintptr_t address) {
    return reinterpret_cast<void *>(address);
}

/// Registrations of the context, which are neighbours.
template <class Map>
auto of_context(Map &map, const Context &context) {
    const Context *const next = &context + 1;
    return std::pair(map.lower_bound({&context, nullptr}), map.lower_bound({next, nullptr}));
}

} // namespace

PageLocks::Counts::iterator PageLocks::split(uintptr_t at) {
    const auto next = counts_.upper_bound(at);
    const uint32_t count = next == counts_.begin() ? 0 : std::prev(next)->second;
    return counts_.emplace(at, count).first;
}

void PageLocks::merge(uintptr_t begin, uintptr_t end) noexcept {
    for (auto entry = counts_.lower_bound(begin); entry != counts_.end() && entry->first <= end;) {
        const uint32_t before = entry == counts_.begin() ? 0 : std::prev(entry)->second;
        entry = entry->second == before ? counts_.erase(entry) : std::next(entry);
    }
}

void PageLocks::lock(uintptr_t begin, uintptr_t end) {
    const auto first = split(begin), last = split(end);
    for (auto part = first; part != last; ++part) {
        const uintptr_t until = std::next(part)->first;
        if (part->second || mlock(as_pointer(part->first), until - part->first) == 0)
            continue;
        const int error = errno;
        for (auto done = first; done != part; ++done)
            if (!done->second)
                munlock(as_pointer(done->first), std::next(done)->first - done->first);
        merge(begin, end);
        fail(PI_ERROR_OUT_OF_RESOURCES, "the pages from ", as_pointer(begin), " to ",
             as_pointer(end), ", all of which must be mapped: ", lock_refusal(end - begin, error));
    }
    for (auto part = first; part != last; ++part)
        ++part->second;
    merge(begin, end);
}

void PageLocks::unlock(uintptr_t begin, uintptr_t end) noexcept {
    try {
        const auto first = split(begin), last = split(end);
        for (auto part = first; part != last; ++part)
            if (--part->second == 0)
                munlock(as_pointer(part->first), std::next(part)->first - part->first);
        merge(begin, end);
    } catch (const std::bad_alloc &) {
        // The pages stay locked: that costs memory, not results.
    }
}

void Registrations::add(const Context &context, const void *pointer, uint64_t size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    sdk::check_pointer_range(pointer, page, size);
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const Pages pages{address / page * page, sdk::align_up(address + size, page)};
    const std::lock_guard lock(mutex_);
    const auto entry = registered_.emplace(Key{&context, pointer}, pages);
    try {
        locks_.lock(pages.begin, pages.end);
    } catch (...) {
        registered_.erase(entry);
        throw;
    }
}

void Registrations::remove(const Context &context, const void *pointer) {
    const std::lock_guard lock(mutex_);
    const auto [first, end] = registered_.equal_range(Key{&context, pointer});
    if (first == end)
        fail(PI_ERROR_INVALID_VALUE, "pointer ", pointer,
             " is not registered with this context: what piUsmHostRegister was given is needed");
    const auto newest = std::prev(end);
    locks_.unlock(newest->second.begin, newest->second.end);
    registered_.erase(newest);
}

void Registrations::drop(const Context &context) {
    const std::lock_guard lock(mutex_);
    const auto [first, end] = of_context(registered_, context);
    for (auto entry = first; entry != end; ++entry)
        locks_.unlock(entry->second.begin, entry->second.end);
    registered_.erase(first, end);
}

namespace entries {

pi_result PI_CALL usm_host_register(pi_context context, void *pointer, uint64_t size,
                                    uint64_t flags) {
    return sdk::call<Context>(context, [&](Context &self) {
        sdk::check_flags(flags, 0, "flags");
        sdk::require(pointer, "pointer");
        if (!size)
            fail(PI_ERROR_INVALID_SIZE, "size is 0 bytes; at least 1 is needed");
        self.platform().instance().registrations().add(self, pointer, size);
    });
}

pi_result PI_CALL usm_host_unregister(pi_context context, void *pointer) {
    return sdk::call<Context>(context, [&](Context &self) {
        sdk::require(pointer, "pointer");
        self.platform().instance().registrations().remove(self, pointer);
    });
}

} // namespace entries

} // namespace pi::host
