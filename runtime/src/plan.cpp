// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where stale bytes come from, and by which routes.
#include "storage_state.hpp"

#include <pi/runtime/error.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace pi::runtime {
namespace {

std::string cost_text(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f us", seconds * 1e6);
    return text;
}

std::string candidate_text(const Candidate &candidate, const TopologyDescription &topology) {
    std::string text = to_string(candidate.route.kind);
    if (candidate.route.style != BounceStyle::none) {
        text += std::string(" (") + to_string(candidate.route.style) + ")";
    }
    text += " from " + topology.place(candidate.route.source).name;
    text += candidate.possible ? ", " + cost_text(candidate.seconds) : ", refused";
    return text + ": " + candidate.reason;
}

std::string hand_over_reason(pi_coherence source, pi_coherence destination) {
    const auto either = [&](pi_coherence coherence) {
        return source == coherence || destination == coherence;
    };
    const bool flushes = either(PI_COHERENCE_FLUSH_INVALIDATE);
    const bool maps = either(PI_COHERENCE_MAP_UNMAP) || either(PI_COHERENCE_UNKNOWN);
    return std::string("one piece of host memory: handed over by ") +
           (flushes ? "flush and invalidate" : "") + (flushes && maps ? ", and by " : "") +
           (maps ? "map and unmap" : "") + ", 0 bytes to move";
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
    request.source_cached = view.cached;
    request.source_scope_0 = view.scope_0;
    request.source_maps = view.maps;
    request.destination_scope_0 = target.scope_0;
    request.scope = description_.scope;
    request.destination_maps = target.maps;
    request.destination_has_memory = true;
    request.allowed = description_.routes;
    request.styles = description_.styles;
    return request;
}

std::vector<PlannedPart> StorageState::plan_hand_overs(ViewId target, RangeSet &stale) const {
    std::vector<PlannedPart> parts;
    RangeSet planned;
    for (ViewId view = 0; view < ledger_.view_count(); ++view) {
        if (view == target || ledger_.memory_of(view) != ledger_.memory_of(target)) {
            continue;
        }
        PlannedPart part;
        part.ranges = intersect(stale, ledger_.expected(view));
        if (part.ranges.empty()) {
            continue;
        }
        part.ranges.add(subtract(ledger_.brought_along(view, target, part.ranges), planned));
        planned.add(part.ranges);
        stale.remove(part.ranges);
        part.hand_over = true;
        Candidate candidate;
        candidate.route.kind = RouteKind::import;
        candidate.route.source = views_[view].home;
        candidate.route.destination = views_[target].home;
        candidate.possible = true;
        candidate.seconds = 2 * runtime_->costs.model().command_latency;
        candidate.reason = hand_over_reason(views_[view].coherence, views_[target].coherence);
        part.sources.push_back({view, std::move(candidate)});
        parts.push_back(std::move(part));
    }
    return parts;
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
        const auto found = candidates(
            runtime_->topology->description(),
            route_request(view, target, stale.bytes(), stale.ranges().size()), runtime_->costs);
        const bool committed =
            ledger_.valid(view).contains(intersect(stale, ledger_.expected(view)));
        if (found.front().possible) {
            ranked.push_back(
                {view, predicted_wait(view, stale, found.front().seconds, spread), committed});
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
        const RouteRequest request =
            route_request(view, target, ranges.bytes(), ranges.ranges().size());
        for (Candidate &candidate :
             candidates(runtime_->topology->description(), request, runtime_->costs)) {
            if (candidate.possible) {
                part.sources.push_back({view, std::move(candidate)});
            } else {
                part.refused.push_back(std::move(candidate));
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

std::vector<PlannedPart> StorageState::plan(const Target &target, const RangeSet &wanted,
                                            const RangeSet &written, const Spread *spread) const {
    RangeSet stale = wanted;
    std::vector<PlannedPart> parts;
    if (target.view) {
        stale.remove(ledger_.expected(*target.view));
        parts = plan_hand_overs(*target.view, stale);
    }
    std::vector<PlannedPart> copies = plan_copies(target, std::move(stale), spread);
    if (target.view) {
        RangeSet beside = ledger_.beside(*target.view, written);
        for (const PlannedPart &copy : copies) {
            beside.add(ledger_.beside(*target.view, copy.ranges));
        }
        beside.remove(ledger_.expected(*target.view));
        for (const PlannedPart &part : parts) {
            beside.remove(part.ranges);
        }
        for (PlannedPart &part : plan_hand_overs(*target.view, beside)) {
            parts.push_back(std::move(part));
        }
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
            parts.push_back(plan_copy(target, ranges, spread));
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

StorageState::Target StorageState::likely_target(PlaceIndex place,
                                                 std::vector<Candidate> &considered) const {
    if (attachments_[place]) {
        return target_of(attachments_[place]->view);
    }
    Target target;
    target.home = place;
    if (place == host_place) {
        return host_view_ ? target_of(*host_view_) : target;
    }
    considered = sharing_candidates(place);
    if (!considered.empty() && considered.front().possible) {
        const Candidate &best = considered.front();
        if (best.route.kind == RouteKind::direct_use) {
            return target_of(attachments_[best.route.source]->view);
        }
        if (host_view_) {
            return target_of(*host_view_);
        }
        target.home = host_place;
        return target;
    }
    const uint32_t scope = scope_index(place);
    target.scope_0 = scope == 0;
    target.maps = maps_in_place(runtime_->topology->info(place), scope);
    return target;
}

ExplainedPart StorageState::explain_present(const RangeSet &ranges, PlaceIndex place,
                                            const Target &target,
                                            const std::vector<Candidate> &considered) const {
    ExplainedPart part{ranges, {}};
    if (!attachments_[place]) {
        part.candidates = considered; // [0] is the memory that the place would share
        return part;
    }
    Candidate used;
    used.possible = true;
    used.route.kind = attachments_[place]->kind;
    used.route.source = attachments_[place]->owner;
    used.route.destination = target.home;
    used.reason = "valid there already (" + *attachments_[place]->reason + ")";
    part.candidates.push_back(std::move(used));
    return part;
}

ExplainedPart StorageState::explain_planned(PlannedPart planned,
                                            const std::vector<Candidate> &considered) {
    ExplainedPart part{std::move(planned.ranges), {}};
    for (Source &source : planned.sources) {
        part.candidates.push_back(std::move(source.candidate));
    }
    // Sharing was refused before copies were thought of: those reasons say more than "has memory".
    for (const Candidate &candidate : considered) {
        if (!candidate.possible) {
            part.candidates.push_back(candidate);
        }
    }
    for (Candidate &candidate : planned.refused) {
        const bool is_sharing = candidate.route.kind == RouteKind::direct_use ||
                                candidate.route.kind == RouteKind::import;
        if (considered.empty() || !is_sharing) {
            part.candidates.push_back(std::move(candidate));
        }
    }
    return part;
}

std::string StorageState::explanation_text(const Explanation &explanation) const {
    const TopologyDescription &topology = runtime_->topology->description();
    std::string text = to_string(explanation.range) + " at " +
                       topology.place(explanation.place).name + ": " +
                       std::to_string(explanation.bytes_stale) + " bytes stale, " +
                       std::to_string(explanation.bytes_never_written) + " never written\n";
    for (const ExplainedPart &part : explanation.parts) {
        text += "  " + to_string(part.ranges) + "\n";
        for (size_t index = 0; index < part.candidates.size(); ++index) {
            text += index == 0 ? "    * " : "      ";
            text += candidate_text(part.candidates[index], topology) + "\n";
        }
    }
    if (!notes_[explanation.place].empty()) {
        text += "  import was tried: " + notes_[explanation.place] + "\n";
    }
    return text;
}

Explanation StorageState::explain(PlaceIndex place, const Range &range) {
    check_place(place);
    const std::lock_guard lock(mutex_);
    notice_lost_places();
    Explanation result;
    result.place = place;
    result.range = range;
    std::vector<Candidate> considered;
    const Target target = likely_target(place, considered);

    RangeSet never_written = range;
    for (ViewId view = 0; view < ledger_.view_count(); ++view) {
        never_written.remove(ledger_.expected(view));
    }
    result.bytes_never_written = never_written.bytes();
    if (target.view) {
        const RangeSet present = intersect(ledger_.expected(*target.view), range);
        if (!present.empty()) {
            result.parts.push_back(explain_present(present, place, target, considered));
        }
    }
    for (PlannedPart &planned : plan(target, range)) {
        result.bytes_stale += planned.ranges.bytes();
        result.parts.push_back(explain_planned(std::move(planned), considered));
    }
    result.text = explanation_text(result);
    return result;
}

} // namespace pi::runtime
