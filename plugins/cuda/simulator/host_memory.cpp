// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pinned host memory: at one address for the host and all devices.
#include "driver.hpp"

namespace pi::cuda::simulated {

namespace {

/// The pinned memory of that kind that begins there; throws `code` if there is none.
std::shared_ptr<Allocation> pinned_at(const void *pointer, Kind kind, CUresult code) {
    const auto &all = driver().allocations;
    const auto found = all.find(reinterpret_cast<CUdeviceptr>(pointer));
    need(found != all.end() && found->second->kind == kind, code);
    return found->second;
}

CUresult unpin(const void *pointer, Kind kind, CUresult code) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &lock) {
        const std::shared_ptr<Allocation> memory = pinned_at(pointer, kind, code);
        driver().wait(lock, work_of(*memory->context));
        forget(*memory);
        return CUDA_SUCCESS;
    });
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemHostAlloc(void **out, size_t size, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && !(flags & ~7U), CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Allocation> memory = allocate(context, size, Kind::host);
        memory->flags = flags;
        *out = memory->bytes;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemFreeHost(void *pointer) {
    return unpin(pointer, Kind::host, CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemHostRegister_v2(void *pointer, size_t size, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(pointer && size > 0 && !(flags & ~15U), CUDA_ERROR_INVALID_VALUE);
        need(driver().config.registration != Registration::none, CUDA_ERROR_NOT_SUPPORTED);
        need(driver().config.registration != Registration::refused, CUDA_ERROR_OUT_OF_MEMORY);
        const auto address = reinterpret_cast<CUdeviceptr>(pointer);
        const auto &all = driver().allocations;
        const auto next = all.lower_bound(address);
        need(!find_allocation(address) &&
                 (next == all.end() || next->second->address - address >= size),
             CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
        auto memory = std::make_shared<Allocation>();
        memory->kind = Kind::registered;
        memory->address = address;
        memory->size = size;
        memory->bytes = static_cast<char *>(pointer);
        memory->context = context;
        memory->flags = flags;
        remember(memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostUnregister(void *pointer) {
    return unpin(pointer, Kind::registered, CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *out, void *pointer, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const auto address = reinterpret_cast<CUdeviceptr>(pointer);
        const std::shared_ptr<Allocation> memory = find_allocation(address);
        need(out && flags == 0 && memory && memory->host(), CUDA_ERROR_INVALID_VALUE);
        *out = address;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemHostGetFlags(unsigned int *flags, void *pointer) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Allocation> memory =
            find_allocation(reinterpret_cast<CUdeviceptr>(pointer));
        need(flags && memory && memory->host(), CUDA_ERROR_INVALID_VALUE);
        // In the unified address space all pinned memory is mapped.
        *flags = memory->flags | CU_MEMHOSTALLOC_DEVICEMAP;
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
