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

struct StorageDescription {
    uint64_t size = 0;      ///< bytes; 0 is PI_ERROR_INVALID_SIZE
    uint64_t alignment = 0; ///< bytes, a power of two, at every place; 0 = each place's own
    std::string scope{};    ///< by name at every place; empty = scope 0
    uint64_t flags = 0;     ///< PI_MEM_REQUIRE_ bits, for device memory
    /// Memory of places whose scope has PI_SCOPE_LAYOUT is laid out like this; PI_MEM_INFO_PITCHES of Acquisition::mem()
    /// tells how. All others have dense memory. Offsets, ranges, host pointers and host_memory are of dense bytes
    /// anyway. Of other than `size` bytes: PI_ERROR_INVALID_SIZE; for other mistakes PI_ERROR_INVALID_VALUE.
    MemoryLayout layout{};
    /// The application's bytes, used in place as the host's replica; `size` of them. They must live
    /// until the storage is gone and finish() has returned true. NULL: the runtime allocates.
    ///
    /// The application touches them between an acquire at the host and its release only, on any
    /// thread. What devices wrote in the range is there once the acquisition is ready, and no device
    /// writes it until the release; what the application writes there, every device sees that
    /// acquires after the release. At other times a byte may be old, as a device may have the newest
    /// one elsewhere, or be written by a device, and what the application writes may be lost: also
    /// where a device uses the memory in place. Other ranges may be in use at devices meanwhile.
    ///
    /// No other memory object or storage may be around these bytes while devices use them here.
    void *host_memory = nullptr;
    /// The bytes of host_memory are the storage's first content; else they count as never written.
    bool host_memory_valid = true;
    /// What keeps host_memory or device_memory: let go once the storage is gone and no copy or released use of it is in
    /// flight any more. That may be on any thread, also in a callback of PI, whose rules hold then.
    std::shared_ptr<const void> owner{};
    /// Device memory that exists already, used in place as the replica of device_place, and never given up to make
    /// room; its bytes are the storage's first content. Other devices do not use it in place, but for those that it is
    /// the same memory for, and where it was imported of a host pointer: connections speak of what plugins allocate, and
    /// whether it is that nobody tells. An image, or an object of another device or context than the place's, is
    /// PI_ERROR_INVALID_MEM_OBJECT, a smaller one PI_ERROR_INVALID_SIZE; with host_memory or a layout:
    /// PI_ERROR_INVALID_VALUE.
    Mem device_memory{};
    PlaceIndex device_place = host_place;
    /// The first content of device_memory, or of host_memory, is there when this event is complete:
    /// every use begins after it, and one that reads fails with it. Of the place's plugin instance.
    /// Empty: it is there already.
    Event ready{};
    /// Nobody may write: acquires for writing are PI_ERROR_INVALID_OPERATION, and what is given is never
    /// written to.
    bool read_only = false;
    /// Routes that may be used. Without direct_use and import every place has memory of its own.
    RouteMask routes = all_routes;
    /// Ways in which a bounce may go. Several ranges at once are never mapped.
    StyleMask styles = all_styles;
    std::string name{}; ///< for the log
};

/// One allocation's worth of bytes, with replicas at places, made when a place is first acquired. Each
/// byte is valid at some places and stale at the others, or was never written at all: such bytes may be
/// acquired, have no value, and nothing is fetched for them.
///
/// Copies of a Storage are the same storage. Thread-safe. Destroying the last one with work in flight is
/// safe: what copies and released commands use is kept until they are final. Nothing is written back to
/// host_memory by that: acquire the host for reading first.
class PI_RUNTIME_EXPORT Storage {
public:
    Storage(const Runtime &runtime, StorageDescription description);

    uint64_t size() const noexcept;
    /// A range of it. Past the end, or of no bytes: PI_ERROR_INVALID_SIZE.
    Buffer buffer(uint64_t offset, uint64_t size) const;
    /// All of it.
    Buffer buffer() const;

    Counters counters() const;
    /// Which bytes are valid at a place now: copies in flight do not count yet.
    RangeSet valid(PlaceIndex place) const;
    /// Bytes that were valid only at a device that is lost, and have not been written since, nor brought elsewhere by a
    /// copy that was in flight. Reading them is PI_ERROR_DEVICE_LOST; all others are as readable as before.
    RangeSet lost() const;
    /// A number for the memory that a place uses; places that share one use the same bytes. Empty before
    /// its first acquire.
    std::optional<uint32_t> memory_of(PlaceIndex place) const;
    /// As Runtime::finish, for this storage.
    bool finish(std::chrono::nanoseconds timeout) const;

private:
    std::shared_ptr<StorageState> state_;
};

} // namespace pi::runtime
