// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage.hpp"
#include "primary.hpp"
#include "registration.hpp"
#include "usm.hpp"
#include "virtual_memory.hpp"

#include <pi/sdk/address.hpp>
#include <pi/sdk/bytes.hpp>
#include <pi/sdk/shared.hpp>

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace pi::cuda {

using namespace sdk;

namespace {

/// Frees the memory once no copy of the pointer is left; if free() waits for work, on the thread
/// for that. Keeps the primary context alive until then.
template <class Free>
std::shared_ptr<void> owner(Primary &primary, void *memory, Free free, bool waits = true) {
    return {memory, [keep = primary.shared_from_this(), free, waits](void *address) {
                auto give_back = [keep, free, address] {
                    try {
                        const Current current(*keep);
                        keep->note(free(*keep, address));
                    } catch (...) {
                        // The context is lost, and so is everything in it.
                    }
                };
                waits ? keep->instance().reap(std::move(give_back)) : give_back();
            }};
}

/// The size with padding for the alignment; no padding for what the driver guarantees.
uint64_t padded(uint64_t size, uint64_t alignment) {
    uint64_t bytes;
    if (__builtin_add_overflow(size, alignment > min_alignment ? alignment : 0, &bytes))
        fail(PI_ERROR_INVALID_SIZE, "size is ", size,
             " bytes; with its alignment it must fit 64 bits");
    return bytes;
}

/// Rounded up to a multiple.
uint64_t whole_blocks(uint64_t size, uint64_t block) {
    uint64_t whole;
    if (__builtin_add_overflow(size, block - 1, &whole))
        fail(PI_ERROR_INVALID_SIZE, "size is ", size,
             " bytes; rounded up to whole blocks it must fit 64 bits");
    return whole / block * block;
}

uint64_t greatest_power_in(uint64_t address) {
    return std::min(address & -address, max_alignment);
}

} // namespace

CUresult allocate_with_patience(Primary &primary, const std::function<CUresult()> &allocate) {
    const CUresult code = allocate();
    if (code != CUDA_ERROR_OUT_OF_MEMORY)
        return code;
    for (const pi_usm_kind kind : {PI_USM_DEVICE, PI_USM_HOST})
        primary.instance().usm().pools().free_idle(Usm::source(primary.device(), kind));
    primary.sweep();
    primary.instance().drain();
    primary.pool().trim();
    return allocate();
}

void check_allocated(Primary &primary, CUresult code, const char *call, uint64_t bytes) {
    if (code == CUDA_ERROR_OUT_OF_MEMORY) {
        size_t available = 0, total = 0;
        primary.api().cuMemGetInfo_v2(&available, &total);
        fail(PI_ERROR_OUT_OF_DEVICE_MEMORY, call, ": CUDA_ERROR_OUT_OF_MEMORY: ", Bytes(bytes),
             " requested, ", Bytes(available), " of ", Bytes(total), " free on ",
             primary.device().name());
    }
    primary.check(code, call, Bytes(bytes), " requested on ", primary.device().name());
}

template <class Allocate, class Free>
Storage Storage::take(Primary &primary, uint64_t size, uint64_t alignment, const char *call,
                      Allocate allocate, Free free, bool waits) {
    const uint64_t bytes = padded(size, alignment);
    const Current current(primary);
    CUdeviceptr memory = 0;
    const CUresult code = allocate_with_patience(primary, [&] { return allocate(&memory, bytes); });
    check_allocated(primary, code, call, bytes);
    Storage storage;
    storage.owner_ = owner(
        primary, reinterpret_cast<void *>(memory),
        [free](Primary &of, void *at) { return free(of, reinterpret_cast<CUdeviceptr>(at)); },
        waits);
    storage.address_ = memory;
    storage.align(alignment);
    return storage;
}

void Storage::align(uint64_t alignment) {
    address_ = align_up(address_, std::max(alignment, uint64_t{1}));
    alignment_ = greatest_power_in(address_);
}

namespace {

CUresult free_memory(Primary &primary, CUdeviceptr at) {
    return primary.api().cuMemFree_v2(at);
}

} // namespace

Storage Storage::on_device(Primary &primary, uint64_t size, uint64_t alignment) {
    return take(
        primary, size, alignment, "cuMemAlloc_v2",
        [&](CUdeviceptr *out, uint64_t bytes) { return primary.api().cuMemAlloc_v2(out, bytes); },
        free_memory);
}

Storage Storage::pitched(Primary &primary, uint64_t row, uint64_t rows, unsigned access,
                         uint64_t alignment, uint64_t &pitch) {
    // Alignment beyond the driver's takes additional rows.
    const uint64_t height = rows + (alignment > min_alignment ? alignment / row + 1 : 0);
    size_t chosen = 0;
    Storage storage = take(
        primary, row * height, 0, "cuMemAllocPitch_v2",
        [&](CUdeviceptr *out, uint64_t) {
            return primary.api().cuMemAllocPitch_v2(out, &chosen, row, height, access);
        },
        free_memory);
    storage.align(alignment);
    pitch = chosen;
    return storage;
}

Storage Storage::shareable(Primary &primary, uint64_t size, uint64_t alignment) {
    constexpr uint64_t block = uint64_t{2} << 20; // smaller allocations share a block
    return on_device(primary, whole_blocks(size, block), alignment);
}

Storage Storage::in_pages(Primary &primary, uint64_t size, uint64_t alignment) {
    const uint64_t page = host_page();
    return on_device(primary, whole_blocks(size, page), std::max(alignment, page));
}

Storage Storage::pooled(Primary &primary, uint64_t size, uint64_t alignment) {
    if (!primary.pool())
        return on_device(primary, size, alignment);
    return take(
        primary, size, alignment, "cuMemAllocFromPoolAsync",
        [&](CUdeviceptr *out, uint64_t bytes) { return primary.pool().allocate(out, bytes); },
        [](Primary &of, CUdeviceptr at) { return of.pool().free(at); }, false);
}

Storage Storage::managed(Primary &primary, uint64_t size, uint64_t alignment) {
    Storage storage = take(
        primary, size, alignment, "cuMemAllocManaged",
        [&](CUdeviceptr *out, uint64_t bytes) {
            return primary.api().cuMemAllocManaged(out, bytes, CU_MEM_ATTACH_GLOBAL);
        },
        free_memory);
    storage.host_ = reinterpret_cast<std::byte *>(storage.address_);
    return storage;
}

Storage Storage::in_host(Primary &primary, uint64_t size, uint64_t alignment) {
    const uint64_t bytes = padded(size, alignment);
    const Current current(primary);
    void *memory = nullptr;
    const CUresult code = allocate_with_patience(primary, [&] {
        return primary.api().cuMemHostAlloc(&memory, bytes,
                                            CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    });
    if (code == CUDA_ERROR_OUT_OF_MEMORY)
        fail(PI_ERROR_OUT_OF_HOST_MEMORY,
             "cuMemHostAlloc: CUDA_ERROR_OUT_OF_MEMORY: ", Bytes(bytes),
             " of pinned memory requested");
    primary.check(code, "cuMemHostAlloc", Bytes(bytes), " requested");
    Storage storage;
    storage.owner_ =
        owner(primary, memory, [](Primary &of, void *at) { return of.api().cuMemFreeHost(at); });
    auto *begin = reinterpret_cast<std::byte *>(
        align_up(reinterpret_cast<uintptr_t>(memory), std::max(alignment, uint64_t{1})));
    primary.check(primary.api().cuMemHostGetDevicePointer_v2(&storage.address_, begin, 0),
                  "cuMemHostGetDevicePointer_v2");
    storage.host_ = begin;
    storage.alignment_ = std::min(greatest_power_in(storage.address_),
                                  greatest_power_in(reinterpret_cast<uintptr_t>(begin)));
    return storage;
}

namespace {

/// NULL where it cannot be pinned and need not be.
std::shared_ptr<void> pin(Primary &primary, std::byte *begin, uint64_t size) {
    const Device &device = primary.device();
    if (!device.registers_host_memory())
        return nullptr;
    try {
        return primary.instance().registrations().pin(pinning(primary), begin, size);
    } catch (const Error &) {
        if (!device.imports_pageable() || primary.lost())
            throw;
        return nullptr;
    }
}

} // namespace

Storage Storage::borrow(Primary &primary, std::byte *begin, uint64_t size) {
    Storage storage;
    storage.owner_ = pin(primary, begin, size);
    storage.pageable_ = !storage.owner_;
    storage.host_ = begin;
    if (storage.pageable_) {
        storage.address_ = reinterpret_cast<CUdeviceptr>(begin);
    } else {
        const Current current(primary);
        primary.check(primary.api().cuMemHostGetDevicePointer_v2(&storage.address_, begin, 0),
                      "cuMemHostGetDevicePointer_v2", "of ", begin);
    }
    storage.alignment_ = std::min(greatest_power_in(storage.address_),
                                  greatest_power_in(reinterpret_cast<uintptr_t>(begin)));
    return storage;
}

Storage Storage::around(Primary &primary, CUdeviceptr begin, uint64_t offset, NativeKind kind,
                        std::shared_ptr<const bool> own) {
    const bool host = kind == NativeKind::HOST;
    Storage storage;
    storage.granted_apart_ = kind == NativeKind::GRANTED_APART;
    storage.owner_ = owner(primary, reinterpret_cast<void *>(begin),
                           [own = std::move(own), host](Primary &of, void *at) {
                               return !*own  ? CUDA_SUCCESS
                                      : host ? of.api().cuMemFreeHost(at)
                                             : free_memory(of, reinterpret_cast<CUdeviceptr>(at));
                           });
    storage.address_ = begin + offset;
    if (host)
        storage.host_ = reinterpret_cast<std::byte *>(storage.address_);
    storage.alignment_ = greatest_power_in(storage.address_);
    return storage;
}

Storage Storage::exportable(Primary &primary, uint64_t size, uint64_t alignment) {
    const auto memory = std::make_shared<VirtualMemory>();
    // The address range is reserved with the alignment: there is no padding.
    Storage storage = take(
        primary, size, 0, "cuMemCreate",
        [&](CUdeviceptr *out, uint64_t bytes) {
            CUresult code = memory->create(primary, bytes);
            if (code == CUDA_SUCCESS)
                code = memory->map(primary, bytes, alignment, *out);
            if (code != CUDA_SUCCESS) {
                memory->close(primary);
                require_descriptors("cuMemCreate: ", error_name(primary.api(), code));
            }
            return code;
        },
        [memory](Primary &of, CUdeviceptr) { return memory->close(of); });
    storage.physical_ = memory->physical();
    return storage;
}

Storage Storage::import(Primary &primary, int fd, uint64_t offset, uint64_t size) {
    const Device &device = primary.device();
    uint64_t end;
    if (__builtin_add_overflow(offset, size, &end) || end > device.memory_size())
        fail(PI_ERROR_INVALID_SIZE, "offset is ", offset, " and size ", size,
             ": beyond the memory of ", device.name(), " (", device.memory_size(), " bytes)");
    const Current current(primary);
    const auto memory = std::make_shared<VirtualMemory>();
    CUdevice of = PI_CUDA_DEVICE_INVALID;
    CUdeviceptr address = 0;
    CUresult code = memory->import(primary, fd, of);
    if (code != CUDA_SUCCESS || of != device.id()) {
        memory->close(primary);
        if (code != CUDA_SUCCESS) {
            require_descriptors("cuMemImportFromShareableHandle: ",
                                error_name(primary.api(), code));
            fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", fd, ", which is not memory of ",
                 device.name(),
                 ": cuMemImportFromShareableHandle: ", error_name(primary.api(), code));
        }
        fail(PI_ERROR_INVALID_VALUE, "handle.fd is ", fd, ", which is memory of device ", of,
             " of CUDA, not of ", device.name(), " (", device.id(), ')');
    }
    code = memory->map(primary, end, 0, address);
    if (code != CUDA_SUCCESS)
        memory->close(primary);
    if (code == CUDA_ERROR_INVALID_VALUE)
        fail(PI_ERROR_INVALID_SIZE, "offset is ", offset, " and size ", size,
             ": beyond the end of handle.fd (", fd,
             "): cuMemMap: ", error_name(primary.api(), code));
    primary.check(code, "cuMemMap", "of handle.fd (", fd, ") on ", device.name());
    Storage storage;
    storage.owner_ = owner(primary, reinterpret_cast<void *>(address),
                           [memory](Primary &with, void *) { return memory->close(with); });
    storage.address_ = address + offset;
    storage.alignment_ = greatest_power_in(storage.address_);
    return storage;
}

namespace {

void check_opened(Primary &primary, CUresult code) {
    const std::string name = error_name(primary.api(), code);
    if (code == CUDA_ERROR_INVALID_CONTEXT)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "handle.ipc is memory of this process; CUDA opens it in other processes only: "
             "cuIpcOpenMemHandle_v2: ",
             name);
    if (code == CUDA_ERROR_INVALID_VALUE || code == CUDA_ERROR_INVALID_HANDLE ||
        code == CUDA_ERROR_MAP_FAILED || code == CUDA_ERROR_INVALID_DEVICE ||
        code == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED || code == CUDA_ERROR_TOO_MANY_PEERS)
        fail(PI_ERROR_INVALID_VALUE, "handle.ipc is not memory that ", primary.device().name(),
             " can use, or its exporter has freed it: cuIpcOpenMemHandle_v2: ", name);
    primary.check(code, "cuIpcOpenMemHandle_v2", "on ", primary.device().name());
}

} // namespace

Storage Storage::open(Primary &primary, const uint8_t (&ipc)[64], uint64_t offset, uint64_t size) {
    const Api &cu = primary.api();
    const Device &device = primary.device();
    const Current current(primary);
    CUipcMemHandle handle{};
    static_assert(sizeof handle == sizeof ipc);
    std::memcpy(&handle, ipc, sizeof handle);
    CUdeviceptr begin = 0;
    check_opened(primary,
                 cu.cuIpcOpenMemHandle_v2(&begin, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    Storage storage;
    storage.owner_ = owner(primary, reinterpret_cast<void *>(begin), [](Primary &of, void *at) {
        return of.api().cuIpcCloseMemHandle(reinterpret_cast<CUdeviceptr>(at));
    });
    size_t bytes = 0;
    primary.check(cu.cuMemGetAddressRange_v2(nullptr, &bytes, begin), "cuMemGetAddressRange_v2",
                  "of handle.ipc");
    int of = device.id();
    cu.cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, begin);
    if (of != device.id())
        fail(PI_ERROR_INVALID_VALUE, "handle.ipc is memory of device ", of, " of CUDA, not of ",
             device.name(), " (", device.id(), ')');
    if (offset > bytes || size > bytes - offset)
        fail(PI_ERROR_INVALID_SIZE, "offset is ", offset, " and size ", size,
             ": beyond the end of handle.ipc, which has ", bytes, " bytes");
    storage.address_ = begin + offset;
    storage.alignment_ = greatest_power_in(storage.address_);
    return storage;
}

} // namespace pi::cuda
