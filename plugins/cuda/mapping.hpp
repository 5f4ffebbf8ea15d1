// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory and addresses apart: physical memory that other processes and interfaces can have as a file descriptor, mapped at
// addresses of its own. The driver grants access to it a device, whatever contexts are peers.
#pragma once

#include <pi/cuda/driver_api.h>

#include <cstdint>

namespace pi::cuda {

class Device;
class Primary;

class Mapping {
public:
    Mapping() = default;
    Mapping(const Mapping &) = delete;

    /// Makes memory of the device, of at least so many bytes.
    CUresult create(Primary &primary, uint64_t size);
    /// Takes memory of a descriptor, which stays the caller's. `device` becomes the one whose memory it is.
    CUresult import(Primary &primary, int fd, CUdevice &device);
    /// Maps at least so many bytes from its begin, for the device and all that can have access to its memory.
    CUresult map(Primary &primary, uint64_t size, uint64_t alignment, CUdeviceptr &address);
    /// Undoes what was done, or as much as was. No work may use it any more.
    CUresult close(Primary &primary);

    CUmemGenericAllocationHandle physical() const { return physical_; }

private:
    CUmemGenericAllocationHandle physical_ = 0;
    CUdeviceptr address_ = 0;
    uint64_t size_ = 0;
    bool mapped_ = false;
};

/// Whether the driver has all of this for the device, with file descriptors.
bool has_mappings(const Device &device);

} // namespace pi::cuda
