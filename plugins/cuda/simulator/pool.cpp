// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that is allocated and freed in stream order.
#include "driver.hpp"

#include <algorithm>

namespace pi::cuda::simulated {

namespace {

std::shared_ptr<Pool> pool_of(CUmemoryPool handle) {
    std::shared_ptr<Pool> pool = driver().pools.find(handle);
    need(pool != nullptr, CUDA_ERROR_INVALID_VALUE);
    return pool;
}

/// If memory is exhausted, waits for pending frees of the device before it fails, but for nothing
/// else.
std::shared_ptr<Allocation> allocate_patiently(Lock &lock, const std::shared_ptr<Context> &context,
                                               const std::shared_ptr<Pool> &pool, size_t size) {
    need(pool->max_size == 0 || (size <= pool->max_size && pool->used <= pool->max_size - size),
         CUDA_ERROR_OUT_OF_MEMORY);
    const std::vector<Point> work = work_of(*context);
    std::shared_ptr<Allocation> memory;
    driver().changed.wait(lock, [&] {
        const bool last = std::all_of(work.begin(), work.end(),
                                      [](const Point &point) { return point.reached(); });
        try {
            memory = allocate_on(*pool->device, context, size, Kind::pool);
        } catch (const Failure &failure) {
            need(failure.code == CUDA_ERROR_OUT_OF_MEMORY && !last, failure.code);
        }
        return memory != nullptr;
    });
    return memory;
}

CUresult allocate_async(CUdeviceptr *out, size_t size, const std::shared_ptr<Pool> &pool,
                        const std::shared_ptr<Stream> &stream, Lock &lock) {
    need(out, CUDA_ERROR_INVALID_VALUE);
    if (size == 0) {
        *out = 0;
        return CUDA_SUCCESS;
    }
    const std::shared_ptr<Allocation> memory =
        allocate_patiently(lock, stream->context, pool, size);
    memory->pool = pool;
    memory->live = false;
    pool->used += memory->charged;
    pool->used_high = std::max(pool->used_high, pool->used);
    enqueue(*stream, {.work = [memory](CUresult) {
        const Lock inner(driver().mutex);
        memory->live = true;
        return CUDA_SUCCESS;
    }});
    *out = memory->address;
    return CUDA_SUCCESS;
}

bool is_counter(CUmemPool_attribute attribute) {
    return attribute >= CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT &&
           attribute <= CU_MEMPOOL_ATTR_USED_MEM_HIGH;
}

bool is_switch(CUmemPool_attribute attribute) {
    return attribute >= CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES &&
           attribute <= CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemAllocAsync(CUdeviceptr *out, size_t size, CUstream handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        const std::shared_ptr<Stream> stream = stream_of(handle, context);
        return allocate_async(out, size, stream->context->device->current_pool, stream, lock);
    });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *out, size_t size, CUmemoryPool pool,
                                 CUstream handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &lock) {
        return allocate_async(out, size, pool_of(pool), stream_of(handle, context), lock);
    });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const std::shared_ptr<Stream> stream = stream_of(handle, context);
        if (address == 0)
            return CUDA_SUCCESS;
        const std::shared_ptr<Allocation> memory = find_allocation(address);
        need(memory && memory->address == address && !memory->freeing &&
                 (memory->kind == Kind::pool || memory->kind == Kind::device),
             CUDA_ERROR_INVALID_VALUE);
        memory->freeing = true;
        enqueue(*stream, {.work = [memory](CUresult) {
            const Lock inner(driver().mutex);
            memory->live = false;
            forget(*memory);
            return CUDA_SUCCESS;
        }});
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *out, CUdevice ordinal) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = driver().device(ordinal).default_pool->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetMemPool(CUmemoryPool *out, CUdevice ordinal) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = driver().device(ordinal).current_pool->handle;
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceSetMemPool(CUdevice ordinal, CUmemoryPool handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Pool> pool = pool_of(handle);
        Device &device = driver().device(ordinal);
        need(pool->device == &device, CUDA_ERROR_INVALID_VALUE);
        device.current_pool = pool;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolCreate(CUmemoryPool *out, const CUmemPoolProps *properties) {
    return call([&](Lock &) {
        need(out && properties && properties->allocType == CU_MEM_ALLOCATION_TYPE_PINNED &&
                 properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
             CUDA_ERROR_INVALID_VALUE);
        need(properties->handleTypes == CU_MEM_HANDLE_TYPE_NONE, CUDA_ERROR_NOT_SUPPORTED);
        auto pool = std::make_shared<Pool>();
        pool->device = &driver().device(properties->location.id);
        pool->max_size = properties->maxSize;
        *out = driver().pools.add(pool);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolDestroy(CUmemoryPool handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Pool> pool = pool_of(handle);
        need(!pool->is_default, CUDA_ERROR_INVALID_VALUE);
        // Devices that used it return to their default pool.
        if (pool->device->current_pool == pool)
            pool->device->current_pool = pool->device->default_pool;
        driver().pools.erase(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAccess(CUmemoryPool handle, const CUmemAccessDesc *grants, size_t count) {
    return call([&](Lock &) {
        const std::shared_ptr<Pool> pool = pool_of(handle);
        need(grants || count == 0, CUDA_ERROR_INVALID_VALUE);
        const auto owner = static_cast<size_t>(pool->device->ordinal);
        for (size_t i = 0; i < count; ++i) {
            const CUmemAccessDesc &grant = grants[i];
            need(grant.location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
            const Device &user = driver().device(grant.location.id);
            // Its own device always has both rights; they cannot be revoked.
            if (&user == pool->device)
                need(grant.flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, CUDA_ERROR_INVALID_VALUE);
            else
                need(driver().machine.access[static_cast<size_t>(user.ordinal)][owner],
                     CUDA_ERROR_INVALID_DEVICE);
            pool->access[user.ordinal] = grant.flags;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags *out, CUmemoryPool handle, CUmemLocation *location) {
    return call([&](Lock &) {
        const std::shared_ptr<Pool> pool = pool_of(handle);
        need(out && location && location->type == CU_MEM_LOCATION_TYPE_DEVICE,
             CUDA_ERROR_INVALID_VALUE);
        const Device &user = driver().device(location->id);
        *out =
            &user == pool->device ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : pool->access[user.ordinal];
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
    return call([&](Lock &) {
        const std::shared_ptr<Pool> pool = pool_of(handle);
        need(value, CUDA_ERROR_INVALID_VALUE);
        if (is_switch(attribute)) {
            pool->attributes[attribute] = static_cast<std::uint64_t>(*static_cast<int *>(value));
        } else {
            const std::uint64_t number = *static_cast<std::uint64_t *>(value);
            // High-water marks can only be reset.
            need(!is_counter(attribute) ||
                     (number == 0 && (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ||
                                      attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH)),
                 CUDA_ERROR_INVALID_VALUE);
            if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
                pool->attributes[attribute] = number;
            else
                pool->used_high = pool->used;
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool handle, CUmemPool_attribute attribute, void *value) {
    return call([&](Lock &) {
        const std::shared_ptr<Pool> pool = pool_of(handle);
        need(value, CUDA_ERROR_INVALID_VALUE);
        if (is_switch(attribute)) {
            const auto found = pool->attributes.find(attribute);
            *static_cast<int *>(value) = found == pool->attributes.end() || found->second != 0;
        } else if (is_counter(attribute)) {
            const bool high = attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH ||
                              attribute == CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH;
            *static_cast<std::uint64_t *>(value) = high ? pool->used_high : pool->used;
        } else {
            *static_cast<std::uint64_t *>(value) = pool->attributes[attribute];
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemPoolTrimTo(CUmemoryPool handle, size_t) {
    return call([&](Lock &) {
        pool_of(handle); // pools keep no unused memory
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
