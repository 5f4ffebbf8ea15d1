// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm.hpp"
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/address.hpp>

#include <unistd.h>

namespace pi::level_zero {

using namespace sdk;

// ----- allocation --------------------------------------------------------------------------------

Device &Usm::owner(const Context &context, pi_device device, pi_usm_kind kind) {
    Device &on = device ? context.checked_device(device) : *context.devices().front();
    if (!(on.usm_kinds() >> kind & 1))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "kind is ", kind, " (PI_USM_SHARED); ", on.name(),
             " has no shared allocations (sharedSingleDeviceAllocCapabilities)");
    return on;
}

void Usm::check_scope(const Device &device, uint32_t scope) {
    level_zero::check_scope(device, scope);
    if (scope != SCOPE_GLOBAL)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope is ", scope, " (", scope_names[scope],
             "); USM is in scope 0, and resides where its kind says");
}

uint64_t Usm::alignment(const Device &, uint64_t asked) {
    if (asked > level_zero::max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", asked, "; at most ",
             level_zero::max_alignment, " can be honoured");
    return std::max(asked, level_zero::min_alignment);
}

Storage Usm::allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                      uint64_t alignment, uint64_t requirements) {
    if (requirements & PI_MEM_REQUIRE_CONTIGUOUS)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_REQUIRE_CONTIGUOUS: Level Zero reports no physical addresses");
    if ((requirements & PI_MEM_REQUIRE_PINNED) && kind != PI_USM_HOST)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_PINNED: kind is ", kind,
             "; pinned memory is of kind PI_USM_HOST (", PI_USM_HOST, ")");
    if (kind != PI_USM_HOST)
        check_allocation(device, size);
    Place &place = context.place(device);
    place.require_alive();
    switch (kind) {
    case PI_USM_HOST:
        return Storage::in_host(place, size, alignment);
    case PI_USM_SHARED:
        return Storage::shared(place, size, alignment);
    default:
        return Storage::on_device(place, size, alignment);
    }
}

const void *Usm::source(const Device &device, pi_usm_kind kind) {
    if (kind == PI_USM_HOST)
        return nullptr;
    const Device *root = &device;
    while (root->parent())
        root = root->parent();
    return root;
}

// ----- access ------------------------------------------------------------------------------------

Place *owner_of(const UsmRange &range) {
    if (range.kind == PI_USM_HOST)
        return nullptr;
    return &static_cast<const Context *>(range.context)->place(Device::from(range.device));
}

void check_usable(const Queue &queue, const UsmRange &range, const void *pointer,
                  const ArgumentName &name) {
    check_usm_context<Usm>(queue.context(), range, pointer, name);
    const Place *owner = owner_of(range);
    if (!owner || owner == &queue.place())
        return;
    const bool shared = range.kind == PI_USM_SHARED;
    if (shared ? queue.device().access().sharedCrossDeviceAllocCapabilities &
                     ZE_MEMORY_ACCESS_CAP_FLAG_RW
               : queue.place().reaches(*owner))
        return;
    fail(PI_ERROR_INVALID_USM_POINTER, name, ' ', pointer, " is ", shared ? "shared " : "",
         "memory of ", owner->device().name(), ", which ", queue.device().name(),
         " cannot use: the connection is not UNIFIED");
}

void check_usm_argument(const Queue &queue, const void *pointer, const ArgumentName &name) {
    if (const auto range = Usm::table(queue.context()).find(pointer))
        check_usable(queue, *range, pointer, name);
}

// ----- the application's memory ------------------------------------------------------------------

namespace entries {

pi_result PI_CALL piUsmHostRegister(pi_context context, void *pointer, uint64_t size,
                                    uint64_t flags) {
    return call<Context>(context, [&](Context &self) {
        enforce<checks::check_registration>(pointer, size, flags);
        check_pointer_range(pointer, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), size);
        self.add_pin(static_cast<std::byte *>(pointer), size);
    });
}

pi_result PI_CALL piUsmHostUnregister(pi_context context, void *pointer) {
    return call<Context>(context,
                         [&](Context &self) { self.remove_pin(require(pointer, "pointer")); });
}

} // namespace entries
} // namespace pi::level_zero
