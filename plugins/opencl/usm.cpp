// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "usm.hpp"
#include "memory.hpp"

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

namespace {

/// OpenCL promises alignment for its largest type; no allocation is aligned further.
constexpr uint64_t vendor_alignment = sizeof(cl_long16);

} // namespace

SvmMemory::SvmMemory(const Api &api, cl_context context, cl_svm_mem_flags flags, uint64_t size,
                     uint64_t alignment, const std::string &device)
    : api_(api), context_(context) {
    const uint64_t slack = alignment > vendor_alignment ? alignment : 0;
    begin_ = api.clSVMAlloc(context, flags, size + slack,
                            static_cast<cl_uint>(std::min(alignment, vendor_alignment)));
    if (!begin_)
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, "clSVMAlloc failed: ", size, " bytes, aligned to ",
             alignment, ", requested on ", device);
    auto *const first = static_cast<std::byte *>(begin_);
    const auto address = reinterpret_cast<uintptr_t>(begin_);
    data_ = first + (align_up(address, alignment) - address);
}

void Usm::require(const Device &device) {
    if (!device.usm_kinds())
        fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(),
             " has no USM: its CL_DEVICE_SVM_CAPABILITIES have no "
             "CL_DEVICE_SVM_COARSE_GRAIN_BUFFER");
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
             " has only coarse-grain SVM, of kind PI_USM_DEVICE (", PI_USM_DEVICE, ")");
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

SvmMemory Usm::allocate(Context &context, Device &device, pi_usm_kind kind, uint64_t size,
                        uint64_t alignment, uint64_t requirements) {
    if (requirements)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             requirements & PI_MEM_REQUIRE_PINNED ? "PI_MEM_REQUIRE_PINNED"
                                                  : "PI_MEM_REQUIRE_CONTIGUOUS",
             ": OpenCL promises neither pinned nor contiguous memory on ", device.name());
    check_allocation(device, size);
    cl_svm_mem_flags flags = CL_MEM_READ_WRITE;
    if (kind != PI_USM_DEVICE)
        flags |= CL_MEM_SVM_FINE_GRAIN_BUFFER | (device.svm_atomics() ? CL_MEM_SVM_ATOMICS : 0);
    return {context.api(), context.id(), flags, size, alignment, device.name()};
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
