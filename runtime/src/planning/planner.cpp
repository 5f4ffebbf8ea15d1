// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where stale bytes come from, and by which routes.
#include "planning/planner.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

namespace pi::runtime {
namespace {

/// The seconds that the parts' copies take. Coherence syncs count as 0, so that they are never a
/// reason to move more bytes. Infinite if a part has no route.
double seconds_of(const std::vector<PlannedPart> &parts) {
    double seconds = 0;
    for (const PlannedPart &part : parts) {
        if (part.sources.empty()) {
            return std::numeric_limits<double>::infinity();
        }
        seconds += part.coherence_sync ? 0 : part.sources.front().candidate.seconds;
    }
    return seconds;
}

} // namespace

Target Planner::target_of(ViewId view) const {
    return {view, view_at(view).home, view_at(view).scope_0, view_at(view).maps};
}

RouteRequest Planner::route_request(ViewId source, const Target &target, uint64_t bytes,
                                    uint64_t pieces) const {
    const View &view = view_at(source);
    RouteRequest request;
    request.source = view.home;
    request.destination = target.home;
    request.bytes = bytes;
    request.pieces = pieces;
    request.source_imported = view.imported;
    request.source_scope_0 = view.scope_0;
    request.source_maps = view.maps;
    request.destination_scope_0 = target.scope_0;
    request.scope = storage_.scope;
    request.destination_maps = target.maps;
    request.destination_has_memory = true;
    request.allowed = storage_.routes;
    request.styles = storage_.styles;
    request.verification = machine_.verification;
    request.verified_only = verified_only_;
    return request;
}

/// All routes from a view; for a device's view of host memory also those from the host.
std::vector<Source> Planner::sources_at(ViewId view, const Target &target,
                                        const RangeSet &ranges) const {
    std::vector<Source> sources;
    const auto add = [&](ViewId from, bool over_host) {
        for (Candidate &candidate :
             candidates(machine_.topology,
                        route_request(from, target, ranges.bytes(), ranges.ranges().size()),
                        machine_.costs)) {
            sources.push_back({view, std::move(candidate), over_host});
        }
    };
    if (sees_host_memory(view)) {
        add(*replicas_.host_view, true); // of equal routes the first is taken
    }
    add(view, false);
    return sources;
}

/// The time of a copy of `seconds` from that view now: devices send to one place after the other,
/// and bytes that arrive in one piece cannot be sent on before. A broadcast plans for the order of
/// its acquires, however fast its copies are.
double Planner::predicted_wait(ViewId source, const RangeSet &ranges, double seconds,
                               const Spread *spread) const {
    if (view_at(source).home == host_place) {
        return seconds;
    }
    if (spread != nullptr) {
        return seconds * static_cast<double>(1 + std::count(spread->senders.begin(),
                                                            spread->senders.end(), source));
    }
    const bool in_one_piece = ledger().arriving(source, ranges).size() == 1;
    return seconds * (1 + ledger().readers(source, ranges) + (in_one_piece ? 1 : 0));
}

std::vector<ViewId> Planner::nearest_views(const Target &target, const RangeSet &stale,
                                           const Spread *spread) const {
    struct Ranked {
        ViewId view;
        double seconds;
        bool committed;
    };
    std::vector<ViewId> views;
    for (ViewId view = 0; view < ledger().view_count(); ++view) {
        const bool one_memory =
            target.view && ledger().memory_of(view) == ledger().memory_of(*target.view);
        if (!one_memory && ledger().expected(view).overlaps(stale)) {
            views.push_back(view);
        }
    }
    if (views.size() < 2) {
        return views; // nothing to choose: only plan_copy computes its routes
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
            ledger().valid(view).contains(intersect(stale, ledger().expected(view)));
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

PlannedPart Planner::plan_copy(const Target &target, const RangeSet &ranges,
                               const Spread *spread) const {
    PlannedPart part;
    part.ranges = ranges;
    for (ViewId view = 0; view < ledger().view_count(); ++view) {
        if (!ledger().expected(view).contains(ranges)) {
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

std::vector<PlannedPart> Planner::plan(const Target &target, const RangeSet &wanted,
                                       const RangeSet &written, const Spread *spread) const {
    RangeSet stale = wanted;
    std::vector<PlannedPart> parts;
    if (target.view) {
        stale.remove(ledger().expected(*target.view));
        parts = plan_syncs(*target.view, stale, From::expected);
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
        RangeSet rest = ledger().rest_of_units(*target.view, written);
        for (const PlannedPart &copy : copies) {
            rest.add(ledger().rest_of_units(*target.view, copy.ranges));
        }
        sync_rest_of_units(parts, *target.view, std::move(rest));
    }
    std::move(copies.begin(), copies.end(), std::back_inserter(parts));
    return parts;
}

std::vector<PlannedPart> Planner::plan_copies(const Target &target, RangeSet stale,
                                              const Spread *spread) const {
    std::vector<PlannedPart> parts;
    for (const ViewId view : nearest_views(target, stale, spread)) {
        const RangeSet ranges = intersect(stale, ledger().expected(view));
        if (!ranges.empty()) {
            stale.remove(ranges);
            for (PlannedPart &part : read_at_host(plan_copy(target, ranges, spread))) {
                parts.push_back(std::move(part));
            }
        }
    }
    // The rest was never written, or is where no route may start.
    for (ViewId view = 0; view < ledger().view_count(); ++view) {
        const RangeSet ranges = intersect(stale, ledger().expected(view));
        if (!ranges.empty()) {
            stale.remove(ranges);
            parts.push_back(plan_copy(target, ranges, spread));
        }
    }
    return parts;
}

/// The delay of a possible candidate by the transfers under way.
double Planner::delay(const Candidate &candidate, uint64_t bytes) const {
    return machine_.traffic.delay(load_of(machine_.costs, candidate, bytes));
}

void Planner::predict_delays(PlannedPart &part) const {
    for (Source &source : part.sources) {
        source.candidate.delay = delay(source.candidate, part.ranges.bytes());
    }
}

void Planner::require_verified(std::vector<PlannedPart> &parts) {
    for (PlannedPart &part : parts) {
        if (part.sources.empty()) {
            continue;
        }
        if (!part.sources.front().candidate.unverified.empty()) {
            throw Unverified{part.sources.front().candidate.unverified};
        }
        std::erase_if(part.sources,
                      [](const Source &source) { return !source.candidate.unverified.empty(); });
    }
}

} // namespace pi::runtime
