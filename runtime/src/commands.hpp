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

/// Host memory in which `pointer` is byte `begin` of the storage.
struct HostEnd {
    void *pointer;
    uint64_t begin;
};

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

    void read(const MemoryEnd &from, const HostEnd &to, const RangeSet &ranges,
              const TransferDone &done);
    void write(const MemoryEnd &to, const HostEnd &from, const RangeSet &ranges,
               const TransferDone &done);
    void copy(const MemoryEnd &from, const MemoryEnd &to, PlaceIndex queue, const RangeSet &ranges,
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
