// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How fast each way between two places is, and who says so.
#pragma once

#include "inventory.hpp"

#include <optional>
#include <string>
#include <vector>

namespace pi_info {

/// Where the figures of a link come from, the weakest first.
enum class Source {
    unknown,      ///< nobody tells them
    plugin,       ///< the plugin claims them
    machine_file, ///< the file claims them by which the plugin sim simulates a machine
    measured      ///< pi-bench calibrate, or pi-info --measure, has measured them on this machine
};
std::string source_name(Source source);

/// A way that bytes take without a stop in between: a plugin's copy, or a read or a write where one end is the host.
struct Link {
    pi::runtime::PlaceIndex from = 0;
    pi::runtime::PlaceIndex to = 0;
    std::string kind;                ///< "pcie", ...; "unknown" of ways to and from the host
    std::optional<double> bandwidth; ///< bytes a second, of large transfers
    std::optional<double> latency;   ///< seconds, of small transfers
    Source source = Source::unknown;
};

/// Where figures are taken from before what the plugins tell.
struct Measure {
    std::string costs; ///< a file of pi-bench calibrate, or ""
    bool now = false;  ///< measure here, which takes seconds to minutes
};

/// Every ordered pair of two places that has a link, by `from` and then `to`. Those of simulated devices stay as their
/// machine file says, for their time is not that of this machine. `problems` receives links that could not be
/// measured. Throws std::runtime_error with what is wrong with the costs, or when there is nothing but simulated devices to measure.
std::vector<Link> find_links(const std::vector<Device> &devices, const Connections &connections,
                             const Measure &measure, std::vector<std::string> &problems);

/// "31.5 GB/s", "1.5 us" (`micro`: how the unit's first letter is written); "?" where it is unknown.
std::string bandwidth_text(const Link &link);
std::string latency_text(const Link &link, const char *micro);

/// A node of where the places are: the host, a NUMA node, a slot that several places share, one device that several plugins
/// have, or a place.
struct Node {
    enum class Kind { host, numa_node, slot, device, place };
    Kind kind = Kind::host;
    std::string name; ///< "host", "NUMA node 0", "PCI 0000:1b:00", "one device", "sim:0:0"
    pi::runtime::PlaceIndex place = 0; ///< of host and place
    std::vector<Node> children;
};
/// The host at the root; levels that nobody tells are left out.
Node find_tree(const std::vector<Device> &devices, const Connections &connections);
std::string node_kind_name(Node::Kind kind);

} // namespace pi_info
