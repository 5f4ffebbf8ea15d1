// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tree of places and their links, for a terminal.
#include "output.hpp"

#include "terminal.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

namespace pi_info {
namespace {

using pi::runtime::PlaceIndex;
using pi::runtime::TopologyDescription;

std::string padded(const std::string &text, size_t width) {
    const size_t used = width_of(text);
    return text + std::string(width > used ? width - used : 0, ' ');
}

/// "sim:0:0", or "sim:0:1 to sim:0:7" for three or more in a row.
std::string names_of(const TopologyDescription &topology, const std::vector<PlaceIndex> &places) {
    std::string text;
    for (size_t i = 0; i < places.size();) {
        size_t end = i + 1;
        while (end < places.size() && places[end] == places[end - 1] + 1) {
            ++end;
        }
        text += (text.empty() ? "" : ", ") + topology.place(places[i]).name;
        if (end - i > 2) {
            text += " to " + topology.place(places[end - 1]).name;
            i = end;
        } else {
            ++i;
        }
    }
    return text;
}

struct Row {
    std::array<std::string, 6> cells; // from, arrow, to, bandwidth, latency, kind
    Source source = Source::unknown;
};

/// Both directions need equal figures to share a line.
std::string figures_of(const Link &link, const char *micro) {
    return bandwidth_text(link) + "|" + latency_text(link, micro) + "|" + link.kind + "|" +
           source_name(link.source);
}

} // namespace

Text::Style Text::style_of(Source source) {
    constexpr std::array styles{Style::faint, Style::fair, Style::fair, Style::good};
    return styles[static_cast<size_t>(source)];
}

std::string Text::branch(const std::vector<Device> &devices, const Connections &connections,
                         const Node &node, const std::string &indent) const {
    std::string text;
    for (size_t i = 0; i < node.children.size(); ++i) {
        const Node &child = node.children[i];
        const bool last = i + 1 == node.children.size();
        const char *const corner = drawn_ ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- ");
        text += indent + styled(Style::faint, corner);
        if (child.kind == Node::Kind::place) {
            const Device &device = devices[connections.device_of[child.place]];
            std::vector<std::string> facts;
            if (connections.topology.place(child.place).shares_host_memory()) {
                facts.emplace_back("in host memory");
            }
            if (!device.pci_address.empty()) {
                facts.push_back("PCI " + device.pci_address);
            }
            text += styled(Style::title, padded(child.name, 13)) + padded(device.kind, 13) +
                    device.name;
            for (const std::string &fact : facts) {
                text += ", " + fact;
            }
        } else {
            text += child.name;
        }
        text += "\n";
        const char *const stem = last ? "   " : drawn_ ? "│  " : "|  ";
        text += branch(devices, connections, child, indent + styled(Style::faint, stem));
    }
    return text;
}

std::string Text::tree(const std::vector<Device> &devices, const Connections &connections) const {
    const Node root = find_tree(devices, connections);
    return fitted(styled(Style::title, "Topology") + "\n  " + styled(Style::title, root.name) +
                      "\n" + branch(devices, connections, root, "  "),
                  columns_);
}

std::string Text::links(const Connections &connections, const std::vector<Link> &links) const {
    const TopologyDescription &topology = connections.topology;
    const char *const micro = drawn_ ? "µ" : "u";
    std::map<std::pair<PlaceIndex, PlaceIndex>, const Link *> by_ends;
    for (const Link &link : links) {
        by_ends[{link.from, link.to}] = &link;
    }
    std::vector<Row> rows;
    std::set<std::pair<PlaceIndex, PlaceIndex>> done;
    for (const Link &link : links) {
        if (done.count({link.from, link.to}) != 0) {
            continue;
        }
        const std::string figures = figures_of(link, micro);
        const auto is_both_ways = [&](const Link &one) {
            const auto back = by_ends.find({one.to, one.from});
            return back != by_ends.end() && figures_of(*back->second, micro) == figures;
        };
        const bool both_ways = is_both_ways(link);
        std::vector<PlaceIndex> partners;
        for (const Link &other : links) {
            if (other.from == link.from && done.count({other.from, other.to}) == 0 &&
                figures_of(other, micro) == figures && is_both_ways(other) == both_ways) {
                partners.push_back(other.to);
                done.insert({other.from, other.to});
                if (both_ways) {
                    done.insert({other.to, other.from});
                }
            }
        }
        const char *const arrow = both_ways ? (drawn_ ? "⇄" : "<->") : drawn_ ? "→" : "->";
        rows.push_back({{topology.place(link.from).name, arrow, names_of(topology, partners),
                         bandwidth_text(link), latency_text(link, micro),
                         link.kind == "unknown" ? "" : link.kind},
                        link.source});
    }
    std::array<size_t, 6> widths{};
    size_t all = 2 + source_name(Source::machine_file).size();
    for (const Row &row : rows) {
        for (size_t i = 0; i < widths.size(); ++i) {
            widths[i] = std::max(widths[i], width_of(row.cells[i]));
        }
    }
    for (const size_t width : widths) {
        all += width + 2;
    }
    const std::string title =
        styled(Style::title, "Links") +
        " (bandwidth of large transfers, latency of small ones, per direction)\n";
    std::string text;
    // On a narrow terminal the figures are on a separate line.
    const bool two_lines = columns_ != 0 && all > columns_;
    for (const Row &row : rows) {
        text += "  " + styled(Style::title, padded(row.cells[0], widths[0])) + " " +
                padded(row.cells[1], widths[1]) + " " +
                (two_lines ? row.cells[2] + "\n    " : padded(row.cells[2], widths[2]) + "  ");
        for (const size_t i : {size_t{3}, size_t{4}}) {
            text += std::string(widths[i] - width_of(row.cells[i]), ' ') + row.cells[i] + "  ";
        }
        text += widths[5] == 0 ? "" : padded(row.cells[5], widths[5]) + "  ";
        text += styled(style_of(row.source), source_name(row.source)) + "\n";
    }
    if (rows.empty()) {
        text += "  none\n";
    }
    std::string legend = "\n";
    for (const auto &[source, words] :
         {std::pair(Source::measured,
                    "measured      on this machine, by pi-bench calibrate or --measure\n"),
          std::pair(Source::machine_file,
                    "machine file  claimed by the machine file of the plugin sim\n"),
          std::pair(Source::plugin, "plugin        claimed by the plugin\n"),
          std::pair(Source::unknown, "unknown       not available; use --measure\n")}) {
        if (std::any_of(rows.begin(), rows.end(),
                        [&, source = source](const Row &row) { return row.source == source; })) {
            legend += std::string("  ") + words;
        }
    }
    return fitted(title, columns_) + (two_lines ? text : fitted(text, columns_)) +
           (rows.empty() ? "" : fitted(legend, columns_));
}

} // namespace pi_info
