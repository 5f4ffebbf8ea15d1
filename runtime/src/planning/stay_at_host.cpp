// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether the bytes of a staged bounce stay valid at the host, where other places take them from.
#include "planning/planner.hpp"

#include <algorithm>
#include <string>

namespace pi::runtime {

/// Empty if the bytes of a bounce may stay at the host on their way.
std::string Planner::why_not_at_host(const Source &source, const RangeSet &ranges) const {
    const Route &route = source.candidate.route;
    if (route.style != BounceStyle::staged || route.hops.size() != 2) {
        return "no bounce of two halves";
    }
    const TopologyDescription &topology = machine_.topology;
    if (topology.place(route.source).shares_host_memory() ||
        topology.place(route.destination).shares_host_memory()) {
        return "an end is host memory itself, and small staging buffers stay in the cache";
    }
    const StyleMask halves = mask_of(BounceStyle::read) | mask_of(BounceStyle::write);
    if ((storage_.styles & halves) != halves) {
        return "not allowed for this storage";
    }
    if (storage_.host_memory != nullptr) {
        return "the host's memory is the application's";
    }
    const uint64_t limit = machine_.bounce_limit;
    if (limit == 0) {
        return "RuntimeOptions::bounce_limit is 0";
    }
    if (!replicas_.host_view) {
        const uint64_t used = machine_.bounce_bytes;
        return limit < used || limit - used < storage_.size
                   ? "RuntimeOptions::bounce_limit is reached"
                   : "";
    }
    if (!has_memory_alone(*replicas_.host_view)) {
        return "devices have imported the host's memory";
    }
    const auto waits = ledger().copy_waits(source.view, *replicas_.host_view, host_place, ranges);
    const bool in_use = std::any_of(waits.begin(), waits.end(),
                                    [](const Ledger::Wait &wait) { return !wait.data; });
    return in_use ? "the host's memory is in use" : "";
}

void Planner::decide_stay_at_host(PlannedPart &part) const {
    if (part.sources.empty()) {
        return;
    }
    Source &best = part.sources.front();
    if (best.candidate.route.style != BounceStyle::staged) {
        return;
    }
    const std::string reason = why_not_at_host(best, part.ranges);
    part.stays_at_host = reason.empty();
    best.candidate.reason +=
        part.stays_at_host ? ", and stays there" : ", not kept there: " + reason;
}

} // namespace pi::runtime
