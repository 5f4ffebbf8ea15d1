// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of memory objects, and their ownership.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace pi::cuda {

class Primary;

/// Calls allocate(). If memory is exhausted, calls it again after pending releases, also those of
/// completed commands and of the pool. The primary context is current.
CUresult allocate_with_patience(Primary &primary, const std::function<CUresult()> &allocate);
/// Throws unless the code is CUDA_SUCCESS; if memory is exhausted, PI_ERROR_OUT_OF_DEVICE_MEMORY
/// with the requested and the free size. `call` is the driver's.
void check_allocated(Primary &primary, CUresult code, const char *call, uint64_t bytes);

/// The kind of CUDA memory at an address, which determines who has access: host memory all devices;
/// memory of a context its peers; memory of a pool and virtual memory whoever its creator has
/// granted it, which cannot be queried.
enum class NativeKind { HOST, OF_CONTEXT, GRANTED_APART };

/// Device memory, pinned host memory, or the application's pinned memory. The driver's memory is
/// freed on a thread of the instance, since the driver then waits for the context's work; the
/// application's is unpinned immediately.
class Storage {
public:
    /// Empty.
    Storage() = default;
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY with the requested and the free size.
    static Storage on_device(Primary &primary, uint64_t size, uint64_t alignment);
    /// The same in rows, with a pitch that the driver chooses. `access` is the size of kernels'
    /// accesses: 4, 8 or 16.
    static Storage pitched(Primary &primary, uint64_t row, uint64_t rows, unsigned access,
                           uint64_t alignment, uint64_t &pitch);
    /// The same as on_device(), from the primary context's pool if it has one: neither allocation
    /// nor release waits for work.
    static Storage pooled(Primary &primary, uint64_t size, uint64_t alignment);
    /// Memory that the driver migrates to its user, the host included.
    static Storage managed(Primary &primary, uint64_t size, uint64_t alignment);
    static Storage in_host(Primary &primary, uint64_t size, uint64_t alignment);
    /// The application's own, pinned; unpinned if it cannot be pinned and the device
    /// imports_pageable(), PI_ERROR_OUT_OF_RESOURCES on other devices.
    static Storage borrow(Primary &primary, std::byte *begin, uint64_t size);
    /// Device memory for export as a file descriptor: whole pages of the device's.
    static Storage exportable(Primary &primary, uint64_t size, uint64_t alignment);
    /// A range of such memory, by its file descriptor, which stays the caller's.
    /// PI_ERROR_INVALID_VALUE for any other descriptor, or another device's memory.
    static Storage import(Primary &primary, int fd, uint64_t offset, uint64_t size);
    /// For export as a dma-buf: whole pages of the host's.
    static Storage in_pages(Primary &primary, uint64_t size, uint64_t alignment);
    /// For export as an IPC handle: in a driver block of its own, since importers see the whole
    /// block.
    static Storage shareable(Primary &primary, uint64_t size, uint64_t alignment);
    /// A range of memory that another process exported as an IPC handle.
    /// PI_ERROR_UNSUPPORTED_FEATURE for this process' own, PI_ERROR_INVALID_VALUE for an invalid
    /// handle or another device's memory, PI_ERROR_INVALID_SIZE beyond its end.
    static Storage open(Primary &primary, const uint8_t (&ipc)[64], uint64_t offset, uint64_t size);
    /// CUDA memory at `begin`, from `offset` on. Freed at the end if *own is true by then.
    static Storage around(Primary &primary, CUdeviceptr begin, uint64_t offset, NativeKind kind,
                          std::shared_ptr<const bool> own);

    /// The address on the device.
    CUdeviceptr address() const { return address_; }
    /// The address on the host; NULL if it has none.
    std::byte *host() const { return host_; }
    /// Unpinned host memory: kernels of devices that read pageable memory use it in place; the
    /// driver's copies of it block.
    bool pageable() const { return pageable_; }
    /// Usable by its own device only, whatever peer access is enabled; the driver's copies between
    /// contexts reach it all the same.
    bool granted_apart() const { return granted_apart_; }
    uint64_t alignment() const { return alignment_; }
    /// The handle of exportable memory; else 0.
    CUmemGenericAllocationHandle physical() const { return physical_; }
    /// The address that all its users share, the host included.
    std::byte *data() const { return host_ ? host_ : reinterpret_cast<std::byte *>(address_); }

private:
    template <class Allocate, class Free>
    static Storage take(Primary &primary, uint64_t size, uint64_t alignment, const char *call,
                        Allocate allocate, Free free, bool waits = true);
    /// Moves the beginning up to a multiple; the padding for it was allocated.
    void align(uint64_t alignment);

    std::shared_ptr<void> owner_; ///< its last copy frees the memory
    CUdeviceptr address_ = 0;
    std::byte *host_ = nullptr;
    bool pageable_ = false;
    bool granted_apart_ = false;
    uint64_t alignment_ = 1;
    CUmemGenericAllocationHandle physical_ = 0;
};

} // namespace pi::cuda
