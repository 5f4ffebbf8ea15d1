// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "links.hpp"

#include "names.hpp"

#include <pi/runtime/calibrate.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <stdexcept>

namespace pi_info {
namespace {

using pi::runtime::CostTable;
using pi::runtime::host_place;
using pi::runtime::PlaceIndex;
using pi::runtime::PlaceInfo;
using pi::runtime::TopologyDescription;

bool simulated(const std::vector<Device> &devices, const Connections &connections,
               PlaceIndex place) {
    return place != host_place && devices[connections.device_of[place]].plugin == "sim";
}

/// The costs of this machine, if requested.
std::optional<CostTable> costs_of(const Connections &connections, const Measure &measure,
                                  std::vector<std::string> &problems) {
    if (measure.now) {
        pi::runtime::Calibration result = pi::runtime::calibrate(connections.live);
        for (const std::string &failure : result.failures) {
            problems.push_back("not measured: " + failure);
        }
        return std::move(result.costs);
    }
    if (measure.costs.empty()) {
        return {};
    }
    pi::runtime::LoadedCosts loaded = pi::runtime::load_costs(measure.costs, connections.topology);
    if (!loaded.costs) {
        throw std::runtime_error(loaded.message);
    }
    if (!loaded.message.empty()) {
        problems.push_back(loaded.message);
    }
    return std::move(loaded.costs);
}

Link reported_link(const TopologyDescription &topology, PlaceIndex from, PlaceIndex to) {
    Link link{from, to, "unknown", {}, {}, Source::unknown};
    if (from == host_place || to == host_place) {
        const PlaceInfo &place = topology.place(from == host_place ? to : from);
        if (const auto &speed = from == host_place ? place.host_write : place.host_read) {
            link.bandwidth = static_cast<double>(speed->bandwidth);
            link.latency = static_cast<double>(speed->latency) * 1e-9;
        }
    } else {
        const pi::runtime::Connection &answer = topology.buffer(from, to);
        link.kind = link_name(answer.link_kind);
        if (answer.bandwidth != 0) {
            link.bandwidth = static_cast<double>(answer.bandwidth);
        }
        if (answer.latency != 0) {
            link.latency = static_cast<double>(answer.latency) * 1e-9;
        }
    }
    if (link.bandwidth || link.latency) {
        link.source = Source::plugin;
    }
    return link;
}

std::string three_digits(double value) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), value >= 99.95 ? "%.0f" : "%.3g", value);
    return text.data();
}

/// The address without the function: "0000:1b:00" from "0000:1b:00.0".
std::string slot_of(const Device &device) {
    return device.pci_address.substr(0, device.pci_address.rfind('.'));
}

/// Groups places that are one physical device under one node; leaves all others as they are.
std::vector<Node> with_devices(const TopologyDescription &topology,
                               const std::vector<PlaceIndex> &places) {
    std::vector<Node> nodes;
    for (const PlaceIndex place : places) {
        Node leaf{Node::Kind::place, topology.place(place).name, place, {}};
        const auto same = std::find_if(nodes.begin(), nodes.end(), [&](const Node &node) {
            const PlaceIndex other =
                node.children.empty() ? node.place : node.children.front().place;
            return same_device(topology.place(place).identity, topology.place(other).identity) ==
                   pi::runtime::SameDevice::yes;
        });
        if (same == nodes.end()) {
            nodes.push_back(std::move(leaf));
        } else if (same->children.empty()) {
            Node both{Node::Kind::device, "one device", 0, {*same, std::move(leaf)}};
            *same = std::move(both);
        } else {
            same->children.push_back(std::move(leaf));
        }
    }
    return nodes;
}

} // namespace

std::string source_name(Source source) {
    constexpr std::array names{"unknown", "plugin", "machine file", "measured"};
    return names[static_cast<size_t>(source)];
}

std::vector<Link> find_links(const std::vector<Device> &devices, const Connections &connections,
                             const Measure &measure, std::vector<std::string> &problems) {
    const TopologyDescription &topology = connections.topology;
    const auto is_simulated = [&](PlaceIndex place) {
        return simulated(devices, connections, place);
    };
    const auto count = static_cast<PlaceIndex>(topology.places.size());
    if (measure.now) {
        bool any_real = false;
        for (PlaceIndex place = 1; place < count; ++place) {
            any_real = any_real || !is_simulated(place);
        }
        if (!any_real || connections.live == nullptr) {
            throw std::runtime_error(
                "--measure: nothing to measure: a simulated machine has its own clock and the "
                "link speeds of its file; leave out --measure, or name other devices by --device");
        }
    }
    const std::optional<CostTable> costs = costs_of(connections, measure, problems);
    // For links that were not measured, the costs contain the runtime's estimates.
    const CostTable estimate = CostTable::estimate(topology);

    std::vector<Link> links;
    for (PlaceIndex from = 0; from < count; ++from) {
        for (PlaceIndex to = 0; to < count; ++to) {
            if (from == to || !estimate.linked(from, to)) {
                continue;
            }
            Link link = reported_link(topology, from, to);
            if (is_simulated(from) || is_simulated(to)) {
                link.source =
                    link.source == Source::unknown ? Source::unknown : Source::machine_file;
            } else if (costs && costs->link(from, to) != estimate.link(from, to)) {
                // A latency of 0 was lost in noise.
                const double latency = costs->link(from, to).front().latency;
                link.latency = latency > 0 ? std::optional(latency) : std::nullopt;
                link.bandwidth = costs->link(from, to).back().large_bandwidth();
                link.source = Source::measured;
            }
            links.push_back(std::move(link));
        }
    }
    return links;
}

std::string bandwidth_text(const Link &link) {
    return link.bandwidth ? three_digits(*link.bandwidth / 1e9) + " GB/s" : "?";
}

std::string latency_text(const Link &link, const char *micro) {
    if (!link.latency) {
        return "?";
    }
    const double nanoseconds = *link.latency * 1e9;
    if (nanoseconds < 999.5) {
        return three_digits(nanoseconds) + " ns";
    }
    if (nanoseconds < 999.5e3) {
        return three_digits(nanoseconds / 1e3) + " " + micro + "s";
    }
    return three_digits(nanoseconds / 1e6) + " ms";
}

std::string node_kind_name(Node::Kind kind) {
    constexpr std::array names{"host", "numa_node", "slot", "device", "place"};
    return names[static_cast<size_t>(kind)];
}

Node find_tree(const std::vector<Device> &devices, const Connections &connections) {
    const TopologyDescription &topology = connections.topology;
    Node root{Node::Kind::host, topology.place(host_place).name, host_place, {}};
    std::map<uint32_t, std::vector<PlaceIndex>> numa_nodes;
    std::vector<PlaceIndex> others;
    for (PlaceIndex place = 1; place < topology.places.size(); ++place) {
        const Device &device = devices[connections.device_of[place]];
        (device.numa_node ? numa_nodes[*device.numa_node] : others).push_back(place);
    }
    // A slot becomes a level only if it has several devices.
    const auto with_slots = [&](const std::vector<PlaceIndex> &places) {
        std::vector<std::pair<std::string, std::vector<PlaceIndex>>> slots;
        for (const PlaceIndex place : places) {
            const std::string slot = slot_of(devices[connections.device_of[place]]);
            const auto known = std::find_if(slots.begin(), slots.end(), [&](const auto &row) {
                return !slot.empty() && row.first == slot;
            });
            if (known == slots.end()) {
                slots.push_back({slot, {place}});
            } else {
                known->second.push_back(place);
            }
        }
        std::vector<PlaceIndex> single;
        std::vector<Node> nodes;
        for (const auto &[slot, members] : slots) {
            if (members.size() == 1) {
                single.push_back(members.front());
            } else {
                std::vector<Node> inside = with_devices(topology, members);
                nodes.push_back(inside.size() == 1
                                    ? inside.front()
                                    : Node{Node::Kind::slot, "PCI " + slot, 0, inside});
            }
        }
        std::vector<Node> result = with_devices(topology, single);
        result.insert(result.end(), nodes.begin(), nodes.end());
        return result;
    };
    for (const auto &[number, places] : numa_nodes) {
        root.children.push_back(
            {Node::Kind::numa_node, "NUMA node " + std::to_string(number), 0, with_slots(places)});
    }
    for (Node &node : with_slots(others)) {
        root.children.push_back(std::move(node));
    }
    return root;
}

} // namespace pi_info
