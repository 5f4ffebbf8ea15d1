// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The bytes behind memory objects, and who gives them back.
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

/// Memory of a device, pinned or shared memory of the driver's, or the application's that is pinned. An address means the
/// same to all who may use it.
class Storage {
public:
    /// Nothing.
    Storage() = default;
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY with what was asked for and what is free. `files`: 1 << PI_EXTERNAL_ of the file
    /// descriptors that it is to be exported as.
    static Storage on_device(Place &place, uint64_t size, uint64_t alignment, uint32_t files = 0);
    static Storage in_host(Place &place, uint64_t size, uint64_t alignment);
    /// Memory that the driver moves to who uses it, the host included.
    static Storage shared(Place &place, uint64_t size, uint64_t alignment);
    /// The application's own; PI_ERROR_OUT_OF_RESOURCES if it cannot be pinned.
    static Storage borrow(Place &place, std::byte *begin, uint64_t size);
    /// A range of memory that somebody exported as a descriptor, which stays the caller's. PI_ERROR_INVALID_VALUE for one
    /// of anything else.
    static Storage import_file(Place &place, pi_external_type type, int fd, uint64_t offset,
                               uint64_t size);
    /// The same of another process's handle (64 bytes).
    static Storage open_ipc(Place &place, const void *handle, uint64_t offset, uint64_t size);
    /// Whether `to` imports memory that `from` exports as a descriptor of the type. Tries it; throws if `from` has none to
    /// give.
    static bool passes(Place &from, Place &to, pi_external_type type);
    /// The driver's allocation at `begin`, of the host or not, from `offset` on. Freed in the end if *own is true by then.
    static Storage around(Place &place, void *begin, uint64_t offset, bool host,
                          std::shared_ptr<const bool> own);

    /// For the host; NULL if it has none.
    std::byte *host() const { return host_; }
    uint64_t alignment() const;
    /// The address that all of them know, the host's code included.
    std::byte *data() const { return begin_; }
    /// Where the driver's allocation begins; NULL for memory that is not the driver's own.
    void *allocation() const { return owner_.get(); }
    /// 1 << PI_EXTERNAL_ of what it was made to be exported as.
    uint32_t files() const { return exports_ ? exports_->types : 0; }
    /// A descriptor of the type, which stays the storage's: some drivers make one for each question, others have but one.
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
    std::shared_ptr<void> owner_; ///< whose last copy gives it back
    std::shared_ptr<Exports> exports_;
    std::byte *begin_ = nullptr;
    std::byte *host_ = nullptr;
};

bool no_memory(ze_result_t code);
/// As a call finds no memory: frees what pools keep for reuse, of the device's memory or of the
/// host's, and what only commands keep that have ended. Whether pools had any.
bool free_kept(Place &place, bool of_device);

/// Of a call that takes memory, of the device or of the host: PI_ERROR_OUT_OF_DEVICE_MEMORY with what was asked for and what
/// is free, PI_ERROR_OUT_OF_HOST_MEMORY, or its other failure.
void check_allocated(Place &place, bool of_device, const char *call, ze_result_t code,
                     uint64_t bytes);

/// Where the driver knows memory at an address.
struct KnownMemory {
    int type = 0; ///< ze_memory_type_t; unknown: none of the driver's
    void *device = nullptr;
    std::byte *begin = nullptr;
    uint64_t size = 0;
};
KnownMemory find_memory(Place &place, const void *address);

} // namespace pi::level_zero
