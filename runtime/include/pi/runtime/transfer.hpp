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

/// What moved, kept per buffer, per storage and in all.
struct Counters {
    /// Stale at the destination when it was acquired for reading, and valid elsewhere: what had to
    /// move, each byte once.
    uint64_t bytes_required = 0;
    /// Brought by copies that completed. Equal to bytes_required when nothing failed or is in flight.
    uint64_t bytes_delivered = 0;
    /// What a runtime would have moved that copies every range in before and out after each use.
    uint64_t bytes_copy_in_copy_out = 0;
    /// Bytes over each link, (from, to); a staged bounce crosses two.
    std::map<std::pair<PlaceIndex, PlaceIndex>, uint64_t> link_bytes;
    std::array<uint64_t, route_kind_count> transfers{}; ///< completed, by RouteKind
    std::array<uint64_t, route_kind_count> bytes{};     ///< delivered, by RouteKind
    /// Of shared memory, by flush and invalidate, or by maps and write commands, which move bytes
    /// only where a plugin's import has bytes of its own: none are counted.
    uint64_t hand_overs = 0;
    /// Acquires of memory that is used in place and is not surely the device's own (its residency is not SAME_MEMORY), and
    /// the bytes of their ranges. How many of them crossed a link nobody knows: a kernel reads what it reads, and a driver
    /// may move the whole object. They are in no other count.
    uint64_t uses_elsewhere = 0;
    uint64_t bytes_elsewhere = 0;
    uint64_t failed_attempts = 0;    ///< copies that failed, whether or not a later route did it
    uint64_t evictions = 0;          ///< replicas given up for others (of storages and in all)
    uint64_t bytes_written_back = 0; ///< to the host before that; they count as required, too
};

/// One line of the transfer log: a copy or hand-over that became final, or an acquire that needed none.
struct TransferRecord {
    /// The acquire's number in the runtime; several records may share one. Acquires of one thread count from 1, those that were
    /// up to date only if they are logged; of several threads each thread's ascend, and all differ.
    uint64_t acquisition = 0;
    std::string storage; ///< StorageDescription::name
    PlaceIndex source = host_place;
    PlaceIndex destination = host_place;
    RangeSet ranges;
    RouteKind kind = RouteKind::none_needed;
    BounceStyle style = BounceStyle::none;
    std::string reason; ///< why this route; of a failure, its text
    pi_result result = PI_SUCCESS;
    uint64_t bytes = 0;    ///< that moved
    std::vector<Hop> hops; ///< the links that they crossed
    uint64_t pieces = 1;   ///< in which they went, over several links
    /// Seconds on idle links, by the runtime's costs, as the acquire planned it; 0: nothing had to be done.
    double predicted = 0;
    /// And by how much transfers of earlier acquires, under way then, were to make it later (Candidate::delay).
    double predicted_delay = 0;
    uint64_t begin = 0; ///< nanoseconds of the steady clock, when its commands could begin
    uint64_t end = 0;   ///< and when they were final
    uint64_t bytes_copy_in_copy_out = 0; ///< of the acquire, in its first record
};

/// One end of a copy: device memory, or host bytes when mem is NULL.
struct MemoryEnd {
    PlaceIndex place = host_place;
    pi_mem mem = nullptr;
    void *host = nullptr; ///< the host's address of byte 0, where there is one
    pi_coherence coherence = PI_COHERENCE_COHERENT; ///< of mem with `host`
};

/// A command that was submitted, and the plugin instance whose commands may wait for it. Empty if it could
/// not be.
struct Submitted {
    Event event;
    uint32_t instance = 0; ///< PlaceInfo::instance
};

/// What a transport carries out: `ranges` of source become those of destination, at equal offsets. All
/// that it must wait for is final before it is started. Both ends stay alive until it has answered.
struct TransferRequest {
    Route route;
    bool hand_over = false; ///< both ends are one memory: make source's writes visible
    MemoryEnd source;
    MemoryEnd destination;
    RangeSet ranges;
    /// Commands that made what it waited for. They are final; in its commands' wait lists they tell a plugin with
    /// a clock of its own from when on these could begin.
    std::vector<Submitted> after;
    /// Likewise for what comes after it: where a transport puts its last command before it answers. Lives until
    /// then.
    std::vector<Submitted> *last = nullptr;
};

/// PI_SUCCESS, or a result with a text.
using TransferDone = std::function<void(pi_result, const std::string &)>;

/// Carries out copies. The runtime has one that uses the plugins; RuntimeOptions can put another around
/// it, which is how tests make copies fail.
class PI_RUNTIME_EXPORT Transport {
public:
    virtual ~Transport();
    /// Begins, never blocks, and answers exactly once, on any thread, possibly before it returns.
    /// After a failure the destination's ranges may hold anything; the source is unchanged.
    virtual void start(const TransferRequest &request, TransferDone done) = 0;
};

/// The log as a table for people.
PI_RUNTIME_EXPORT std::string to_string(const std::vector<TransferRecord> &log,
                                        const TopologyDescription &topology);

} // namespace pi::runtime
