// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pool.hpp"
#include "primary.hpp"

namespace pi::cuda {

MemoryPool::MemoryPool(Primary &primary) : primary_(primary) {
    const Device &device = primary.device();
    const Api &cu = primary.api();
    if (!device.has_pools())
        return;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.id()};
    if (cu.cuMemPoolCreate(&id_, &properties) != CUDA_SUCCESS) {
        id_ = nullptr;
        return;
    }
    // By default a pool releases its free memory at the next wait for a stream.
    uint64_t threshold = uint64_t{64} << 20;
    cu.cuMemPoolSetAttribute(id_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold);
}

CUstream MemoryPool::stream() {
    std::lock_guard lock(mutex_);
    if (!stream_)
        primary_.check(primary_.api().cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING),
                       "cuStreamCreate", "on ", primary_.device().name());
    return stream_;
}

CUresult MemoryPool::allocate(CUdeviceptr *out, uint64_t size) {
    const Api &cu = primary_.api();
    const CUstream in = stream();
    CUresult code = cu.cuMemAllocFromPoolAsync(out, size, id_, in);
    if (code != CUDA_SUCCESS)
        return code;
    // The memory is usually available at once, and polling is faster than waiting.
    code = CUDA_ERROR_NOT_READY;
    for (int tries = 100; code == CUDA_ERROR_NOT_READY && tries > 0; --tries)
        code = cu.cuStreamQuery(in);
    return code == CUDA_ERROR_NOT_READY ? cu.cuStreamSynchronize(in) : code;
}

CUresult MemoryPool::free(CUdeviceptr address) {
    return primary_.api().cuMemFreeAsync(address, stream());
}

CUresult MemoryPool::grant(const Device &user) const {
    if (!id_)
        return CUDA_SUCCESS;
    const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, user.id()},
                                CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    return primary_.api().cuMemPoolSetAccess(id_, &grant, 1);
}

void MemoryPool::trim() {
    if (!id_)
        return;
    {
        // The driver trims only what its stream has already freed.
        std::lock_guard lock(mutex_);
        if (stream_)
            primary_.note(primary_.api().cuStreamSynchronize(stream_));
    }
    primary_.api().cuMemPoolTrimTo(id_, 0);
}

void MemoryPool::close(bool lost) {
    if (stream_ && !lost)
        primary_.api().cuStreamDestroy_v2(stream_);
    if (id_)
        primary_.api().cuMemPoolDestroy(id_);
    stream_ = nullptr;
    id_ = nullptr;
}

} // namespace pi::cuda
