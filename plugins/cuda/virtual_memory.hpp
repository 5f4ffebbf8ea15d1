// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Virtual memory management: physical memory, which can be exported as a file descriptor, mapped at
// a reserved address range. The driver grants access to it per device, independent of peer
// contexts.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstdint>

namespace pi::cuda {

class Device;
class Primary;

class VirtualMemory {
public:
    VirtualMemory() = default;
    VirtualMemory(const VirtualMemory &) = delete;

    /// Allocates at least `size` bytes of physical memory on the device.
    CUresult create(Primary &primary, uint64_t size);
    /// Imports memory by its file descriptor, which stays the caller's. `device` receives the
    /// device that owns the memory.
    CUresult import(Primary &primary, int fd, CUdevice &device);
    /// Maps at least `size` bytes from the beginning, for the device and all that can have access
    /// to its memory.
    CUresult map(Primary &primary, uint64_t size, uint64_t alignment, CUdeviceptr &address);
    /// Undoes all steps that were completed. No work may still use the memory.
    CUresult close(Primary &primary);

    CUmemGenericAllocationHandle physical() const { return physical_; }

private:
    CUmemGenericAllocationHandle physical_ = 0;
    CUdeviceptr address_ = 0;
    uint64_t size_ = 0;
    bool mapped_ = false;
};

/// Whether the driver supports all of this on the device, with file descriptors.
bool has_virtual_memory(const Device &device);

} // namespace pi::cuda
