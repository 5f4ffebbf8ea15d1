// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "transfer/completion.hpp"
#include "transfer/standing_maps.hpp"

#include <pi/runtime/handle.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/topology.hpp>
#include <pi/runtime/transfer.hpp>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace pi::runtime {

/// Calls `done` as posted work when the event is complete: with its result and text. Flushes its
/// queue. A thread waits for an event that refuses a callback, or whose queue cannot be flushed.
/// Throws if there is no memory, or a thread is needed and cannot be created; then `done` is never
/// called.
void when_complete(Event event, const std::shared_ptr<Continuations> &continuations,
                   TransferDone done);

/// Blocks until the event is complete, and returns its result. Also inside a callback, where it
/// polls.
pi_result wait_until_complete(pi_event event) noexcept;

/// One more reference, or none where the plugin refuses to retain: the command is complete, or is
/// waited for in another way as well, so only a plugin's own clock misses it.
Submitted another(const Submitted &command) noexcept;

/// Where the bytes of a transfer are at one place: in device memory, or in host memory if mem is
/// NULL.
struct Endpoint {
    PlaceIndex place = host_place;
    pi_mem mem = nullptr;
    void *host = nullptr;
    uint64_t begin = 0;  ///< byte of the storage at byte 0 here
    bool packed = false; ///< staging: the ranges follow each other from byte 0
};
inline Endpoint endpoint_of(const MemoryEnd &end) {
    return {end.place, end.mem, end.host, 0, false};
}

/// Submits commands of transfers, and calls back when they are complete. Each link has one in-order
/// queue, made at its first use, so that links work at the same time. A command is submitted when
/// all that it needs is complete, so no command delays another in its queue. Its wait list still
/// names what it comes after, for plugins with a clock of their own.
class Commands : public std::enable_shared_from_this<Commands> {
public:
    Commands(std::shared_ptr<const Topology> topology,
             std::shared_ptr<Continuations> continuations);

    using After = std::vector<Submitted>;

    /// Moves the ranges' bytes from one end to the other: by a copy between devices, by a read or a
    /// write if one end is host memory. At least one end must be device memory. This and the
    /// functions below never throw; `done` runs as posted work, or at once if the submission fails.
    /// They return only their command, or nothing.
    After move(const Endpoint &from, const Endpoint &to, const RangeSet &ranges,
               const TransferDone &done, const After &after = {});
    /// Sets map.pointer to the host's address of the range's first byte before `done`; the map must
    /// live until then.
    After map(BufferMap &map, uint64_t flags, const TransferDone &done, const After &after = {});
    After unmap(const BufferMap &map, const TransferDone &done, const After &after = {});
    /// To be called before commands that read these bytes of a memory, or write them: see
    /// StandingMaps.
    void undo_maps(pi_mem mem, const RangeSet &ranges, bool writes, const TransferDone &done);
    StandingMaps &standing_maps() const noexcept { return *standing_maps_; }
    /// Runs a call that would block here on a thread of its own, then posts `done` with its result;
    /// `call` is destroyed by then. Throws if no thread can be created; then `done` is never
    /// called.
    void call_on_thread(std::function<Outcome()> call, TransferDone done) const;

    const Topology &topology() const noexcept { return *topology_; }
    const std::shared_ptr<const Topology> &shared_topology() const noexcept { return topology_; }

private:
    struct Target {
        PlaceIndex place; // its plugin executes the command
        Hop link;
        const After &after;
    };
    Queue queue_of(const Target &target);
    std::vector<pi_event> wait_list(const Target &target) const;
    /// Calls `enqueue`, an enqueue function of that name without its descriptor.
    template <class Enqueue>
    After submit(const Target &target, const TransferDone &done, const char *name, Enqueue enqueue);

    const std::shared_ptr<const Topology> topology_;
    const std::shared_ptr<Continuations> continuations_;
    const std::shared_ptr<StandingMaps> standing_maps_;
    std::mutex mutex_;
    std::map<std::pair<PlaceIndex, PlaceIndex>, Queue> queues_; // by link
};

} // namespace pi::runtime
