// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Predicts the transfers of an acquire without executing them.
#include "storage/storage_state.hpp"

#include <cstdio>
#include <utility>

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
    if (candidate.each_use > 0) {
        text += " and " + cost_text(candidate.each_use) + " in each use";
    }
    if (candidate.delay > 0) {
        text += " and " + cost_text(candidate.delay) + " of delay by transfers under way";
    }
    return text + ": " + candidate.reason;
}

} // namespace

Target StorageState::likely_target(const Planner &planner, PlaceIndex place, const Range &range,
                                   std::vector<Candidate> &considered) const {
    if (attachments_.leaves_shared_memory(planner, place, range)) {
        return attachments_.memory_of_its_own(place);
    }
    if (attachments_[place]) {
        return planner.target_of(attachments_[place]->view);
    }
    Target target;
    target.home = place;
    if (place == host_place) {
        return replicas_.host_view ? planner.target_of(*replicas_.host_view) : target;
    }
    considered = attachments_.sharing_candidates(place, false);
    if (!considered.empty() && considered.front().possible) {
        const Candidate &best = considered.front();
        if (best.route.kind == RouteKind::direct_use) {
            return planner.target_of(attachments_[best.route.source]->view);
        }
        if (replicas_.host_view) {
            return planner.target_of(*replicas_.host_view);
        }
        target.home = host_place;
        return target;
    }
    return attachments_.memory_of_its_own(place);
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
    used.route.source = attachments_[place]->owner();
    used.route.destination = target.home;
    const CostTable &costs = runtime_->costs;
    if (attachments_[place]->remote && costs.linked(used.route.source, place)) {
        used.each_use = costs.seconds(used.route.source, place, ranges.bytes());
    }
    used.reason = "valid there already (" + attachments_[place]->texts->reason + ")";
    part.candidates.push_back(std::move(used));
    return part;
}

ExplainedPart StorageState::explain_planned(PlannedPart planned,
                                            const std::vector<Candidate> &considered) {
    ExplainedPart part{std::move(planned.ranges), {}};
    for (Source &source : planned.sources) {
        part.candidates.push_back(std::move(source.candidate));
    }
    // Sharing is refused before copies are planned: those reasons say more than "has memory".
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
    if (const std::string note = attachments_.note(explanation.place); !note.empty()) {
        text += "  import was tried: " + note + "\n";
    }
    return text;
}

Explanation StorageState::explain(PlaceIndex place, const Range &range) {
    check_place(place);
    const std::lock_guard lock(mutex_);
    catch_up();
    Explanation result;
    result.place = place;
    result.range = range;
    std::vector<Candidate> considered;
    const Planner planner = this->planner(false);
    const Target target = likely_target(planner, place, range, considered);

    RangeSet never_written = range;
    for (ViewId view = 0; view < replicas_.ledger.view_count(); ++view) {
        never_written.remove(replicas_.ledger.expected(view));
    }
    result.bytes_never_written = never_written.bytes();
    if (target.view) {
        const RangeSet present = intersect(replicas_.ledger.expected(*target.view), range);
        if (!present.empty()) {
            result.parts.push_back(explain_present(present, place, target, considered));
        }
    }
    for (PlannedPart &planned : planner.plan(target, range)) {
        result.bytes_stale += planned.by_way_of ? 0 : planned.ranges.bytes();
        planner.predict_delays(planned);
        result.parts.push_back(explain_planned(std::move(planned), considered));
    }
    result.text = explanation_text(result);
    return result;
}

} // namespace pi::runtime
