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
/// queue; a thread waits for an event that refuses a callback, or whose queue cannot be flushed. Throws if there is no memory, or no thread to be had; then `done` is
/// never called.
void when_final(Event event, const std::shared_ptr<Continuations> &continuations,
                TransferDone done);

/// Blocks until the event is complete, and gives its result. Inside a callback, too, where all that can be
/// done is to ask again and again.
pi_result wait_until_final(pi_event event) noexcept;

/// One more reference, or none where the plugin refuses: of a command that is final, or will be waited for as
/// well, only a clock misses it.
Submitted another(const Submitted &command) noexcept;

/// Where the bytes of a transfer lie at one place: in device memory, or in host memory when mem is NULL.
struct Endpoint {
    PlaceIndex place = host_place;
    pi_mem mem = nullptr;
    void *host = nullptr;
    uint64_t begin = 0;  ///< the storage's byte that is byte 0 here
    bool packed = false; ///< staging: the ranges lie one behind the other from byte 0
};
inline Endpoint endpoint_of(const MemoryEnd &end) {
    return {end.place, end.mem, end.host, 0, false};
}

/// Submits commands of transfers, and tells when they are final. One in-order queue a link, made when first
/// needed, so that links work beside each other. A command is submitted when all that it needs is final, so
/// none of them holds up another in its queue. Still it names in its wait list what it comes after: that is
/// what tells a plugin with a clock of its own when it could begin.
class Commands : public std::enable_shared_from_this<Commands> {
public:
    Commands(std::shared_ptr<const Topology> topology,
             std::shared_ptr<Continuations> continuations);

    using After = std::vector<Submitted>;

    /// Brings the ranges' bytes from one end to the other: a copy between devices, a read or a write where
    /// one end is host memory. One of them must be device memory. This and the others never throw; `done` runs
    /// as posted work, or at once if the submission fails. What they give is the command alone, or nothing.
    After move(const Endpoint &from, const Endpoint &to, const RangeSet &ranges,
               const TransferDone &done, const After &after = {});
    /// map.pointer is the host's address of the range's first byte once it is done; the map must
    /// live until then.
    After map(BufferMap &map, uint64_t flags, const TransferDone &done, const After &after = {});
    After unmap(const BufferMap &map, const TransferDone &done, const After &after = {});
    /// Before commands that read these bytes of a memory, or write them: see StandingMaps.
    void undo_maps(pi_mem mem, const RangeSet &ranges, bool writes, const TransferDone &done);
    StandingMaps &standing_maps() const noexcept { return *standing_maps_; }
    /// What may not block here is called on a thread of its own, and `done` posted with its answer; what `call` holds is
    /// gone by then. Throws if there is no thread to be had; then `done` is never called.
    void call_on_thread(std::function<Outcome()> call, TransferDone done) const;

    const Topology &topology() const noexcept { return *topology_; }
    const std::shared_ptr<const Topology> &shared_topology() const noexcept { return topology_; }

private:
    struct Target {
        PlaceIndex place; // whose plugin does it
        Hop link;
        const After &after;
    };
    Queue queue_of(const Target &target);
    std::vector<pi_event> wait_list(const Target &target) const;
    /// `enqueue` is called as an enqueue function without its descriptor: the one of that name.
    template <class Enqueue>
    After submit(const Target &target, const TransferDone &done, const char *name, Enqueue enqueue);

    const std::shared_ptr<const Topology> topology_;
    const std::shared_ptr<Continuations> continuations_;
    const std::shared_ptr<StandingMaps> standing_maps_;
    std::mutex mutex_;
    std::map<std::pair<PlaceIndex, PlaceIndex>, Queue> queues_; // by link
};

} // namespace pi::runtime
