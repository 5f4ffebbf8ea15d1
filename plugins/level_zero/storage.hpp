// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes of memory objects, and their ownership.
#pragma once

#include "driver.hpp"

#include <pi/sdk/file.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

namespace pi::level_zero {

class Place;

/// Device memory, pinned or shared memory of the driver's, or the application's pinned memory. An
/// address is the same for all its users.
class Storage {
public:
    /// Empty.
    Storage() = default;
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY with the requested and the free size. `files`: the types of
    /// file descriptors for which it must be exportable, as bits 1 << PI_EXTERNAL_.
    static Storage on_device(Place &place, uint64_t size, uint64_t alignment, uint32_t files = 0);
    static Storage in_host(Place &place, uint64_t size, uint64_t alignment);
    /// Memory that the driver migrates to its user, the host included.
    static Storage shared(Place &place, uint64_t size, uint64_t alignment);
    /// The application's own; PI_ERROR_OUT_OF_RESOURCES if it cannot be pinned.
    static Storage borrow(Place &place, std::byte *begin, uint64_t size);
    /// A range of exported memory, by its file descriptor, which stays the caller's.
    /// PI_ERROR_INVALID_VALUE for any other descriptor.
    static Storage import_file(Place &place, pi_external_type type, int fd, uint64_t offset,
                               uint64_t size);
    /// The same by another process' IPC handle (64 bytes).
    static Storage open_ipc(Place &place, const void *handle, uint64_t offset, uint64_t size);
    /// Whether `to` can import memory that `from` exports as a descriptor of the type. Tries it;
    /// throws if `from` has no memory for the trial.
    static bool passes(Place &from, Place &to, pi_external_type type);
    /// The driver's allocation at `begin`, from `offset` on; `host` if it is host memory. Freed at
    /// the end if *own is true by then.
    static Storage around(Place &place, void *begin, uint64_t offset, bool host,
                          std::shared_ptr<const bool> own);

    /// The address on the host; NULL if it has none.
    std::byte *host() const { return host_; }
    uint64_t alignment() const;
    /// The address that all its users share, the host included.
    std::byte *data() const { return begin_; }
    /// The beginning of the driver's allocation; NULL for memory that is not the driver's.
    void *allocation() const { return owner_.get(); }
    /// The types for which it is exportable, as bits 1 << PI_EXTERNAL_.
    uint32_t files() const { return exports_ ? exports_->types : 0; }
    /// A descriptor of the type, which stays the storage's: some drivers make a new one for each
    /// query, others return the same one.
    int file(Place &place, pi_external_type type) const;

private:
    template <class Allocate>
    static Storage take(Place &place, uint64_t size, uint64_t alignment, bool of_device,
                        const char *call, Allocate allocate);

    struct Exports {
        uint32_t types;
        std::mutex mutex;
        std::map<pi_external_type, sdk::File> files; ///< guarded by mutex
    };
    std::shared_ptr<void> owner_; ///< its last copy frees the memory
    std::shared_ptr<Exports> exports_;
    std::byte *begin_ = nullptr;
    std::byte *host_ = nullptr;
};

bool no_memory(ze_result_t code);
/// To be called when an allocation fails: frees what pools keep for reuse, in the memory of the
/// device or the host, and the references of completed commands. Returns whether pools had any.
bool free_unused(Place &place, bool of_device);

/// Checks an allocation in memory of the device or the host: PI_ERROR_OUT_OF_DEVICE_MEMORY with the
/// requested and the free size, PI_ERROR_OUT_OF_HOST_MEMORY, or the call's other errors.
void check_allocated(Place &place, bool of_device, const char *call, ze_result_t code,
                     uint64_t bytes);

/// The driver's allocation at an address.
struct KnownMemory {
    int type = 0; ///< ze_memory_type_t; unknown if it is not the driver's
    void *device = nullptr;
    std::byte *begin = nullptr;
    uint64_t size = 0;
};
KnownMemory find_memory(Place &place, const void *address);

} // namespace pi::level_zero
