// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/handle.hpp>
#include <pi/runtime/range_set.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/transfer.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pi::runtime {

class StorageState;
struct AcquisitionState;
struct BufferState;

enum class Access : uint32_t {
    read,       ///< fetches stale bytes
    write,      ///< writes part of the range; the rest keeps its value, so stale bytes are fetched
    read_write, ///< fetches stale bytes; after the release this place has the only valid copy
    discard_write ///< writes every byte of the range before it reads it; fetches nothing
};
PI_RUNTIME_EXPORT const char *to_string(Access access) noexcept;

/// The right to use a range at a place, from acquire to release.
///
/// At a device: enqueue commands that use mem() at offset(), or launch kernels with argument(); let
/// them wait for events(queue); then release with the event of the last command. At the host:
/// pointer() waits until the bytes are ready; release when done.
///
/// If it is destroyed without a release, a read ends, and a write counts as failed: other places
/// keep the bytes that they have (but see release). Movable, not copyable. One thread at a time may
/// use it; any thread may release it.
///
/// After release or abandon, wait() is still allowed, but mem(), offset(), argument(), lead(),
/// events() and pointer() throw PI_ERROR_INVALID_OPERATION: the memory may have been evicted.
class PI_RUNTIME_EXPORT Acquisition {
public:
    Acquisition() noexcept;
    ~Acquisition();
    Acquisition(Acquisition &&) noexcept;
    Acquisition &operator=(Acquisition &&) noexcept;

    PlaceIndex place() const;
    /// In bytes of the storage.
    Range range() const;

    /// Whether the access is more than a read.
    bool writes() const;

    /// At a device: the memory, borrowed until the release. NULL at the host.
    pi_mem mem() const;
    /// Offset of the range in mem(), in bytes.
    uint64_t offset() const;
    /// At a device: the range as a kernel argument. If the device's arguments can begin only at
    /// aligned offsets (offset_alignment of its memory scope, PI_DEVICE_INFO_BUFFER_OFFSET_MODE),
    /// the argument begins up to that many bytes before the range: a kernel for arbitrary ranges
    /// also needs lead(), and must not touch the bytes before it. At the host:
    /// PI_ERROR_INVALID_OPERATION.
    pi_kernel_argument argument() const;
    /// Bytes of argument() before the range; 0 if offset() is aligned.
    uint64_t lead() const;
    /// The events that commands must wait for. They belong to the place's plugin instance and are
    /// borrowed until the acquisition is destroyed. Empty if the bytes are ready, and at the host.
    /// An event fails if a copy or use failed that was to produce bytes of this range. An earlier
    /// use that merely has to end first, such as a read of bytes that are written now, does not
    /// pass on its failure: it appears as a host event, which a callback signals.
    const std::vector<pi_event> &events() const;
    /// The same for commands on one queue of the place's plugin instance. If the queue is in order,
    /// earlier uses that merely have to end first are not among the events and need no callback if
    /// they are commands of the same instance: on the same queue they come first anyway; for those
    /// on other queues, this call enqueues a barrier on `queue`. A second call for the same queue
    /// enqueues no further barrier.
    const std::vector<pi_event> &events(pi_queue queue) const;

    /// At the host: waits, then returns the address of the range's first byte; the caller may use
    /// the bytes until the release. At a device: PI_ERROR_INVALID_OPERATION.
    std::byte *pointer() const;
    /// Blocks until the bytes are ready (at a device, until events() are complete). Throws the
    /// error if they cannot be fetched (they stay readable where they are), and PI_ERROR_TIMEOUT
    /// after the timeout. Not inside a callback: use on_ready.
    void wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;
    /// Calls back once the bytes are ready or cannot be fetched; on any thread, perhaps during this
    /// call, under the rules of PI callbacks. The callback must not throw: an exception is written
    /// to stderr and dropped.
    void on_ready(TransferDone callback) const;

    /// Ends the use when `event` is complete; does not wait for it. NULL: ends the use now (a
    /// write, once all that it waits for is complete; it has failed if bytes that it fetches did
    /// not arrive). The event must belong to the place's plugin instance (at the host: to any) and
    /// is retained. After a successful write the range is valid at this place and stale at all
    /// others. After a failed write (by the event's result) the other places keep their bytes, with
    /// one exception: bytes in a cache line that a later write at this place changed successfully
    /// before the failure was known are valid nowhere.
    ///
    /// If it throws, the acquisition is still held: release it again, with the same event. If
    /// memory ran out, the acquisition also remembers the event: when it is then abandoned or
    /// destroyed, a write counts as failed, but the use ends when the event is complete, so that
    /// running commands keep their memory. If there is no memory even for that, the thread waits
    /// for the event.
    ///
    /// - PI_ERROR_INVALID_OPERATION: it was released or abandoned before.
    /// - PI_ERROR_INVALID_EVENT: the event belongs to another plugin instance.
    void release(pi_event event = nullptr);
    /// Declares that the use did not take place: ends it now, as a failed write.
    void abandon() noexcept;
    bool held() const noexcept;

private:
    friend class Buffer;
    explicit Acquisition(std::unique_ptr<AcquisitionState> state) noexcept;
    std::unique_ptr<AcquisitionState> state_;
};

/// How one part of a range would get to a place.
struct ExplainedPart {
    RangeSet ranges;
    std::vector<Candidate> candidates; ///< best first; [0] is chosen, if it is possible
};
struct Explanation {
    PlaceIndex place = host_place;
    Range range;              ///< in bytes of the storage
    uint64_t bytes_stale = 0; ///< bytes that an acquire for reading would move or make visible
    uint64_t bytes_never_written = 0; ///< bytes that need no fetch
    std::vector<ExplainedPart> parts;
    std::string text; ///< all of this as text for people
};

/// A range of a storage. Cheap to copy; copies denote the same buffer and share its counters.
class PI_RUNTIME_EXPORT Buffer {
public:
    Buffer() noexcept = default;

    uint64_t size() const noexcept;
    uint64_t offset() const noexcept; ///< into the storage

    /// Makes bytes [offset, offset + size) of the buffer usable at a place. Only stale bytes move.
    /// Does not wait while there is memory: unfinished work is in the acquisition's events. Uses of
    /// one range in one memory are ordered by their acquires: readers run together, a writer alone.
    /// Events may depend on an acquisition that another thread still holds. Therefore threads that
    /// hold several ranges must acquire them in the same order, and must not share in-order queues.
    ///
    /// When the memory of a device runs out, idle replicas of other storages in it are evicted, no
    /// more than necessary: clean ones before those that must be written back, the least recently
    /// used first. A replica that must be written back and has been idle for some time goes before
    /// clean ones in steady use. Only if this is not enough, acquire waits: for the write-back to
    /// the host; if no replica is idle, for memory that the runtime itself is about to free there
    /// (staging memory of other transfers, which get no more of it meanwhile, and storages that are
    /// being destroyed); last, for the end of a released use, which must therefore not depend on
    /// this thread. In a callback it cannot wait, and evicts only clean idle replicas.
    ///
    /// If host memory runs out, it throws std::bad_alloc, and nothing has begun. A running transfer
    /// that finds no host memory fails with PI_ERROR_OUT_OF_HOST_MEMORY; its source keeps the
    /// bytes, so the next acquire can fetch them.
    ///
    /// - PI_ERROR_INVALID_SIZE: no bytes, or past the buffer's end (the text names the numbers).
    /// - PI_ERROR_INVALID_VALUE: no such place or access.
    /// - PI_ERROR_INVALID_OPERATION: a write to a read_only storage; or the use would wait,
    ///   directly or through others, for an acquisition that this thread made and still holds:
    ///   release that one first (its command need not be complete), or acquire once for read_write.
    /// - PI_ERROR_DEVICE_LOST: the device of the place is lost, or bytes to be fetched were valid
    ///   only at a lost device (Storage::lost lists them).
    /// - PI_ERROR_OUT_OF_DEVICE_MEMORY: no replica there can be evicted, and the runtime is about
    ///   to free nothing there or, in a callback, cannot wait for it. Also if the storage is larger
    ///   than the whole memory or the largest allocation: then nothing is evicted.
    ///
    /// Otherwise the plugin's error.
    Acquisition acquire(PlaceIndex place, Access access, uint64_t offset, uint64_t size) const;
    Acquisition acquire(PlaceIndex place, Access access) const;

    /// Begins to bring the bytes to the place, so that a later acquire there finds them. Never
    /// waits; that acquire reports the error of a copy. Throws what acquire throws.
    void prefetch(PlaceIndex place, uint64_t offset, uint64_t size) const;
    void prefetch(PlaceIndex place) const;

    /// Begins to bring the bytes to all of these places, like a prefetch to one after the other,
    /// but in pieces that each place passes on as soon as it has them. No byte crosses a link
    /// twice, and the whole takes hardly longer than for one place. Throws what acquire throws; the
    /// places before the failing one have then been served.
    void broadcast(std::span<const PlaceIndex> places, uint64_t offset, uint64_t size) const;
    void broadcast(std::span<const PlaceIndex> places) const;

    /// Reports what acquire(place, Access::read) of this range would do now, why, and how long it
    /// would take: on idle links, and behind the transfers in flight (Candidate::seconds, delay).
    /// Changes nothing.
    Explanation explain(PlaceIndex place, uint64_t offset, uint64_t size) const;
    Explanation explain(PlaceIndex place) const;

    Counters counters() const;

private:
    friend class Storage;
    explicit Buffer(std::shared_ptr<BufferState> state) noexcept;
    std::shared_ptr<BufferState> state_;
};

} // namespace pi::runtime
