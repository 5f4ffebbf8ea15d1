// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The speed of each link between two places, with its source.
#pragma once

#include "inventory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pi_info {

/// The source of a link's figures, the weakest first.
enum class Source {
    unknown,      ///< not available
    plugin,       ///< claimed by the plugin
    machine_file, ///< claimed by the machine file of the plugin sim
    measured      ///< measured on this machine by pi-bench calibrate or pi-info --measure
};
std::string source_name(Source source);

/// A direct path of bytes: a plugin's copy, or a read or a write if one end is the host.
struct Link {
    pi::runtime::PlaceIndex from = 0;
    pi::runtime::PlaceIndex to = 0;
    std::string kind;                ///< "pcie", ...; "unknown" for links of the host
    std::optional<double> bandwidth; ///< bytes per second, for large transfers
    std::optional<double> latency;   ///< seconds, for small transfers
    Source source = Source::unknown;
};

/// Sources that replace the plugins' figures.
struct Measure {
    std::string costs; ///< a file of pi-bench calibrate, or ""
    bool now = false;  ///< measure here, which takes seconds to minutes
};

/// The links of all ordered pairs of places, by `from` and then `to`. Links of simulated devices
/// keep the figures of their machine file, because their clock is not this machine's. `problems`
/// receives links that could not be measured. Throws std::runtime_error if the costs are invalid,
/// or if all devices to measure are simulated.
std::vector<Link> find_links(const std::vector<Device> &devices, const Connections &connections,
                             const Measure &measure, std::vector<std::string> &problems);

/// "31.5 GB/s", "1.5 us" (`micro`: the spelling of the prefix); "?" if unknown.
std::string bandwidth_text(const Link &link);
std::string latency_text(const Link &link, const char *micro);

/// A node of the tree of places: the host, a NUMA node, a slot with several places, one device that
/// several plugins report, or a place.
struct Node {
    enum class Kind { host, numa_node, slot, device, place };
    Kind kind = Kind::host;
    std::string name; ///< "host", "NUMA node 0", "PCI 0000:1b:00", "one device", "sim:0:0"
    pi::runtime::PlaceIndex place = 0; ///< for host and place
    std::vector<Node> children;
};
/// The tree with the host at the root; unknown levels are omitted.
Node find_tree(const std::vector<Device> &devices, const Connections &connections);
std::string node_kind_name(Node::Kind kind);

} // namespace pi_info
