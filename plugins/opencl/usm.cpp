// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm.hpp"
#include "memory.hpp"

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

void Usm::require(const Device &device) {
    if (!device.usm_kinds())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(),
             " has no USM: neither cl_intel_unified_shared_memory, nor "
             "CL_DEVICE_SVM_COARSE_GRAIN_BUFFER in its CL_DEVICE_SVM_CAPABILITIES");
}

void Usm::require(const Context &context) {
    for (const Device *device : context.devices())
        if (device->usm_kinds())
            return;
    require(*context.devices().front());
}

Device &Usm::owner(const Context &context, pi_device device, pi_usm_kind kind) {
    const uint32_t wanted = 1u << kind;
    if (!device) {
        for (Device *one : context.devices())
            if (one->usm_kinds() & wanted)
                return *one;
    }
    Device &on = device ? context.checked_device(device) : *context.devices().front();
    require(on);
    if (!(on.usm_kinds() & wanted))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "kind is ", kind, "; ", on.name(),
             " has USM of other kinds only: its PI_DEVICE_INFO_USM_CAPABILITIES are ",
             on.usm_kinds());
    return on;
}

void Usm::check_scope(const Device &device, uint32_t scope) {
    check_global_scope(device, scope, "allocations by address");
}

uint64_t Usm::alignment(const Device &device, uint64_t asked) {
    if (asked > max_alignment(device))
        fail(PI_ERROR_INVALID_ALIGNMENT, "alignment is ", asked, "; on ", device.name(),
             " at most ", max_alignment(device), " can be honoured");
    return std::max(asked, min_alignment(device));
}

UsmMemory Usm::allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                        uint64_t alignment, uint64_t requirements) {
    if (requirements)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             requirements & PI_MEM_REQUIRE_PINNED ? "PI_MEM_REQUIRE_PINNED"
                                                  : "PI_MEM_REQUIRE_CONTIGUOUS",
             ": OpenCL promises neither pinned nor contiguous memory on ", device.name());
    check_allocation(device, size);
    return {context.id(), device, kind, size, alignment};
}

bool check_usm_argument(const Queue &queue, const void *pointer, const ArgumentName &name) {
    Usm::require(queue);
    const auto range = Usm::table(queue.context()).find(pointer);
    if (!range)
        return false;
    check_usm_context<Usm>(queue.context(), *range, pointer, name);
    return true;
}

} // namespace pi::opencl
