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
    read,         ///< fetches what is stale
    write,        ///< writes some of the range: the rest must keep its value, so it fetches too
    read_write,   ///< fetches; from the release on the only valid copy
    discard_write ///< writes every byte of the range before reading it: fetches nothing
};
PI_RUNTIME_EXPORT const char *to_string(Access access) noexcept;

/// The right to use a range at a place, from acquire to release.
///
/// At a device: enqueue commands that name mem() at offset(), or launch kernels with argument(), which
/// wait for events(queue), and release with the event of the last. At the host: pointer() waits until the bytes are there; release when done.
///
/// Destroyed unreleased, a read is over and a write counts as failed: where another place has the bytes
/// it keeps them (but see release). Movable, not copyable; used by one thread at a time, released from any.
///
/// Once released or abandoned it can still be waited for, but mem(), offset(), argument(), lead(), events() and
/// pointer() are PI_ERROR_INVALID_OPERATION: an eviction may have taken the memory.
class PI_RUNTIME_EXPORT Acquisition {
public:
    Acquisition() noexcept;
    ~Acquisition();
    Acquisition(Acquisition &&) noexcept;
    Acquisition &operator=(Acquisition &&) noexcept;

    PlaceIndex place() const;
    /// In bytes of the storage.
    Range range() const;

    /// Whether it was acquired for more than reading.
    bool writes() const;

    /// Device places: the memory, borrowed until the release. NULL at the host.
    pi_mem mem() const;
    /// Where the range begins in mem().
    uint64_t offset() const;
    /// Device places: the range for a kernel. Where the device cannot let an argument begin at any byte (its memory
    /// scope's offset_alignment, PI_DEVICE_INFO_BUFFER_OFFSET_MODE), the argument begins up to that much before the
    /// range: a kernel that is launched on any range also needs lead(). What lies there belongs to others.
    /// PI_ERROR_INVALID_OPERATION at the host.
    pi_kernel_argument argument() const;
    /// How many bytes of argument() come before the range; 0 where offset() is aligned.
    uint64_t lead() const;
    /// What commands must wait for: events of the place's plugin instance, borrowed until the
    /// acquisition is destroyed. Empty when all is there, and at the host. They fail with a copy or a use that was to make
    /// bytes which are needed here. A use that must only be over before, such as an earlier reader of what is written now,
    /// fails nothing if it fails: it comes among them as a host event, which is signalled by a callback.
    const std::vector<pi_event> &events() const;
    /// The same for commands on one queue of the place's plugin instance, without that callback where the queue is in order
    /// and the earlier use is by commands of the same instance: on the same queue nothing is needed, for one on another
    /// a barrier is enqueued here, and neither is among the events. Asking again for the same queue enqueues no other.
    const std::vector<pi_event> &events(pi_queue queue) const;

    /// Host: the first byte of the range, after wait(); the bytes are yours until the release. At a device:
    /// PI_ERROR_INVALID_OPERATION.
    std::byte *pointer() const;
    /// Blocks until the bytes are there (at a device, until events() are final). Throws the error if they
    /// cannot be fetched (they are still readable where they are), PI_ERROR_TIMEOUT when the time is
    /// over. Never call it inside a callback: use on_ready.
    void wait(std::chrono::nanoseconds timeout = std::chrono::nanoseconds::max()) const;
    /// Calls back once the bytes are there or cannot be fetched; on any thread, perhaps at once, under
    /// the rules of PI callbacks. It must not throw: nobody is there to catch it, so what it throws is written to stderr
    /// and goes no further.
    void on_ready(TransferDone callback) const;

    /// The use is over when the event is complete, which is not waited for; NULL: it is over now, a
    /// write once what it waits for is over, and it has failed if bytes that it fetches did not come.
    /// The event must be one of the place's plugin instance (at the host: of any) and is retained.
    /// After a write succeeded this place's range is valid and all others' stale; after one failed
    /// (the event's result) the others keep theirs, but for bytes in whose cache units a later write
    /// at this place succeeded before the failure was known: of those none are valid.
    ///
    /// Where it throws, the acquisition is still held: release it again, with the same event. If it
    /// threw for want of memory it also remembers the event: abandoned or destroyed then, a write
    /// counts as failed, but the use is over when the event is complete, so that commands under way
    /// keep their memory. If there is no memory for that either, the thread waits for the event.
    ///
    /// PI_ERROR_INVALID_OPERATION: released or abandoned already.
    /// PI_ERROR_INVALID_EVENT: of another plugin instance.
    void release(pi_event event = nullptr);
    /// The use did not take place: ends it at once, as a failed write.
    void abandon() noexcept;
    bool held() const noexcept;

private:
    friend class Buffer;
    explicit Acquisition(std::unique_ptr<AcquisitionState> state) noexcept;
    std::unique_ptr<AcquisitionState> state_;
};

/// How one part of a range would come to a place.
struct ExplainedPart {
    RangeSet ranges;
    std::vector<Candidate> candidates; ///< best first; [0] is the one chosen, if it is possible
};
struct Explanation {
    PlaceIndex place = host_place;
    Range range;                      ///< in bytes of the storage
    uint64_t bytes_stale = 0;         ///< that an acquire for reading would make move or hand over
    uint64_t bytes_never_written = 0; ///< nothing to fetch
    std::vector<ExplainedPart> parts;
    std::string text; ///< all of it for people
};

/// A range of a storage. Cheap to copy; copies are the same buffer and share its counters.
class PI_RUNTIME_EXPORT Buffer {
public:
    Buffer() noexcept = default;

    uint64_t size() const noexcept;
    uint64_t offset() const noexcept; ///< into the storage

    /// Makes bytes [offset, offset + size) of the buffer usable at a place; only stale bytes move.
    /// Never waits while there is memory: what is under way is in the acquisition's events. Uses of
    /// one range in one memory are ordered as they were acquired: readers together, a writer alone.
    /// The events may wait for what another thread still holds, so threads that hold several ranges
    /// acquire them in one order, and do not share in-order queues.
    ///
    /// When a device has no memory left, replicas of other storages in that memory that are not in
    /// use make room: clean ones before those that must be written back, those used longest ago
    /// first, no more than is needed; but those that must be written back and have not been used
    /// for a while go before clean ones in steady use. Only then acquire waits: for the bytes that
    /// are written back to the host; if no replica is idle, for memory that the runtime itself is
    /// about to free there (the staging memory of other transfers, which get no more of it
    /// meanwhile, and storages that are being destroyed); last for a use that was released to end,
    /// which therefore must be able to end without this thread. In callbacks it cannot wait, and
    /// only clean idle replicas go.
    ///
    /// Without host memory it throws std::bad_alloc and has begun nothing. A transfer under way
    /// that finds none fails with PI_ERROR_OUT_OF_HOST_MEMORY; its source keeps the bytes, so that
    /// the next acquire brings them.
    ///
    /// PI_ERROR_INVALID_SIZE: no bytes, or past the buffer's end (the text names the numbers).
    /// PI_ERROR_INVALID_VALUE: no such place, or access.
    /// PI_ERROR_INVALID_OPERATION: to write a storage that is read_only; or would wait, if only for
    ///   what waits itself, for an acquisition that this thread made and that is still held: release
    ///   it first (its command need not be complete), or acquire once for read_write.
    /// PI_ERROR_DEVICE_LOST: the place's device is lost, or bytes to be fetched were only at one that
    ///   is (Storage::lost lists them).
    /// PI_ERROR_OUT_OF_DEVICE_MEMORY: no replica there can be given up and the runtime is about to free
    ///   nothing there, or, in a callback, it cannot wait for that; or the storage is larger than all
    ///   of the memory, or than one allocation may be: then no replica is given up.
    /// Otherwise what the plugin said.
    Acquisition acquire(PlaceIndex place, Access access, uint64_t offset, uint64_t size) const;
    Acquisition acquire(PlaceIndex place, Access access) const;

    /// Begins to bring the bytes to the place, so that a later acquire there finds them. Never waits; an
    /// error of a copy shows in that acquire. Throws what acquire throws.
    void prefetch(PlaceIndex place, uint64_t offset, uint64_t size) const;
    void prefetch(PlaceIndex place) const;

    /// Begins to bring the bytes to all these places, as prefetch does one after the other, but in pieces: each
    /// place passes on to the next what it has of them. So no link sees a byte twice, and it takes hardly
    /// longer than for one place. Throws what acquire throws; places named before have been served then.
    void broadcast(std::span<const PlaceIndex> places, uint64_t offset, uint64_t size) const;
    void broadcast(std::span<const PlaceIndex> places) const;

    /// What acquire(place, Access::read) of this range would do now, and why, and how long it would take: on idle links,
    /// and behind what is under way on them (Candidate::seconds, delay). Changes nothing.
    Explanation explain(PlaceIndex place, uint64_t offset, uint64_t size) const;
    Explanation explain(PlaceIndex place) const;

    Counters counters() const;

private:
    friend class Storage;
    explicit Buffer(std::shared_ptr<BufferState> state) noexcept;
    std::shared_ptr<BufferState> state_;
};

} // namespace pi::runtime
