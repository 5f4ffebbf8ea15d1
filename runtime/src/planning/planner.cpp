// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where stale bytes come from, and by which routes.
#include "storage/storage_state.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace pi::runtime {
namespace {

std::string hand_over_reason(pi_coherence source, pi_coherence destination) {
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

/// Of what they move: a hand-over, which moves nothing, is never a reason to move more. What cannot be done takes for
/// ever.
double seconds_of(const std::vector<PlannedPart> &parts) {
    double seconds = 0;
    for (const PlannedPart &part : parts) {
        if (part.sources.empty()) {
            return std::numeric_limits<double>::infinity();
        }
        seconds += part.hand_over ? 0 : part.sources.front().candidate.seconds;
    }
    return seconds;
}

} // namespace

StorageState::Target StorageState::target_of(ViewId view) const {
    return {view, views_[view].home, views_[view].scope_0, views_[view].maps};
}

RouteRequest StorageState::route_request(ViewId source, const Target &target, uint64_t bytes,
                                         uint64_t pieces) const {
    const View &view = views_[source];
    RouteRequest request;
    request.source = view.home;
    request.destination = target.home;
    request.bytes = bytes;
    request.pieces = pieces;
    request.source_imported = view.imported;
    request.source_scope_0 = view.scope_0;
    request.source_maps = view.maps;
    request.destination_scope_0 = target.scope_0;
    request.scope = description_.scope;
    request.destination_maps = target.maps;
    request.destination_has_memory = true;
    request.allowed = description_.routes;
    request.styles = description_.styles;
    request.verification = runtime_->verification();
    request.verified_only = verified_only_;
    return request;
}

/// Of one end: a call for each range, of whole units; or commands, which may copy.
double StorageState::hand_over_seconds(ViewId end, bool is_source, const RangeSet &ranges) const {
    const View &view = views_[end];
    const CostTable &costs = runtime_->costs;
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
        seconds += costs.map_seconds(view.home, whole_units(range, ledger_.unit(end)).bytes());
    }
    return seconds;
}

PlannedPart StorageState::hand_over(ViewId source, ViewId destination, RangeSet ranges) const {
    PlannedPart part;
    part.hand_over = true;
    Candidate candidate;
    candidate.route.kind = RouteKind::import;
    candidate.route.source = views_[source].home;
    candidate.route.destination = views_[destination].home;
    candidate.possible = true;
    candidate.seconds =
        hand_over_seconds(source, true, ranges) + hand_over_seconds(destination, false, ranges);
    candidate.reason = hand_over_reason(views_[source].coherence, views_[destination].coherence);
    part.sources.push_back({source, std::move(candidate)});
    part.ranges = std::move(ranges);
    return part;
}

std::vector<PlannedPart> StorageState::plan_hand_overs(ViewId target, RangeSet &stale,
                                                       bool beside) const {
    std::vector<PlannedPart> parts;
    RangeSet planned;
    for (ViewId view = 0; view < ledger_.view_count(); ++view) {
        if (view == target || ledger_.memory_of(view) != ledger_.memory_of(target)) {
            continue;
        }
        RangeSet ranges =
            intersect(stale, beside ? ledger_.may_count(view) : ledger_.expected(view));
        if (ranges.empty()) {
            continue;
        }
        ranges.add(subtract(ledger_.brought_along(view, target, ranges), planned));
        planned.add(ranges);
        stale.remove(ranges);
        parts.push_back(hand_over(view, target, std::move(ranges)));
    }
    return parts;
}

/// All ways from a view; of a device's view of host memory those from the host as well.
std::vector<Source> StorageState::sources_at(ViewId view, const Target &target,
                                             const RangeSet &ranges) const {
    std::vector<Source> sources;
    const auto add = [&](ViewId from, bool over_host) {
        for (Candidate &candidate :
             candidates(runtime_->topology->description(),
                        route_request(from, target, ranges.bytes(), ranges.ranges().size()),
                        runtime_->costs)) {
            sources.push_back({view, std::move(candidate), over_host});
        }
    };
    if (sees_host_memory(view)) {
        add(*host_view_, true); // of equal ones the first is taken
    }
    add(view, false);
    return sources;
}

std::vector<ViewId> StorageState::nearest_views(const Target &target, const RangeSet &stale,
                                                const Spread *spread) const {
    struct Ranked {
        ViewId view;
        double seconds;
        bool committed;
    };
    std::vector<ViewId> views;
    for (ViewId view = 0; view < ledger_.view_count(); ++view) {
        const bool one_memory =
            target.view && ledger_.memory_of(view) == ledger_.memory_of(*target.view);
        if (!one_memory && ledger_.expected(view).overlaps(stale)) {
            views.push_back(view);
        }
    }
    if (views.size() < 2) {
        return views; // nothing to choose: what its routes cost is asked once, by plan_copy
    }
    std::vector<Ranked> ranked;
    for (const ViewId view : views) {
        double best = std::numeric_limits<double>::infinity();
        for (const Source &source : sources_at(view, target, stale)) {
            best =
                std::min(best, source.candidate.possible
                                   ? predicted_wait(view, stale, source.candidate.seconds, spread)
                                   : best);
        }
        const bool committed =
            ledger_.valid(view).contains(intersect(stale, ledger_.expected(view)));
        if (best < std::numeric_limits<double>::infinity()) {
            ranked.push_back({view, best, committed});
        }
    }
    std::stable_sort(ranked.begin(), ranked.end(), [](const Ranked &a, const Ranked &b) {
        return a.seconds != b.seconds ? a.seconds < b.seconds : a.committed && !b.committed;
    });
    views.clear();
    for (const Ranked &entry : ranked) {
        views.push_back(entry.view);
    }
    return views;
}

PlannedPart StorageState::plan_copy(const Target &target, const RangeSet &ranges,
                                    const Spread *spread) const {
    PlannedPart part;
    part.ranges = ranges;
    for (ViewId view = 0; view < ledger_.view_count(); ++view) {
        if (!ledger_.expected(view).contains(ranges)) {
            continue;
        }
        for (Source &source : sources_at(view, target, ranges)) {
            if (source.candidate.possible) {
                part.sources.push_back(std::move(source));
            } else if (!source.over_host) {
                part.refused.push_back(std::move(source.candidate));
            }
        }
    }
    const auto seconds = [&](const Source &source) {
        return predicted_wait(source.view, ranges, source.candidate.seconds, spread);
    };
    std::stable_sort(part.sources.begin(), part.sources.end(),
                     [&](const Source &a, const Source &b) { return seconds(a) < seconds(b); });
    decide_stay_at_host(part);
    return part;
}

/// Whether a device sees the host's memory there, through caches of its own or only while it is not mapped.
bool StorageState::sees_host_memory(ViewId view) const {
    return host_view_ && view != *host_view_ &&
           ledger_.memory_of(view) == ledger_.memory_of(*host_view_);
}

std::vector<PlannedPart> StorageState::plan_to_host(const RangeSet &ranges,
                                                    const Spread *spread) const {
    std::vector<PlannedPart> parts = plan(target_of(*host_view_), ranges, {}, spread);
    for (PlannedPart &part : parts) {
        part.by_way_of = host_view_;
    }
    return parts;
}

/// Bytes that come into host memory are written there by the host, over one link, and handed over to who sees them; a
/// command that writes them through the device would carry them over its link as well.
std::vector<PlannedPart> StorageState::written_at_host(ViewId target, const RangeSet &ranges,
                                                       const Spread *spread) const {
    std::vector<PlannedPart> parts = plan_to_host(ranges, spread);
    RangeSet brought; // with what came along to the host, newest there by then
    for (const PlannedPart &part : parts) {
        brought.add(part.ranges);
    }
    brought.remove(ledger_.expected(target));
    if (!brought.empty()) {
        brought.add(ledger_.brought_along(*host_view_, target, brought));
        parts.push_back(hand_over(*host_view_, target, std::move(brought)));
    }
    return parts;
}

/// Likewise bytes that a device would read out of host memory: what was planned of them in steps.
std::vector<PlannedPart> StorageState::read_at_host(PlannedPart part) const {
    std::vector<PlannedPart> parts;
    if (!part.sources.empty() && part.sources.front().over_host) {
        parts = plan_to_host(part.ranges, nullptr);
        part.sources.front().view = *host_view_;
        part.sources.front().over_host = false;
    }
    std::erase_if(part.sources, [](const Source &source) { return source.over_host; });
    parts.push_back(std::move(part));
    return parts;
}

/// What is to lie beside a write, as far as no part brings it already.
void StorageState::add_beside(std::vector<PlannedPart> &parts, ViewId target,
                              RangeSet beside) const {
    if (beside.empty()) {
        return;
    }
    beside.remove(ledger_.may_count(target));
    for (const PlannedPart &part : parts) {
        if (!part.by_way_of) {
            beside.remove(part.ranges);
        }
    }
    for (PlannedPart &part : plan_hand_overs(target, beside, true)) {
        parts.push_back(std::move(part));
    }
}

std::vector<PlannedPart> StorageState::plan(const Target &target, const RangeSet &wanted,
                                            const RangeSet &written, const Spread *spread) const {
    RangeSet stale = wanted;
    std::vector<PlannedPart> parts;
    if (target.view) {
        stale.remove(ledger_.expected(*target.view));
        parts = plan_hand_overs(*target.view, stale);
    }
    std::vector<PlannedPart> copies = plan_copies(target, stale, spread);
    if (target.view && sees_host_memory(*target.view)) {
        std::vector<PlannedPart> over_host = written_at_host(*target.view, stale, spread);
        if (seconds_of(over_host) < seconds_of(copies)) {
            std::move(over_host.begin(), over_host.end(), std::back_inserter(parts));
            copies.clear();
        }
    }
    if (target.view) {
        RangeSet beside = ledger_.beside(*target.view, written);
        for (const PlannedPart &copy : copies) {
            beside.add(ledger_.beside(*target.view, copy.ranges));
        }
        add_beside(parts, *target.view, std::move(beside));
    }
    std::move(copies.begin(), copies.end(), std::back_inserter(parts));
    return parts;
}

std::vector<PlannedPart> StorageState::plan_copies(const Target &target, RangeSet stale,
                                                   const Spread *spread) const {
    std::vector<PlannedPart> parts;
    for (const ViewId view : nearest_views(target, stale, spread)) {
        const RangeSet ranges = intersect(stale, ledger_.expected(view));
        if (!ranges.empty()) {
            stale.remove(ranges);
            for (PlannedPart &part : read_at_host(plan_copy(target, ranges, spread))) {
                parts.push_back(std::move(part));
            }
        }
    }
    // What is left was never written, or is where no route may lead from.
    for (ViewId view = 0; view < ledger_.view_count(); ++view) {
        const RangeSet ranges = intersect(stale, ledger_.expected(view));
        if (!ranges.empty()) {
            stale.remove(ranges);
            parts.push_back(plan_copy(target, ranges, spread));
        }
    }
    return parts;
}

/// By the transfers that are under way, of a possible candidate.
double StorageState::delay(const Candidate &candidate, uint64_t bytes) const {
    return runtime_->traffic.delay(load_of(runtime_->costs, candidate, bytes));
}

void StorageState::predict_delays(PlannedPart &part) const {
    for (Source &source : part.sources) {
        source.candidate.delay = delay(source.candidate, part.ranges.bytes());
    }
}

} // namespace pi::runtime
