// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a planned part becomes copies. Bytes that several places want cross each link once: a later
// place takes them from the nearest place that has them, or is about to get them. They go in
// pieces, each a copy of its own, so that a place passes on what it has while the rest is still on
// its way.
#include "planning/path.hpp"
#include "planning/planner.hpp"
#include "planning/portions.hpp"

#include <algorithm>

namespace pi::runtime {

/// Whether it is the only view of its memory. With other views, copies touch whole units of caches,
/// and are best done in one piece.
bool Planner::has_memory_alone(ViewId view) const {
    const MemoryId memory = ledger().memory_of(view);
    for (ViewId other = 0; other < ledger().view_count(); ++other) {
        if (other != view && ledger().memory_of(other) == memory) {
            return false;
        }
    }
    return true;
}

/// The best size of pieces that go over the route's links, and then to so many more places, one
/// after the other.
uint64_t Planner::piece_size(const PlannedPart &part, uint64_t followers) const {
    const CostTable &costs = machine_.costs;
    const CostModel &model = costs.model();
    const std::vector<Hop> &hops = part.sources.front().candidate.route.hops;
    const uint64_t bytes = part.ranges.bytes();
    uint64_t best = bytes;
    double best_seconds = 0;
    for (uint64_t chunk = std::max<uint64_t>(1, model.smallest_chunk);; chunk *= 2) {
        const double seconds = pipeline_seconds(costs, hops, bytes, chunk, followers);
        if (best_seconds == 0 || seconds < best_seconds) {
            best_seconds = seconds;
            best = even_piece(bytes, chunk);
        }
        if (chunk >= bytes || chunk >= model.largest_chunk) {
            return best;
        }
    }
}

std::vector<RangeSet> Planner::pieces(const PlannedPart &part, const Spread *spread) const {
    const uint64_t followers = spread == nullptr ? 0 : spread->followers;
    const Source &source = part.sources.front();
    const Route &route = source.candidate.route;
    const size_t hops = route.hops.size();
    // A route of several hops is a pipeline already. A map is one range, though its bytes may have
    // arrived in pieces.
    if (part.coherence_sync || route.style == BounceStyle::map_source ||
        route.style == BounceStyle::map_destination || (hops > 1 && !part.stays_at_host)) {
        return {part.ranges};
    }
    std::vector<RangeSet> result = ledger().arriving(source.view, part.ranges);
    RangeSet there = part.ranges;
    for (const RangeSet &piece : result) {
        there.remove(piece);
    }
    if (there.empty()) {
        return result;
    }
    const bool in_pieces = part.stays_at_host || followers > 0;
    const uint64_t size = in_pieces && hops > 0 ? piece_size(part, followers) : there.bytes();
    const auto cut_up = portions(there, size);
    result.insert(result.begin(), cut_up.begin(), cut_up.end());
    return result;
}

/// A piece may have holes where its part has none: then it cannot be mapped, as a map is one range.
void Planner::drop_maps_of_holes(PlannedPart &piece) {
    if (piece.ranges.ranges().size() > 1) {
        std::erase_if(piece.sources, [](const Source &source) {
            const BounceStyle style = source.candidate.route.style;
            return style == BounceStyle::map_source || style == BounceStyle::map_destination;
        });
    }
}

/// Both copies of a bounce, in turn for each piece.
void Planner::cut_bounce(std::vector<PlannedCopy> &copies, const PlannedPart &part,
                         ViewId destination, const std::vector<RangeSet> &in_pieces) const {
    const auto half = [&](ViewId from, ViewId to) {
        const RangeSet &piece = in_pieces.front();
        RouteRequest request =
            route_request(from, target_of(to), piece.bytes(), piece.ranges().size());
        request.styles &= mask_of(BounceStyle::read) | mask_of(BounceStyle::write); // for any piece
        Candidate best = candidates(machine_.topology, request, machine_.costs).front();
        best.delay = delay(best, piece.bytes());
        return Source{from, std::move(best)};
    };
    PlannedPart first;
    first.on_the_way = true;
    first.sources = {half(part.sources.front().view, *replicas_.host_view)};
    PlannedPart second;
    second.is_piece = true;
    second.whole = part.sources.front().candidate;
    second.whole->seconds /= static_cast<double>(in_pieces.size());
    second.sources = {half(*replicas_.host_view, destination)};
    for (const RangeSet &piece : in_pieces) {
        first.ranges = piece;
        second.ranges = piece;
        second.sources.resize(1);
        for (const Source &source : part.sources) { // for when the first copy fails
            second.sources.push_back(source);
            second.sources.back().candidate.seconds *=
                static_cast<double>(piece.bytes()) / static_cast<double>(part.ranges.bytes());
        }
        drop_maps_of_holes(second);
        copies.push_back({first, *replicas_.host_view});
        copies.push_back({second, destination});
    }
}

void Planner::cut(std::vector<PlannedCopy> &copies, const PlannedPart &part, ViewId destination,
                  Spread *spread) const {
    const ViewId to = part.by_way_of.value_or(destination);
    const std::vector<RangeSet> in_pieces =
        has_memory_alone(to) ? pieces(part, spread) : std::vector{part.ranges};
    if (spread != nullptr && !part.sources.empty()) {
        spread->senders.push_back(part.sources.front().view);
    }
    if (part.stays_at_host) {
        cut_bounce(copies, part, to, in_pieces);
        return;
    }
    const bool behind_a_bounce =
        replicas_.bounce_bytes != 0 && part.sources.front().view == *replicas_.host_view;
    const bool is_piece = spread != nullptr || behind_a_bounce;
    for (const RangeSet &piece : in_pieces) {
        copies.push_back({part, to});
        copies.back().part.ranges = piece;
        copies.back().part.is_piece = is_piece;
        const auto share =
            static_cast<double>(piece.bytes()) / static_cast<double>(part.ranges.bytes());
        for (Source &source : copies.back().part.sources) {
            source.candidate.seconds *= share;
        }
        drop_maps_of_holes(copies.back().part);
    }
}

} // namespace pi::runtime
