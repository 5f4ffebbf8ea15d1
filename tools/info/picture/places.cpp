// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "places.hpp"

#include "../matrix.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace pi_info {

using pi::runtime::host_place;
using pi::runtime::PlaceIndex;

Places::Places(const std::vector<Device> &devices, const Connections &connections,
               const std::vector<Link> &links)
    : devices_(devices), connections_(connections), links_(links),
      count_(static_cast<PlaceIndex>(connections.topology.places.size())) {
    for (const Link &link : links_) {
        by_ends_[{link.from, link.to}] = &link;
    }
}

const Link *Places::link(PlaceIndex from, PlaceIndex to) const {
    const auto found = by_ends_.find({from, to});
    return found == by_ends_.end() ? nullptr : found->second;
}

std::string Places::describe(PlaceIndex src, PlaceIndex dst) const {
    std::string words = fmt::format("memory of {}, used by {}: {}", name(src), name(dst),
                                    cell_of(topology(), src, dst).text);
    if (const Link *one = link(src, dst)) {
        words += fmt::format("; bytes: {} ({})", figures(*one), source_name(one->source));
    }
    if (src != host_place && dst != host_place) {
        const std::string &reason = topology().buffer(src, dst).reason;
        words += reason.empty() ? "" : "; " + reason;
    }
    return words;
}

bool Places::any_numa_node() const {
    return std::any_of(connections_.device_of.begin() + 1, connections_.device_of.end(),
                       [&](size_t index) { return devices_[index].numa_node.has_value(); });
}

std::string figures(const Link &link) {
    return bandwidth_text(link) == "?" && latency_text(link, "µ") == "?"
               ? "unknown"
               : bandwidth_text(link) + ", " + latency_text(link, "µ");
}

} // namespace pi_info
