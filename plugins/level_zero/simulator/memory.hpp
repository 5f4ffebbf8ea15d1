// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "line.hpp"
#include "simulator/mmap_region.hpp"

#include <cstdint>
#include <map>
#include <optional>

namespace pi::level_zero::simulated {

using drivers::MmapRegion;

/// An unnamed file, which other processes can open.
class File {
public:
    /// Throws std::bad_alloc.
    explicit File(const char *name);
    /// Duplicates another owner's descriptor. Throws INVALID_ARGUMENT.
    explicit File(int descriptor);
    File(const File &) = delete;
    ~File();
    int descriptor() const { return descriptor_; }
    std::uint64_t size() const;
    void grow(std::uint64_t size);

private:
    int descriptor_;
};

/// The memory of a device, or of the host: one sparse file in which no offset is used twice.
struct Arena {
    std::shared_ptr<File> file;
    std::uint64_t end = 0;
};

/// Memory that the driver knows, at the address that callers use. Host and shared memory is
/// accessible there; device memory only at the driver's own address.
struct Allocation : Object {
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    std::uint64_t address = 0;
    size_t size = 0;
    char *bytes = nullptr;
    std::shared_ptr<Context> context;
    Device *device = nullptr; ///< null: host memory, or shared by all
    std::uint64_t id = 0;
    size_t charged = 0; ///< bytes of the device's capacity
    ze_external_memory_type_flags_t export_as = 0;
    bool opened = false;   ///< by an IPC handle
    bool imported = false; ///< the process' own memory, imported by its pointer
    bool variable = false; ///< a module's variable
    std::shared_ptr<File> file;
    std::uint64_t offset = 0;    ///< in the file
    bool hole = false;           ///< its part of the file is discarded at the end
    MmapRegion alias;            ///< the driver's mapping of device memory
    std::shared_ptr<void> owner; ///< owner of bytes that are in a library
    /// The index of the machine's device that owns it; nullopt for host or shared memory.
    std::optional<size_t> device_index() const;
    ~Allocation();
};

using Allocations = std::map<std::uint64_t, std::shared_ptr<Allocation>>;

/// The allocation that contains the address; null if none.
std::shared_ptr<Allocation> find_allocation(const void *address);

/// Bytes that work may access, and their owner.
struct Bytes {
    char *data = nullptr;
    std::shared_ptr<Allocation> owner; ///< null: plain host memory
};

/// A range of memory that a command of the device will access.
class Reach {
public:
    /// Throws INVALID_ARGUMENT for freed memory, memory that ends before the range, or memory that
    /// the device cannot access.
    Reach(const void *address, size_t size, const Device *user);
    const std::shared_ptr<Allocation> &memory() const { return memory_; }
    /// The memory is in use until the command is done.
    void keep(Command &command) const;
    /// The bytes at the time of the work; under the driver's lock. Throws Lost.
    Bytes now() const;
    /// The same; takes the lock.
    Bytes take() const;

private:
    const void *address_;
    size_t size_;
    const Device *user_;
    std::shared_ptr<Allocation> memory_;
};

/// The properties of new memory.
struct Request {
    ze_memory_type_t type = ZE_MEMORY_TYPE_UNKNOWN;
    std::shared_ptr<Context> context;
    Device *device = nullptr;
    size_t size = 0, alignment = 0;
    ze_external_memory_type_flags_t export_as = 0;
    std::shared_ptr<File> file; ///< file that has the bytes already, if any
    std::uint64_t offset = 0;
};

/// Allocates the memory and registers it; poisoned, unless its bytes existed before.
std::shared_ptr<Allocation> allocate(const Request &request);

/// An address that no memory ever had, with pages without access behind the size.
std::uint64_t reserve(size_t size, size_t alignment);

/// Later work cannot use it; running work keeps its bytes.
void forget(const std::shared_ptr<Allocation> &memory);

/// The context's memory that begins there; throws INVALID_ARGUMENT if there is none.
std::shared_ptr<Allocation> allocation_at(ze_context_handle_t context, const void *address);

} // namespace pi::level_zero::simulated
