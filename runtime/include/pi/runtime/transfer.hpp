// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>
#include <pi/runtime/export.hpp>
#include <pi/runtime/handle.hpp>
#include <pi/runtime/range_set.hpp>
#include <pi/runtime/route.hpp>

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pi::runtime {

/// What moved; counted per buffer, per storage and in total.
struct Counters {
    /// Bytes that had to move, each once: stale at the destination when it was acquired for
    /// reading, and valid elsewhere.
    uint64_t bytes_required = 0;
    /// Bytes of completed copies. Equal to bytes_required if nothing failed or is in flight.
    uint64_t bytes_delivered = 0;
    /// Bytes that a runtime would move that copies every range in before each use and out after it.
    uint64_t bytes_copy_in_copy_out = 0;
    /// Bytes over each link (from, to); a staged bounce crosses two links.
    std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> link_bytes;
    std::array<uint64_t, route_kind_count> transfers{}; ///< completed, by RouteKind
    std::array<uint64_t, route_kind_count> bytes{};     ///< delivered, by RouteKind
    /// Coherence syncs of shared memory: by flush and invalidate, or by maps and write commands. No
    /// bytes are counted for them, since they move bytes only if a plugin's import has a copy of
    /// its own.
    uint64_t coherence_syncs = 0;
    /// Acquires of memory that is used in place and may not be the device's own (its residency is
    /// not SAME_MEMORY), and the bytes of their ranges. They are in no other count, since the bytes
    /// that cross a link are unknown: a kernel may read only part of a range, and a driver may move
    /// the whole object.
    uint64_t uses_elsewhere = 0;
    uint64_t bytes_elsewhere = 0;
    uint64_t failed_attempts = 0; ///< failed copies, even if a later route succeeded
    uint64_t evictions = 0; ///< replicas evicted in favour of others (per storage and in total)
    uint64_t bytes_written_back = 0; ///< to the host, before evictions; also counted as required
};

/// One line of the transfer log: a completed copy or coherence sync, or an acquire that needed
/// none.
struct TransferRecord {
    /// The number of the acquire in the runtime; several records may share it. The acquires of a
    /// single thread count from 1; those that were up to date count only if they are logged. With
    /// several threads, the numbers of each thread ascend, and all are different.
    uint64_t acquisition = 0;
    std::string storage; ///< StorageDescriptor::name
    PlaceIndex source = host_place;
    PlaceIndex destination = host_place;
    RangeSet ranges;
    RouteKind kind = RouteKind::none_needed;
    BounceStyle style = BounceStyle::none;
    std::string reason; ///< why this route; after a failure, its text
    pi_result result = PI_SUCCESS;
    uint64_t bytes = 0;    ///< bytes moved
    std::vector<Hop> hops; ///< the links that they crossed
    uint64_t pieces = 1;   ///< number of pieces, over several links
    /// Seconds on idle links by the runtime's costs, as planned by the acquire; 0: nothing to do.
    double predicted = 0;
    /// Additional seconds expected from transfers in flight at that time (Candidate::delay).
    double predicted_delay = 0;
    uint64_t begin = 0; ///< nanoseconds of the steady clock, when its commands could begin
    uint64_t end = 0;   ///< nanoseconds of the steady clock, when they were complete
    uint64_t bytes_copy_in_copy_out = 0; ///< of the acquire, in its first record
};

/// One end of a copy: device memory, or host bytes when mem is NULL.
struct MemoryEnd {
    PlaceIndex place = host_place;
    pi_mem mem = nullptr;
    void *host = nullptr;                           ///< the host address of byte 0, if there is one
    pi_coherence coherence = PI_COHERENCE_COHERENT; ///< of mem with `host`
};

/// A submitted command, and the plugin instance whose commands may wait for it. Empty if it could
/// not be submitted.
struct Submitted {
    Event event;
    uint32_t instance = 0; ///< PlaceInfo::instance
};

/// A request to a transport: copy `ranges` of the source to the destination, at equal offsets.
/// Everything that it must wait for is complete when it starts. Both ends stay alive until it
/// answers.
struct TransferRequest {
    Route route;
    bool coherence_sync = false; ///< both ends are one memory: make the source's writes visible
    MemoryEnd source;
    MemoryEnd destination;
    RangeSet ranges;
    /// Completed commands that it depended on. The transport puts them into the wait lists of its
    /// commands: they show a plugin with a clock of its own when these commands could begin.
    std::vector<Submitted> after;
    /// Likewise for its successors: a transport stores its last command here before it answers;
    /// lives until then.
    std::vector<Submitted> *last = nullptr;
};

/// PI_SUCCESS, or a result with a text.
using TransferDone = std::function<void(pi_result, const std::string &)>;

/// Executes copies. The runtime's own transport uses the plugins; RuntimeOptions can wrap it in
/// another, with which tests make copies fail.
class PI_RUNTIME_EXPORT Transport {
public:
    virtual ~Transport();
    /// Begins a copy. Never blocks; answers exactly once, on any thread, possibly before it
    /// returns. After a failure the destination's ranges are undefined, and the source is
    /// unchanged.
    virtual void start(const TransferRequest &request, TransferDone done) = 0;
};

/// The log as a table for people.
PI_RUNTIME_EXPORT std::string to_string(const std::vector<TransferRecord> &log,
                                        const TopologyDescription &topology);

} // namespace pi::runtime
