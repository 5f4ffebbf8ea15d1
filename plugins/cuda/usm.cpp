// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm.hpp"
#include "entries.hpp"
#include "memory.hpp"

#include <pi/sdk/address.hpp>

#include <unistd.h>

namespace pi::cuda {

using namespace sdk;

// ----- allocation --------------------------------------------------------------------------------

Device &Usm::owner(const Context &context, pi_device device, pi_usm_kind kind) {
    Device &on = device ? context.checked_device(device) : *context.devices().front();
    if (!(on.usm_kinds() >> kind & 1))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "kind is ", kind, " (PI_USM_SHARED); ", on.name(),
             " has no managed memory that the host may access while it works "
             "(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)");
    return on;
}

void Usm::check_scope(const Device &device, uint32_t scope) {
    if (scope >= SCOPE_COUNT)
        fail(PI_ERROR_INVALID_VALUE, "scope is ", scope, "; ", device.name(), " has ",
             uint32_t{SCOPE_COUNT}, " scopes, numbered from 0");
    if (scope != SCOPE_GLOBAL)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "scope is ", scope, " (", scope_names[scope],
             "); USM is in scope 0, and resides where its kind says");
}

uint64_t Usm::alignment(const Device &, uint64_t asked) {
    if (asked > cuda::max_alignment)
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", asked, "; at most ", cuda::max_alignment,
             " can be honoured");
    return std::max(asked, cuda::min_alignment);
}

namespace {

Primary &primary_for(Context &context, Device &device, pi_usm_kind kind, uint64_t size) {
    if (kind == PI_USM_DEVICE && size > device.memory_size())
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "size is ", size, " bytes; ", device.name(), " has ",
             device.memory_size());
    Primary &primary = context.primary(device);
    primary.require_alive();
    return primary;
}

} // namespace

Storage Usm::allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                      uint64_t alignment, uint64_t requirements) {
    if (requirements & PI_MEM_REQUIRE_CONTIGUOUS)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "PI_MEM_REQUIRE_CONTIGUOUS: CUDA reports no physical addresses");
    if ((requirements & PI_MEM_REQUIRE_PINNED) && kind != PI_USM_HOST)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_REQUIRE_PINNED: kind is ", kind,
             "; pinned memory is of kind PI_USM_HOST (", PI_USM_HOST, ")");
    Primary &primary = primary_for(context, device, kind, size);
    switch (kind) {
    case PI_USM_HOST:
        return Storage::in_host(primary, size, alignment);
    case PI_USM_SHARED:
        return Storage::managed(primary, size, alignment);
    default:
        return Storage::on_device(primary, size, alignment);
    }
}

Storage Usm::allocate_pooled(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                             uint64_t alignment) {
    if (kind != PI_USM_DEVICE)
        return allocate(context, device, kind, size, alignment, 0);
    return Storage::pooled(primary_for(context, device, kind, size), size, alignment);
}

// ----- access ------------------------------------------------------------------------------------

Primary *owner_of(const UsmRange &range) {
    if (range.kind != PI_USM_DEVICE)
        return nullptr;
    return &static_cast<const Context *>(range.context)->primary(Device::from(range.device));
}

void check_usable(const Queue &queue, const UsmRange &range, const void *pointer,
                  const ArgumentName &name) {
    const Primary *owner = owner_of(range);
    if (owner && !queue.primary().access(*owner).granted)
        fail(PI_ERROR_INVALID_USM_POINTER, name, ' ', pointer, " is memory of ",
             owner->device().name(), ", which ", queue.device().name(),
             " cannot use: the connection is not UNIFIED");
}

void check_usm_argument(const Queue &queue, const void *pointer, const ArgumentName &name) {
    if (const auto range = Usm::table(queue.context()).find(pointer))
        check_usable(queue, *range, pointer, name);
}

// ----- the application's memory ------------------------------------------------------------------

namespace {

void require_registration(const Context &context) {
    for (const Device *device : context.devices())
        if (!device->registers_host_memory())
            fail(PI_ERROR_UNSUPPORTED_FEATURE, device->name(),
                 " cannot pin memory of the application "
                 "(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED is 0)");
}

} // namespace

namespace entries {

pi_result PI_CALL piUsmHostRegister(pi_context context, void *pointer, uint64_t size,
                                    uint64_t flags) {
    return call<Context>(context, [&](Context &self) {
        require_registration(self);
        enforce<checks::check_registration>(pointer, size, flags);
        check_pointer_range(pointer, static_cast<uint64_t>(sysconf(_SC_PAGESIZE)), size);
        self.add_pin(static_cast<std::byte *>(pointer), size);
    });
}

pi_result PI_CALL piUsmHostUnregister(pi_context context, void *pointer) {
    return call<Context>(context, [&](Context &self) {
        require_registration(self);
        self.remove_pin(require(pointer, "pointer"));
    });
}

} // namespace entries
} // namespace pi::cuda
