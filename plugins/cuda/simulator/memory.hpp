// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"
#include "simulator/mmap_region.hpp"

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace pi::cuda::simulated {

struct Pool;
class SharedFile;

enum class Kind { device, managed, host, registered, pool, mapping, variable, imported };

using drivers::MmapRegion;

/// A part of an allocation that lies in its own file, which stands for a dma-buf.
struct SharedPart {
    size_t offset = 0, size = 0;
    int file = -1;
    SharedPart() = default;
    SharedPart(const SharedPart &) = delete;
    ~SharedPart();
};

/// Memory that the driver knows, at the address that callers use.
struct Allocation {
    Kind kind = Kind::device;
    CUdeviceptr address = 0;
    size_t size = 0;
    char *bytes = nullptr;       ///< the driver's address of the memory
    MmapRegion pages;            ///< contains `bytes`, if they are its own
    std::shared_ptr<void> owner; ///< contains `bytes` otherwise
    std::shared_ptr<Context> context;
    unsigned flags = 0;
    unsigned long long id = 0;
    size_t charged = 0;           ///< bytes that count against
    Device *charged_to = nullptr; ///< this device's capacity
    bool live = true;             ///< between its stream-ordered allocation and free
    bool freeing = false;         ///< cuMemFreeAsync was called
    std::shared_ptr<Pool> pool;
    std::map<int, CUmemAccess_flags> access; ///< virtual memory: access by device
    std::vector<std::shared_ptr<SharedPart>> shared;

    bool host() const { return kind == Kind::host || kind == Kind::registered; }
};

struct Pool {
    CUmemoryPool handle = nullptr;
    Device *device = nullptr;
    std::map<int, CUmemAccess_flags> access;
    std::map<int, std::uint64_t> attributes;
    size_t used = 0, used_high = 0, max_size = 0;
    bool is_default = false;
};

/// Bytes that work may access, and their owners.
struct Bytes {
    char *data = nullptr;
    std::vector<std::shared_ptr<Allocation>> owners; ///< more than one where mappings are adjacent
};

/// The allocation that contains the address; null if none.
std::shared_ptr<Allocation> find_allocation(CUdeviceptr address);

/// The index of the device that owns the memory; nullopt for host memory.
std::optional<size_t> device_index(const Allocation &memory);

/// Whether each byte belongs to live memory: what a call can check when work is enqueued.
bool known(CUdeviceptr address, size_t size);

/// The bytes for work of the context; throws ILLEGAL_ADDRESS if it may not use them, or if they are
/// not live at that moment.
Bytes reach(CUdeviceptr address, size_t size, const Context &context, bool write);

/// New memory of the context's device, at an address without access for the host. Throws
/// OUT_OF_MEMORY.
std::shared_ptr<Allocation> allocate(const std::shared_ptr<Context> &context, size_t size,
                                     Kind kind);

/// The same on any device, for a context.
std::shared_ptr<Allocation> allocate_on(Device &device, const std::shared_ptr<Context> &context,
                                        size_t size, Kind kind);

/// Charges bytes to a device's capacity; throws OUT_OF_MEMORY if they exceed it.
void charge(Device &device, size_t size);

/// Later work cannot use it; running work keeps its bytes.
void forget(const Allocation &allocation);

/// Assigns an address to the allocation and registers it.
void remember(const std::shared_ptr<Allocation> &allocation);

} // namespace pi::cuda::simulated
