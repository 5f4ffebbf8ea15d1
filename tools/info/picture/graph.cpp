// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "graph.hpp"

#include <algorithm>

namespace pi_info {

using pi::runtime::host_place;
using pi::runtime::PlaceIndex;

double Graph::width() const {
    return std::max(column() * std::max<double>(1, places_.count() - 1), 420.0);
}

/// The width of a device; labels of lanes need more space.
double Graph::column() const {
    return !lanes_.lanes.empty() && places_.count() > 3 ? 206 : places_.count() > 6 ? 164 : 184;
}

double Graph::center(PlaceIndex place) const {
    return x_ + column() * (static_cast<double>(place) - 0.5);
}

double Graph::port(PlaceIndex place, const Pair &pair) const {
    const std::vector<Pair> &all = lanes_.ports.at(place);
    const auto index = static_cast<double>(std::find_if(all.begin(), all.end(),
                                                        [&](const Pair &other) {
                                                            return other.low == pair.low &&
                                                                   other.high == pair.high;
                                                        }) -
                                           all.begin());
    // Near the middle, so that labels fit between the devices.
    const auto count = static_cast<double>(all.size());
    const double step = std::min(18.0, (column() - 44) / count);
    return center(place) + step * (index - (count - 1) / 2);
}

double Graph::draw(Canvas &canvas, double x, double y) {
    const double width = this->width();
    x_ = x + (width - column() * (places_.count() - 1)) / 2;
    canvas.section(x, y, "Links", legend());
    double top = y + 14;
    canvas.put("<g data-place=\"{}\">\n", escaped(places_.name(host_place)));
    canvas.put("<rect class=\"host\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"44\" "
               "rx=\"8\"/>\n",
               x, top, width);
    canvas.text("name middle", x + width / 2, top + 19, escaped(places_.name(host_place)));
    canvas.text("faint small middle", x + width / 2, top + 35, "host memory");
    canvas.end_group();
    top += 44;
    const double boxes = top + 104;
    numa_nodes(canvas, top + 82, boxes + 80);
    for (PlaceIndex place = 1; place < places_.count(); ++place) {
        to_host(canvas, place, top, boxes);
        box(canvas, place, boxes);
    }
    double bottom = boxes + 72;
    const double first_lane = boxes + 72 + (places_.any_numa_node() ? 14 : 6);
    if (!lanes_.fabrics.empty() || !lanes_.lanes.empty()) {
        bottom = first_lane;
    } else if (places_.any_numa_node()) {
        bottom = boxes + 82;
    }
    for (const Fabric &fabric : lanes_.fabrics) {
        bottom = draw_fabric(canvas, fabric, boxes + 72, bottom);
    }
    for (size_t lane = 0; lane < lanes_.lanes.size(); ++lane) {
        const double at = bottom + (lane == 0 ? 22 : 12);
        bottom = at;
        for (const Pair &pair : lanes_.lanes[lane]) {
            bottom = std::max(bottom, draw_lane(canvas, pair, boxes + 72, at));
        }
    }
    // Over all lines, which may cross them.
    canvas.put_labels();
    if (places_.count() > 2 && lanes_.lanes.empty() && lanes_.fabrics.empty()) {
        bottom += 22;
        canvas.text("faint small", x, bottom,
                    "No links between the devices: their bytes go through the host.");
    }
    return bottom;
}

std::string Graph::legend() const {
    bool measured = false;
    bool claimed = false;
    bool unknown = false;
    for (const Link &link : places_.links()) {
        measured = measured || link.source == Source::measured;
        unknown = unknown || link.source == Source::unknown;
        claimed = claimed || link.source == Source::plugin || link.source == Source::machine_file;
    }
    std::string words;
    for (const auto &[any, word] : {std::pair(measured, "solid: measured"),
                                    std::pair(claimed, "dashed: claimed, not measured"),
                                    std::pair(unknown, "dotted: unknown")}) {
        words += !any ? "" : words.empty() ? word : std::string("; ") + word;
    }
    return words + "; thicker: faster";
}

/// A frame around adjacent devices of one node.
void Graph::numa_nodes(Canvas &canvas, double top, double bottom) const {
    for (PlaceIndex begin = 1; begin < places_.count();) {
        PlaceIndex end = begin + 1;
        const auto node = places_.device(begin).numa_node;
        while (end < places_.count() && places_.device(end).numa_node == node) {
            ++end;
        }
        if (node) {
            const double left = center(begin) - column() / 2 + 4;
            const double right = center(end - 1) + column() / 2 - 4;
            canvas.put("<rect class=\"numa\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                       "height=\"{:.1f}\" "
                       "rx=\"8\"/>\n",
                       left, top, right - left, bottom - top);
            // Short, because of the arrows next to it.
            canvas.text("faint small", left + 8, top + 15, fmt::format("NUMA {}", *node));
        }
        begin = end;
    }
}

void Graph::box(Canvas &canvas, PlaceIndex place, double y) const {
    const Device &device = places_.device(place);
    const double width = column() - 24;
    const double x = center(place) - width / 2;
    canvas.put("<g data-place=\"{}\"><title>{}</title>\n", escaped(places_.name(place)),
               escaped(places_.name(place) + ": " + device.name + ", " + device.platform));
    canvas.put("<rect class=\"device\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"72\" "
               "rx=\"8\"/>\n",
               x, y, width);
    canvas.text("name middle", center(place), y + 19,
                escaped(cut(places_.name(place), width - 10, 12)));
    canvas.text("small middle", center(place), y + 35, escaped(cut(device.name, width - 10, 11)));
    canvas.text(
        "faint small middle", center(place), y + 50,
        escaped(cut(device.kind + (device.pci_address.empty() ? "" : ", " + device.pci_address),
                    width - 10, 11)));
    canvas.text("faint small middle", center(place), y + 65,
                places_.topology().place(place).shares_host_memory() ? "in host memory"
                : device.memory ? fmt::format("{:.3g} GiB of own memory",
                                              static_cast<double>(*device.memory) / (1 << 30))
                                : "own memory");
    canvas.end_group();
}

/// Both directions between the host and a device, with their figures.
void Graph::to_host(Canvas &canvas, PlaceIndex place, double top, double boxes) const {
    for (const bool down : {true, false}) {
        const PlaceIndex from = down ? host_place : place;
        const PlaceIndex to = down ? place : host_place;
        const Link *one = places_.link(from, to);
        if (one == nullptr) {
            continue;
        }
        canvas.begin_group("link", places_, from, to);
        const double x = center(place) + (down ? -8 : 8);
        const Access access = cell_of(places_.topology(), from, to).access;
        if (down) {
            canvas.arrow({{x, top + 1}, {x, boxes - 1}}, access, *one, false);
        } else {
            canvas.arrow({{x, boxes - 1}, {x, top + 1}}, access, *one, false);
        }
        const char *const classes = down ? "figure end" : "figure";
        const char *const faint = down ? "faint end" : "faint";
        const double at = x + (down ? -8 : 8);
        if (figures(*one) == "unknown") {
            canvas.text(faint, at, top + 48, "unknown");
        } else {
            canvas.text(classes, at, top + 40, bandwidth_text(*one));
            canvas.text(faint, at, top + 40 + line_height, latency_text(*one, "µ"));
        }
        canvas.end_group();
    }
}

/// Returns the end of its label.
double Graph::draw_lane(Canvas &canvas, const Pair &pair, double boxes, double y) const {
    const Link *there = places_.link(pair.low, pair.high);
    const Link *back = places_.link(pair.high, pair.low);
    const Link &one = there != nullptr ? *there : *back;
    const double left = port(pair.low, pair);
    const double right = port(pair.high, pair);
    const Access access = std::max(cell_of(places_.topology(), pair.low, pair.high).access,
                                   cell_of(places_.topology(), pair.high, pair.low).access);
    canvas.begin_group("link", places_, one.from, one.to);
    std::vector<std::pair<double, double>> points{
        {left, boxes + 1}, {left, y}, {right, y}, {right, boxes + 1}};
    if (there == nullptr) {
        std::reverse(points.begin(), points.end());
    }
    canvas.arrow(points, access, one, there != nullptr && back != nullptr);
    canvas.end_group();
    if (there != nullptr && back != nullptr) {
        // The other direction shares the line, but keeps its own element in the file.
        canvas.begin_group("link", places_, back->from, back->to);
        canvas.end_group();
    }
    std::vector<std::string> lines;
    if (there != nullptr && back != nullptr && figures(*there) == figures(*back)) {
        lines.push_back("⇄ " + figures(*there));
    } else {
        if (there != nullptr) {
            lines.push_back("→ " + figures(*there));
        }
        if (back != nullptr) {
            lines.push_back("← " + figures(*back));
        }
    }
    if (one.kind != "unknown") {
        lines.push_back(one.kind);
    }
    const double height = line_height * static_cast<double>(lines.size());
    canvas.label((left + right) / 2, y + 4 + height / 2, lines);
    return y + 4 + height;
}

/// Returns its end.
double Graph::draw_fabric(Canvas &canvas, const Fabric &fabric, double boxes, double y) const {
    const PlaceIndex first = fabric.members.front();
    const PlaceIndex last = fabric.members.back();
    const Link *slowest = nullptr;
    const Link *fastest = nullptr;
    const Link *soonest = nullptr;
    const Link *latest = nullptr;
    for (const PlaceIndex from : fabric.members) {
        for (const PlaceIndex to : fabric.members) {
            const Link *one = from == to ? nullptr : places_.link(from, to);
            if (one == nullptr) {
                continue;
            }
            canvas.begin_group("link", places_, from, to);
            canvas.end_group();
            slowest = slowest == nullptr || one->bandwidth < slowest->bandwidth ? one : slowest;
            fastest = fastest == nullptr || one->bandwidth > fastest->bandwidth ? one : fastest;
            soonest = soonest == nullptr || one->latency < soonest->latency ? one : soonest;
            latest = latest == nullptr || one->latency > latest->latency ? one : latest;
        }
    }
    const auto range = [](const std::string &low, const std::string &high) {
        return low == high ? low : low + " to " + high;
    };
    const Access access = cell_of(places_.topology(), first, fabric.members[1]).access;
    const double top = y + 34;
    const double left = center(first) - column() / 2 + 12;
    const double right = center(last) + column() / 2 - 12;
    canvas.put("<rect class=\"area {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"44\" "
               "rx=\"8\"/>\n",
               class_of(access), left, top, right - left);
    for (const PlaceIndex member : fabric.members) {
        canvas.arrow({{center(member), boxes + 1}, {center(member), top}}, access, *slowest, true);
    }
    const std::string words =
        "each with each other: " + range(bandwidth_text(*slowest), bandwidth_text(*fastest)) +
        ", " + range(latency_text(*soonest, "µ"), latency_text(*latest, "µ"));
    canvas.text("figure middle", (left + right) / 2, top + 19, words);
    canvas.text("faint small middle", (left + right) / 2, top + 35,
                fmt::format("{} links, each way of each pair{}",
                            fabric.members.size() * (fabric.members.size() - 1),
                            slowest->kind == "unknown" ? "" : "; " + slowest->kind));
    return top + 44;
}

} // namespace pi_info
