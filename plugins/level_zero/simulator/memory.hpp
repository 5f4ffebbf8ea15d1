// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "line.hpp"
#include "simulator/mmap_region.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace pi::level_zero::simulated {

using drivers::MmapRegion;

/// A file without a name, which other processes can have.
class File {
public:
    /// Throws std::bad_alloc.
    explicit File(const char *name);
    /// A descriptor of somebody else, duplicated. Throws INVALID_ARGUMENT.
    explicit File(int descriptor);
    File(const File &) = delete;
    ~File();
    int descriptor() const { return descriptor_; }
    std::uint64_t size() const;
    void grow(std::uint64_t size);

private:
    int descriptor_;
};

/// The memory of a device, or of the host: one sparse file in which no place is used twice.
struct Arena {
    std::shared_ptr<File> file;
    std::uint64_t end = 0;
};

/// Memory that the driver knows, at the address that the caller sees. The bytes of host and shared memory are there, too; those
/// of device memory where the driver alone reaches them.
struct Allocation : Object {
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    std::uint64_t address = 0;
    size_t size = 0;
    char *bytes = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr; ///< none: the host's, or shared by all
    std::uint64_t id = 0;
    size_t charged = 0; ///< bytes of the device's capacity
    ze_external_memory_type_flags_t export_as = 0;
    bool opened = false;   ///< through an IPC handle
    bool foreign = false;  ///< the host's own, imported by its pointer
    bool variable = false; ///< of a module
    std::shared_ptr<File> file;
    std::uint64_t offset = 0;    ///< in the file
    bool hole = false;           ///< the file forgets the bytes at the end
    MmapRegion alias;            ///< of device memory
    std::shared_ptr<void> owner; ///< of bytes that are a library's
    /// Of the machine's device whose memory it is; none: the host's, or shared.
    std::optional<size_t> device_index() const;
    ~Allocation();
};

using Allocations = std::map<std::uint64_t, std::shared_ptr<Allocation>>;

/// The allocation that the address is in; null if none.
std::shared_ptr<Allocation> find_allocation(const void *address);

/// Bytes that work may touch, and what keeps them.
struct Bytes {
    char *data = nullptr;
    std::shared_ptr<Allocation> owner; ///< none: plain memory of the host
};

/// A range of memory that a command of the device will touch.
class Reach {
public:
    /// Throws INVALID_ARGUMENT for memory that was freed, ends before the range does, or is out of the device's reach.
    Reach(const void *address, size_t size, const Device *user);
    const std::shared_ptr<Allocation> &memory() const { return memory_; }
    /// The command is in the memory's way until it is done.
    void keep(Command &command) const;
    /// The bytes at the time of the work; under the driver's lock. Throws Lost.
    Bytes now() const;
    /// The same, which takes the lock.
    Bytes take() const;

private:
    const void *address_;
    size_t size_;
    const Device *user_;
    std::shared_ptr<Allocation> memory_;
};

/// What is asked of new memory.
struct Request {
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    size_t size = 0, alignment = 0;
    ze_external_memory_type_flags_t export_as = 0;
    std::shared_ptr<File> file; ///< where the bytes lie already, if somewhere
    std::uint64_t offset = 0;
};

/// Makes the memory and makes it known; poisoned, unless it was there.
std::shared_ptr<Allocation> allocate(const Request &request);

/// An address that no memory had before, with unreachable pages for the size behind it.
std::uint64_t reserve(size_t size, size_t alignment);

/// Nobody may use it any more; work that runs keeps its bytes.
void forget(const std::shared_ptr<Allocation> &memory);

/// Memory of the context that begins there, or throws INVALID_ARGUMENT.
std::shared_ptr<Allocation> allocation_at(ze_context_handle_t context, const void *address);

} // namespace pi::level_zero::simulated
