// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries about addresses, and hints for managed memory, which is host memory here and needs none.
#include "driver.hpp"

#include <cstring>

namespace pi::cuda::simulated {

namespace {

template <class T>
void answer(void *out, T value) {
    std::memcpy(out, &value, sizeof value);
}

void attribute_of(const Allocation &memory, CUpointer_attribute attribute, CUdeviceptr address,
                  void *out) {
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
        // Memory of pools and virtual memory belongs to a device, but to no context.
        return answer(out, memory.kind == Kind::pool || memory.kind == Kind::mapping
                               ? CUcontext(nullptr)
                               : memory.context->handle);
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        return answer<unsigned>(out, memory.host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
        return answer(out, address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
        need(memory.host() || memory.kind == Kind::managed, CUDA_ERROR_INVALID_VALUE);
        return answer(out, address);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
        return answer(out, memory.id);
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        return answer(out, memory.kind == Kind::managed);
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: {
        const Device *device = memory.charged_to ? memory.charged_to : memory.context->device;
        return answer(out, device->ordinal);
    }
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
        return answer(out, memory.kind == Kind::device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
        return answer(out, memory.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
        return answer(out, memory.size);
    case CU_POINTER_ATTRIBUTE_MAPPED:
        return answer(out, true);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
        return answer<std::uint64_t>(
            out, memory.kind == Kind::mapping ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
        return answer(out, memory.pool ? memory.pool->handle : CUmemoryPool(nullptr));
    default:
        throw Failure{CUDA_ERROR_INVALID_VALUE};
    }
}

/// Checks that the whole range is managed.
void check_managed(CUdeviceptr address, size_t size) {
    const std::shared_ptr<Allocation> memory = find_allocation(address);
    need(memory && memory->kind == Kind::managed && size > 0 && known(address, size),
         CUDA_ERROR_INVALID_VALUE);
}

void check_location(CUdevice device) {
    if (device != PI_CUDA_DEVICE_CPU)
        driver().device(device);
}

/// A device's ordinal, or the host.
CUdevice device_of(const CUmemLocation &location) {
    return location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : PI_CUDA_DEVICE_CPU;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address) {
    return call([&](Lock &) {
        const std::shared_ptr<Allocation> memory = find_allocation(address);
        need(out && memory, CUDA_ERROR_INVALID_VALUE);
        attribute_of(*memory, attribute, address, out);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAdvise(CUdeviceptr address, size_t size, CUmem_advise advice, CUdevice device) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        need(advice >= CU_MEM_ADVISE_SET_READ_MOSTLY && advice <= CU_MEM_ADVISE_UNSET_ACCESSED_BY,
             CUDA_ERROR_INVALID_VALUE);
        check_managed(address, size);
        if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION ||
            advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY)
            check_location(device);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice,
                        CUmemLocation location) {
    return cuMemAdvise(address, size, advice, device_of(location));
}

CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t size, CUdevice device, CUstream handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        check_managed(address, size);
        check_location(device);
        enqueue(*stream_of(handle, context), {});
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location,
                               unsigned int flags, CUstream stream) {
    if (flags != 0)
        return CUDA_ERROR_INVALID_VALUE;
    return cuMemPrefetchAsync(address, size, device_of(location), stream);
}

} // namespace pi::cuda
