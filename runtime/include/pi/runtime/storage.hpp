// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/buffer.hpp>
#include <pi/runtime/export.hpp>
#include <pi/runtime/layout.hpp>
#include <pi/runtime/runtime.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace pi::runtime {

struct StorageDescriptor {
    uint64_t size = 0;      ///< bytes; 0 is PI_ERROR_INVALID_SIZE
    uint64_t alignment = 0; ///< bytes, a power of two, at every place; 0 = each place's own
    std::string scope{};    ///< by name, at every place; empty = scope 0
    uint64_t flags = 0;     ///< PI_MEM_REQUIRE_ bits, for device memory
    /// Layout of the memory at places whose scope has PI_SCOPE_LAYOUT; PI_MEM_INFO_PITCHES of
    /// Acquisition::mem() gives the pitches. At all other places memory is dense. Offsets, ranges,
    /// host pointers and host_memory always refer to dense bytes. PI_ERROR_INVALID_SIZE: it does
    /// not have `size` bytes. PI_ERROR_INVALID_VALUE: any other error in it.
    MemoryLayout layout{};
    /// `size` bytes of the application, used in place as the host's replica. They must live until
    /// the storage is destroyed and finish() has returned true. NULL: the runtime allocates.
    ///
    /// The application may access them only between an acquire at the host and its release, on any
    /// thread. Once the acquisition is ready, the range contains what devices wrote, and no device
    /// writes it until the release; what the application writes is visible to every device that
    /// acquires after the release. At other times a byte may be stale (a device has the newest one)
    /// or be written by a device, and a write of the application may be lost, even if a device uses
    /// the memory in place. Devices may use other ranges meanwhile.
    ///
    /// No other memory object or storage may contain these bytes while devices use them here.
    void *host_memory = nullptr;
    /// The bytes of host_memory are the storage's initial content; false: they count as never
    /// written.
    bool host_memory_valid = true;
    /// Owner of host_memory or device_memory: released once the storage is destroyed and no copy or
    /// released use of it is in flight, on any thread, perhaps inside a callback of PI, whose rules
    /// apply then.
    std::shared_ptr<const void> owner{};
    /// Existing device memory, used in place as the replica of device_place and never evicted; its
    /// bytes are the storage's initial content. Connections describe memory that plugins allocate,
    /// and whether this is such memory is unknown: other devices use it in place only if it is the
    /// same memory for them, or if it was imported from a host pointer.
    /// PI_ERROR_INVALID_MEM_OBJECT: an image, or an object of another device or context than the
    /// place's. PI_ERROR_INVALID_SIZE: it is too small. PI_ERROR_INVALID_VALUE: together with
    /// host_memory or a layout.
    Mem device_memory{};
    PlaceIndex device_place = host_place;
    /// The initial content of device_memory or host_memory is ready when this event is complete:
    /// every use begins after it, and reads fail if it fails. It belongs to the place's plugin
    /// instance. Empty: the content is ready.
    Event ready{};
    /// Acquires for writing are PI_ERROR_INVALID_OPERATION, and the given memory is never written.
    bool read_only = false;
    /// Allowed routes. Without direct_use and import every place has its own memory.
    RouteMask routes = all_routes;
    /// Allowed bounce styles. Several ranges at once are never mapped.
    StyleMask styles = all_styles;
    std::string name{}; ///< for the log
};

/// The bytes of one allocation, with replicas at places; a place gets its replica when it is first
/// acquired. Each byte is valid at some places and stale at the others, or was never written
/// anywhere. Bytes that were never written can be acquired; they are undefined, and nothing is
/// fetched for them.
///
/// Copies of a Storage denote the same storage. Thread-safe. The last copy may be destroyed with
/// work in flight: memory that copies and released commands use lives until they are complete.
/// Destruction writes nothing back to host_memory: acquire the host for reading first.
class PI_RUNTIME_EXPORT Storage {
public:
    Storage(const Runtime &runtime, StorageDescriptor description);

    uint64_t size() const noexcept;
    /// A range of the storage. PI_ERROR_INVALID_SIZE: past the end, or no bytes.
    Buffer buffer(uint64_t offset, uint64_t size) const;
    /// The whole storage.
    Buffer buffer() const;

    Counters counters() const;
    /// The bytes that are valid at a place now, without copies in flight.
    RangeSet valid(PlaceIndex place) const;
    /// Bytes that were valid only at a lost device, and have since been neither written nor brought
    /// elsewhere by a copy that was in flight. Reading them is PI_ERROR_DEVICE_LOST; all others
    /// stay readable.
    RangeSet lost() const;
    /// A number for the memory that a place uses: places with equal numbers share their memory.
    /// Empty before its first acquire.
    std::optional<uint32_t> memory_of(PlaceIndex place) const;
    /// Like Runtime::finish, for this storage.
    bool finish(std::chrono::nanoseconds timeout) const;

private:
    std::shared_ptr<StorageState> state_;
};

} // namespace pi::runtime
