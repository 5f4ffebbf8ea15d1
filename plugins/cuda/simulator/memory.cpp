// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copy.hpp"
#include "driver.hpp"
#include "ipc.hpp"

#include <algorithm>
#include <sys/uio.h>
#include <unistd.h>

namespace pi::cuda::simulated {

namespace {

/// Alignment of rows, as on real devices.
constexpr size_t pitch_alignment = 512;

} // namespace

void charge(Device &device, size_t size) {
    need(size <= device.model.capacity && device.used <= device.model.capacity - size,
         CUDA_ERROR_OUT_OF_MEMORY);
    device.used += size;
}

void remember(const std::shared_ptr<Allocation> &allocation) {
    allocation->id = driver().next_id++;
    driver().allocations[allocation->address] = allocation;
}

void forget(const Allocation &allocation) {
    if (allocation.charged_to)
        allocation.charged_to->used -= allocation.charged;
    if (allocation.pool)
        allocation.pool->used -= allocation.charged;
    driver().opened.erase(allocation.address);
    driver().allocations.erase(allocation.address);
}

std::shared_ptr<Allocation> allocate(const std::shared_ptr<Context> &context, size_t size,
                                     Kind kind) {
    return allocate_on(*context->device, context, size, kind);
}

std::shared_ptr<Allocation> allocate_on(Device &device, const std::shared_ptr<Context> &context,
                                        size_t size, Kind kind) {
    need(size > 0, CUDA_ERROR_INVALID_VALUE);
    need(size < (size_t(1) << 46), CUDA_ERROR_OUT_OF_MEMORY);
    auto allocation = std::make_shared<Allocation>();
    allocation->kind = kind;
    allocation->size = size;
    allocation->context = context;
    allocation->pages = MmapRegion(size, false);
    allocation->bytes = allocation->pages.bytes();
    if (kind == Kind::device)
        share(*allocation, device);
    if (kind == Kind::host || kind == Kind::managed)
        allocation->address = reinterpret_cast<CUdeviceptr>(allocation->bytes);
    else // never unmapped: no later memory gets a stale address
        allocation->address = reinterpret_cast<CUdeviceptr>(MmapRegion(size, true).release());
    if (kind != Kind::host) {
        const size_t charged = (size + 511) / 512 * 512;
        charge(device, charged);
        allocation->charged = charged;
        allocation->charged_to = &device;
    }
    drivers::fill_with_poison(allocation->bytes, size);
    remember(allocation);
    return allocation;
}

std::shared_ptr<Allocation> find_allocation(CUdeviceptr address) {
    const auto &all = driver().allocations;
    auto next = all.upper_bound(address);
    if (next == all.begin())
        return nullptr;
    const std::shared_ptr<Allocation> &found = std::prev(next)->second;
    return address - found->address < found->size ? found : nullptr;
}

std::optional<size_t> device_index(const Allocation &memory) {
    if (memory.host() || memory.kind == Kind::managed || !memory.context)
        return std::nullopt;
    return size_t(memory.context->device->ordinal);
}

bool known(CUdeviceptr address, size_t size) {
    for (size_t seen = 0; seen < size;) {
        const std::shared_ptr<Allocation> found = find_allocation(address + seen);
        if (!found || found->freeing)
            return false;
        seen = found->address + found->size - address;
    }
    return true;
}

namespace {

CUmemAccess_flags granted(const std::map<int, CUmemAccess_flags> &access, const Device &device) {
    const auto found = access.find(device.ordinal);
    return found == access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
}

/// Each allocator has its own grants: contexts for plain memory, a pool for its memory, virtual
/// memory for itself.
bool may_use(const Allocation &memory, const Context &context, bool write) {
    const Device &device = *context.device;
    const CUmemAccess_flags least =
        write ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_READ;
    switch (memory.kind) {
    case Kind::host:
    case Kind::registered:
    case Kind::managed:
        return true;
    case Kind::pool:
        return memory.pool->device == &device || granted(memory.pool->access, device) >= least;
    case Kind::mapping:
        return granted(memory.access, device) >= least;
    case Kind::device:
    case Kind::variable:
    case Kind::imported:
        break;
    }
    return memory.context.get() == &context || context.peers.count(memory.context->handle) == 1;
}

/// Whether the process itself can read the range.
bool readable(CUdeviceptr address, size_t size) {
    constexpr size_t page = 4096;
    for (CUdeviceptr at = address; at < address + size; at = at / page * page + page) {
        char byte = 0;
        const iovec here{&byte, 1}, there{reinterpret_cast<void *>(at), 1};
        if (process_vm_readv(getpid(), &here, 1, &there, 1, 0) != 1)
            return false;
    }
    return true;
}

} // namespace

Bytes reach(CUdeviceptr address, size_t size, const Context &context, bool write) {
    Bytes bytes;
    if (!find_allocation(address) && uses_pageable_memory(*context.device)) {
        need(readable(address, size), CUDA_ERROR_ILLEGAL_ADDRESS);
        bytes.data = reinterpret_cast<char *>(address);
        return bytes;
    }
    CUdeviceptr at = address;
    do {
        const std::shared_ptr<Allocation> found = find_allocation(at);
        need(found && found->live && may_use(*found, context, write), CUDA_ERROR_ILLEGAL_ADDRESS);
        char *const here = found->bytes + (at - found->address);
        if (!bytes.data)
            bytes.data = here;
        need(here == bytes.data + (at - address), CUDA_ERROR_ILLEGAL_ADDRESS);
        bytes.owners.push_back(found);
        at = found->address + found->size;
    } while (at - address < size);
    return bytes;
}

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t size) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = allocate(context, size, Kind::device)->address;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *out, size_t *pitch, size_t width, size_t height,
                            unsigned int element) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        // The pitch must be one that copies accept.
        need(out && pitch && (element == 4 || element == 8 || element == 16) && width > 0 &&
                 height > 0 && width <= max_pitch,
             CUDA_ERROR_INVALID_VALUE);
        const size_t row = (width + pitch_alignment - 1) / pitch_alignment * pitch_alignment;
        need(height <= SIZE_MAX / row, CUDA_ERROR_OUT_OF_MEMORY);
        *out = allocate(context, row * height, Kind::device)->address;
        *pitch = row;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &lock) {
        if (address == 0)
            return CUDA_SUCCESS;
        Driver &all = driver();
        const auto found = all.allocations.find(address);
        need(found != all.allocations.end(), CUDA_ERROR_INVALID_VALUE);
        const std::shared_ptr<Allocation> memory = found->second;
        need(!memory->freeing && (memory->kind == Kind::device || memory->kind == Kind::managed ||
                                  memory->kind == Kind::pool),
             CUDA_ERROR_INVALID_VALUE);
        memory->freeing = true;
        // Waits as the real driver does, except for memory of pools.
        if (memory->kind != Kind::pool)
            all.wait(lock, work_of(*memory->context));
        forget(*memory);
        return memory->context->error;
    });
}

CUresult cuMemGetInfo_v2(size_t *free, size_t *total) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        const Device &device = *context->device;
        if (free)
            *free = device.model.capacity - device.used;
        if (total)
            *total = device.model.capacity;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &) {
        const std::shared_ptr<Allocation> found = find_allocation(address);
        need(found != nullptr, CUDA_ERROR_NOT_FOUND);
        if (base)
            *base = found->address;
        if (size)
            *size = found->size;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAllocManaged(CUdeviceptr *out, size_t size, unsigned int flags) {
    return call_in_context([&](const std::shared_ptr<Context> &context, Lock &) {
        need(out && (flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST),
             CUDA_ERROR_INVALID_VALUE);
        *out = allocate(context, size, Kind::managed)->address;
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
