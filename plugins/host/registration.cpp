// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "registration.hpp"

#include "entries.hpp"
#include "memory.hpp"
#include "plugin.hpp"

#include <pi/sdk/address.hpp>

#include <unistd.h>

namespace pi::host {

using sdk::fail;

namespace {

const void *to_pointer(uintptr_t address) {
    return reinterpret_cast<const void *>(address);
}

/// The registrations of a context, which are adjacent.
template <class Map>
auto of_context(Map &map, const Context &context) {
    const Context *const next = &context + 1;
    return std::pair(map.lower_bound({&context, nullptr}), map.lower_bound({next, nullptr}));
}

} // namespace

void Registrations::add(const Context &context, const void *pointer, uint64_t size) {
    const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    sdk::check_pointer_range(pointer, page, size);
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const uintptr_t begin = address / page * page, end = sdk::align_up(address + size, page);
    PinnedPages pages(to_pointer(begin), end - begin);
    if (!pages)
        fail(PI_ERROR_OUT_OF_RESOURCES, "the pages from ", to_pointer(begin), " to ",
             to_pointer(end), ", all of which must be mapped: ", pages.refusal());
    const std::lock_guard lock(mutex_);
    registered_.emplace(Key{&context, pointer}, std::move(pages));
}

void Registrations::remove(const Context &context, const void *pointer) {
    const std::lock_guard lock(mutex_);
    const auto [first, end] = registered_.equal_range(Key{&context, pointer});
    if (first == end)
        fail(PI_ERROR_INVALID_VALUE, "pointer ", pointer,
             " is not registered with this context: the pointer of a piUsmHostRegister is needed");
    registered_.erase(std::prev(end));
}

void Registrations::drop(const Context &context) {
    const std::lock_guard lock(mutex_);
    const auto [first, end] = of_context(registered_, context);
    registered_.erase(first, end);
}

namespace entries {

pi_result PI_CALL piUsmHostRegister(pi_context context, void *pointer, uint64_t size,
                                    uint64_t flags) {
    return sdk::call<Context>(context, [&](Context &self) {
        sdk::enforce<checks::check_registration>(pointer, size, flags);
        self.platform().instance().registrations().add(self, pointer, size);
    });
}

pi_result PI_CALL piUsmHostUnregister(pi_context context, void *pointer) {
    return sdk::call<Context>(context, [&](Context &self) {
        sdk::require(pointer, "pointer");
        self.platform().instance().registrations().remove(self, pointer);
    });
}

} // namespace entries

} // namespace pi::host
