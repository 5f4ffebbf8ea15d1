// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes behind memory objects, and who gives them back.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

namespace pi::cuda {

class Primary;

/// Calls allocate(); when there is no memory, again once what was released is back, also from commands that have ended, and
/// from the pool. The primary context is current.
CUresult allocate_with_patience(Primary &primary, const std::function<CUresult()> &allocate);
/// Throws unless the code is CUDA_SUCCESS: of no memory PI_ERROR_OUT_OF_DEVICE_MEMORY with what was asked for and what is
/// free. `call` is the driver's.
void check_allocated(Primary &primary, CUresult code, const char *call, uint64_t bytes);

/// What CUDA's memory at an address is of, and so who is granted access to it: the host's is for all devices, a context's
/// for its peers; that of a pool, and a mapping, for whom its maker has granted it, which nobody tells.
enum class NativeKind { HOST, OF_CONTEXT, GRANTED_APART };

/// Memory of a device, pinned memory of the host, or the application's that is pinned. Goes back to the driver on a
/// thread of the instance, since the driver waits for the context's work then; the application's is its own again at
/// once.
class Storage {
public:
    /// Nothing.
    Storage() = default;
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY with what was asked for and what is free.
    static Storage on_device(Primary &primary, uint64_t size, uint64_t alignment);
    /// The same in rows, whose pitch the driver chooses; `access` is 4, 8 or 16: what kernels read and write at once.
    static Storage pitched(Primary &primary, uint64_t row, uint64_t rows, unsigned access,
                           uint64_t alignment, uint64_t &pitch);
    /// The same as on_device() from the primary context's pool, if it has one: neither this nor giving it back waits for work.
    static Storage pooled(Primary &primary, uint64_t size, uint64_t alignment);
    /// Memory that the driver moves to who uses it, the host included.
    static Storage managed(Primary &primary, uint64_t size, uint64_t alignment);
    static Storage in_host(Primary &primary, uint64_t size, uint64_t alignment);
    /// The application's own, pinned or, where the device imports_pageable(), as it is if that cannot be;
    /// PI_ERROR_OUT_OF_RESOURCES elsewhere.
    static Storage borrow(Primary &primary, std::byte *begin, uint64_t size);
    /// Of a device, for export as a file descriptor: whole pages of the device's.
    static Storage exportable(Primary &primary, uint64_t size, uint64_t alignment);
    /// A range of the same, of the descriptor that stays the caller's. PI_ERROR_INVALID_VALUE for one of anything else, or
    /// another device's.
    static Storage import(Primary &primary, int fd, uint64_t offset, uint64_t size);
    /// For export as a dma-buf: whole pages of the host's.
    static Storage in_pages(Primary &primary, uint64_t size, uint64_t alignment);
    /// For export as an IPC handle, whose importer gets the driver's whole block: one of its own.
    static Storage shareable(Primary &primary, uint64_t size, uint64_t alignment);
    /// A range of what another process exported so. PI_ERROR_UNSUPPORTED_FEATURE for what this process did,
    /// PI_ERROR_INVALID_VALUE for what is no handle, or another device's, PI_ERROR_INVALID_SIZE beyond its end.
    static Storage open(Primary &primary, const uint8_t (&ipc)[64], uint64_t offset, uint64_t size);
    /// CUDA's memory at `begin`, from `offset` on. Freed in the end if *own is true by then.
    static Storage around(Primary &primary, CUdeviceptr begin, uint64_t offset, NativeKind kind,
                          std::shared_ptr<const bool> own);

    /// For the device.
    CUdeviceptr address() const { return address_; }
    /// For the host; NULL if it has none.
    std::byte *host() const { return host_; }
    /// The host's, but not pinned: kernels of devices that read it use it, and the driver's commands wait for the host.
    bool pageable() const { return pageable_; }
    /// For its own device alone, whatever peers have enabled; the driver's copies between contexts reach it all the same.
    bool granted_apart() const { return granted_apart_; }
    uint64_t alignment() const { return alignment_; }
    /// Of what is exportable; else 0.
    CUmemGenericAllocationHandle physical() const { return physical_; }
    /// The address that all of them know, the host's code included.
    std::byte *data() const { return host_ ? host_ : reinterpret_cast<std::byte *>(address_); }

private:
    template <class Allocate, class Free>
    static Storage take(Primary &primary, uint64_t size, uint64_t alignment, const char *call,
                        Allocate allocate, Free free, bool waits = true);
    /// Moves the begin to a multiple, which there is memory for.
    void align(uint64_t alignment);

    std::shared_ptr<void> owner_; ///< whose last copy gives it back
    CUdeviceptr address_ = 0;
    std::byte *host_ = nullptr;
    bool pageable_ = false;
    bool granted_apart_ = false;
    uint64_t alignment_ = 1;
    CUmemGenericAllocationHandle physical_ = 0;
};

} // namespace pi::cuda
