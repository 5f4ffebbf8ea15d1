// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "completion.hpp"

#include <pi/runtime/handle.hpp>
#include <pi/runtime/topology.hpp>
#include <pi/runtime/transfer.hpp>

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace pi::runtime {

/// Tells, as posted work, when the event is final: with its result and text. Throws Error if that cannot
/// be asked for; then `done` is never called.
void when_final(Event event, const std::shared_ptr<Continuations> &continuations,
                TransferDone done);

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

/// Submits commands of transfers, and tells when they are final. One in-order queue a place, made when
/// first needed. Nothing with a wait list is ever put there: every command can run as soon as it is
/// submitted, so none of them holds up another.
class Commands {
public:
    Commands(std::shared_ptr<const Topology> topology,
             std::shared_ptr<Continuations> continuations);

    using Enqueue = std::function<pi_result(pi_queue, pi_event *)>;
    /// Never throws; `done` runs as posted work, or at once if the submission fails.
    void submit(PlaceIndex place, const Enqueue &enqueue, const TransferDone &done);

    /// Brings the ranges' bytes from one end to the other: a copy between devices, a read or a write where
    /// one end is host memory. One of them must be device memory.
    void move(const Endpoint &from, const Endpoint &to, const RangeSet &ranges,
              const TransferDone &done);
    /// *pointer is the host's address of the range's first byte once it is done; it must live until
    /// then.
    void map(const MemoryEnd &end, const Range &range, uint64_t flags, void **pointer,
             const TransferDone &done);
    void unmap(const MemoryEnd &end, void *pointer, const TransferDone &done);

    const Topology &topology() const noexcept { return *topology_; }

private:
    Queue queue_at(PlaceIndex place);

    const std::shared_ptr<const Topology> topology_;
    const std::shared_ptr<Continuations> continuations_;
    std::mutex mutex_;
    std::vector<Queue> queues_; // by place
};

} // namespace pi::runtime
