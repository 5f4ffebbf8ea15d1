// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planned coherence syncs: how the newest bytes go from one view of a memory to another.
#include "planning/planner.hpp"

#include <string>
#include <utility>

namespace pi::runtime {
namespace {

std::string sync_reason(pi_coherence source, pi_coherence destination) {
    const auto flushes = [](pi_coherence end) { return end == PI_COHERENCE_FLUSH_INVALIDATE; };
    const auto maps = [](pi_coherence end) {
        return end != PI_COHERENCE_FLUSH_INVALIDATE && end != PI_COHERENCE_COHERENT;
    };
    const bool any_flushes = flushes(source) || flushes(destination);
    const bool any_maps = maps(source) || maps(destination);
    return std::string("one piece of host memory, synchronised ") +
           (any_flushes ? "by flush and invalidate" : "") +
           (any_flushes && any_maps ? ", and " : "") + (maps(source) ? "by a map" : "") +
           (maps(source) && maps(destination) ? " and " : "") +
           (maps(destination) ? "by a write command" : "") +
           (any_maps ? ": bytes move if the plugin has a copy" : ": 0 bytes to move");
}

} // namespace

/// The seconds at one end: a call for each range, of whole units; or commands, which may copy.
double Planner::sync_seconds(ViewId end, bool is_source, const RangeSet &ranges) const {
    const View &view = view_at(end);
    const CostTable &costs = machine_.costs;
    if (!view.imported || view.coherence == PI_COHERENCE_COHERENT) {
        return 0;
    }
    const bool maps = is_source && view.coherence == PI_COHERENCE_MAP_UNMAP;
    if (!maps && view.coherence != PI_COHERENCE_FLUSH_INVALIDATE) {
        return is_source ? costs.seconds(view.home, host_place, ranges.bytes())
                         : costs.seconds(host_place, view.home, ranges.bytes());
    }
    double seconds = 0;
    for (const Range &range : ranges.ranges()) {
        seconds += costs.map_seconds(view.home, whole_units(range, ledger().unit(end)).bytes());
    }
    return seconds;
}

PlannedPart Planner::sync(ViewId source, ViewId destination, RangeSet ranges) const {
    PlannedPart part;
    part.coherence_sync = true;
    Candidate candidate;
    candidate.route.kind = RouteKind::import;
    candidate.route.source = view_at(source).home;
    candidate.route.destination = view_at(destination).home;
    candidate.possible = true;
    candidate.seconds =
        sync_seconds(source, true, ranges) + sync_seconds(destination, false, ranges);
    candidate.reason = sync_reason(view_at(source).coherence, view_at(destination).coherence);
    part.sources.push_back({source, std::move(candidate)});
    part.ranges = std::move(ranges);
    return part;
}

std::vector<PlannedPart> Planner::plan_syncs(ViewId target, RangeSet &stale, From from) const {
    std::vector<PlannedPart> parts;
    RangeSet planned;
    for (ViewId view = 0; view < ledger().view_count(); ++view) {
        if (view == target || ledger().memory_of(view) != ledger().memory_of(target)) {
            continue;
        }
        RangeSet ranges =
            intersect(stale, from == From::possibly_valid ? ledger().possibly_valid(view)
                                                          : ledger().expected(view));
        if (ranges.empty()) {
            continue;
        }
        ranges.add(subtract(ledger().synced_along(view, target, ranges), planned));
        planned.add(ranges);
        stale.remove(ranges);
        parts.push_back(sync(view, target, std::move(ranges)));
    }
    return parts;
}

/// Whether it is a device's view of host memory, through caches of its own or only while it is not
/// mapped.
bool Planner::sees_host_memory(ViewId view) const {
    return replicas_.host_view && view != *replicas_.host_view &&
           ledger().memory_of(view) == ledger().memory_of(*replicas_.host_view);
}

std::vector<PlannedPart> Planner::plan_to_host(const RangeSet &ranges, const Spread *spread) const {
    std::vector<PlannedPart> parts = plan(target_of(*replicas_.host_view), ranges, {}, spread);
    for (PlannedPart &part : parts) {
        part.by_way_of = replicas_.host_view;
    }
    return parts;
}

/// Bytes for a device's view of host memory: the host writes them there, over one link, then a
/// coherence sync makes them visible to the device. A command that writes them through the device
/// would also move them over the device's link.
std::vector<PlannedPart> Planner::written_at_host(ViewId target, const RangeSet &ranges,
                                                  const Spread *spread) const {
    std::vector<PlannedPart> parts = plan_to_host(ranges, spread);
    RangeSet brought; // newest at the host by then, including bytes that were synced along
    for (const PlannedPart &part : parts) {
        brought.add(part.ranges);
    }
    brought.remove(ledger().expected(target));
    if (!brought.empty()) {
        brought.add(ledger().synced_along(*replicas_.host_view, target, brought));
        parts.push_back(sync(*replicas_.host_view, target, std::move(brought)));
    }
    return parts;
}

/// Likewise, bytes that a device would read out of host memory are first synced to the host, which
/// reads them.
std::vector<PlannedPart> Planner::read_at_host(PlannedPart part) const {
    std::vector<PlannedPart> parts;
    if (!part.sources.empty() && part.sources.front().over_host) {
        parts = plan_to_host(part.ranges, nullptr);
        part.sources.front().view = *replicas_.host_view;
        part.sources.front().over_host = false;
    }
    std::erase_if(part.sources, [](const Source &source) { return source.over_host; });
    parts.push_back(std::move(part));
    return parts;
}

/// Syncs the rest of the units of a write, as far as no part does.
void Planner::sync_rest_of_units(std::vector<PlannedPart> &parts, ViewId target,
                                 RangeSet rest) const {
    if (rest.empty()) {
        return;
    }
    rest.remove(ledger().possibly_valid(target));
    for (const PlannedPart &part : parts) {
        if (!part.by_way_of) {
            rest.remove(part.ranges);
        }
    }
    for (PlannedPart &part : plan_syncs(target, rest, From::possibly_valid)) {
        parts.push_back(std::move(part));
    }
}

} // namespace pi::runtime
