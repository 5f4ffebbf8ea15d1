// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "planning/replicas.hpp"
#include "planning/traffic.hpp"

#include <pi/runtime/cost.hpp>
#include <pi/runtime/range_set.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/storage.hpp>
#include <pi/runtime/verification.hpp>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pi::runtime {

/// One way for some bytes to come: from a view, by a route.
struct Source {
    ViewId view;
    Candidate candidate;
    /// The route starts at the host's view of the same memory, which is synchronised first.
    bool over_host = false;
};

/// Bytes that come together. The first source is used; the others are for when it fails.
struct PlannedPart {
    RangeSet ranges;
    /// Source and destination are views of one memory: a coherence sync, which moves no bytes.
    bool coherence_sync = false;
    /// The first source's bounce becomes two copies: to the host, where the bytes stay valid, and
    /// on from there.
    bool stays_at_host = false;
    /// This is the first of those two copies. No acquire asked for it, so it has no line in the
    /// log.
    bool on_the_way = false;
    /// This is the second one: the whole bounce, as which it is logged.
    std::optional<Candidate> whole;
    bool is_piece = false; // the log joins it with the other pieces of its transfer
    /// The bytes do not go to the plan's target, but to this view, from where the next part takes
    /// them.
    std::optional<ViewId> by_way_of;
    std::vector<Source> sources;
    std::vector<Candidate> refused;
};

/// A part, or a piece of one, with the view that it goes to.
struct PlannedCopy {
    PlannedPart part;
    ViewId destination;
};

/// Where bytes are to come to: a view, or memory that does not exist yet.
struct Target {
    std::optional<ViewId> view;
    PlaceIndex home = host_place;
    bool scope_0 = true;
    bool maps = true;
};

/// The progress of a broadcast: how many more places want these bytes, and which views have sent
/// them already.
struct Spread {
    uint64_t followers = 0;
    std::vector<ViewId> senders{};
};

/// Thrown where a plan needs connections that must be verified first. Nothing has begun.
struct Unverified {
    std::vector<MemoryPair> pairs;
};

/// The machine that a plan is for.
struct MachineModel {
    const TopologyDescription &topology;
    const CostTable &costs;
    const Traffic &traffic;
    const Verification *verification = nullptr; ///< NULL: the plugins are believed
    uint64_t bounce_limit = 0;                  ///< RuntimeOptions::bounce_limit
    const std::atomic<uint64_t> &bounce_bytes;  ///< bytes of that limit which storages use
};

/// Plans where stale bytes come from, and by which routes. It only reads its arguments, which must
/// outlive it and must not change meanwhile: no plugin, no lock, nothing begins.
class Planner {
public:
    /// `verified_only`: uses no connection that is not verified; else Candidate::unverified names
    /// it.
    Planner(const MachineModel &machine, const StorageDescriptor &storage, const Replicas &replicas,
            bool verified_only)
        : machine_(machine), storage_(storage), replicas_(replicas), verified_only_(verified_only) {
    }

    Target target_of(ViewId view) const;

    /// The parts that make `wanted` valid at the target and let `written` be written there, in
    /// their order. A part without sources has no possible route: its `refused` says why.
    std::vector<PlannedPart> plan(const Target &target, const RangeSet &wanted,
                                  const RangeSet &written = {},
                                  const Spread *spread = nullptr) const;

    /// Throws Unverified if a part's first source is not verified. Drops the other sources that are
    /// not.
    static void require_verified(std::vector<PlannedPart> &parts);

    /// Sets Candidate::delay of each source, by the transfers under way.
    void predict_delays(PlannedPart &part) const;

    /// Appends the copies that a part of a plan for `destination` consists of. A part that
    /// stays_at_host needs a host view by then.
    void cut(std::vector<PlannedCopy> &copies, const PlannedPart &part, ViewId destination,
             Spread *spread) const;

private:
    const Ledger &ledger() const { return replicas_.ledger; }
    const View &view_at(ViewId id) const { return replicas_.views[id]; }

    // planner.cpp
    RouteRequest route_request(ViewId source, const Target &target, uint64_t bytes,
                               uint64_t pieces) const;
    std::vector<Source> sources_at(ViewId view, const Target &target, const RangeSet &ranges) const;
    double predicted_wait(ViewId source, const RangeSet &ranges, double seconds,
                          const Spread *spread) const;
    std::vector<ViewId> nearest_views(const Target &target, const RangeSet &stale,
                                      const Spread *spread) const;
    PlannedPart plan_copy(const Target &target, const RangeSet &ranges, const Spread *spread) const;
    std::vector<PlannedPart> plan_copies(const Target &target, RangeSet stale,
                                         const Spread *spread) const;
    double delay(const Candidate &candidate, uint64_t bytes) const;

    // coherence_syncs.cpp
    bool sees_host_memory(ViewId view) const;
    double sync_seconds(ViewId end, bool is_source, const RangeSet &ranges) const;
    PlannedPart sync(ViewId source, ViewId destination, RangeSet ranges) const;
    enum class From {
        expected,      ///< bytes that a view will have
        possibly_valid ///< or will have if pending writes to other memory fail
    };
    std::vector<PlannedPart> plan_syncs(ViewId target, RangeSet &stale, From from) const;
    void sync_rest_of_units(std::vector<PlannedPart> &parts, ViewId target, RangeSet rest) const;
    std::vector<PlannedPart> plan_to_host(const RangeSet &ranges, const Spread *spread) const;
    std::vector<PlannedPart> written_at_host(ViewId target, const RangeSet &ranges,
                                             const Spread *spread) const;
    std::vector<PlannedPart> read_at_host(PlannedPart part) const;

    // pieces.cpp
    bool has_memory_alone(ViewId view) const;
    std::string why_not_at_host(const Source &source, const RangeSet &ranges) const;
    void decide_stay_at_host(PlannedPart &part) const;
    uint64_t piece_size(const PlannedPart &part, uint64_t followers) const;
    std::vector<RangeSet> pieces(const PlannedPart &part, const Spread *spread) const;
    static void drop_maps_of_holes(PlannedPart &piece);
    void cut_bounce(std::vector<PlannedCopy> &copies, const PlannedPart &part, ViewId destination,
                    const std::vector<RangeSet> &in_pieces) const;

    const MachineModel &machine_;
    const StorageDescriptor &storage_;
    const Replicas &replicas_;
    const bool verified_only_;
};

} // namespace pi::runtime
