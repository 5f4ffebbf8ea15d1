// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture. Above, the graph: the host as a bar, the devices in a row under it, and under those a lane for each pair
// that has a link. Nothing can overlap: each lane and each label has a place of its own, however many there are. Below,
// or beside where there is room, the matrix.
#include "output.hpp"

#include "matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

namespace pi_info {
namespace {

using pi::runtime::host_place;
using pi::runtime::PlaceIndex;
using pi::runtime::TopologyDescription;

// Pixels. A character of the fonts that programs take for sans-serif is at most so wide, of the font's size.
constexpr double character = 0.62;
constexpr double margin = 28;
constexpr double gap = 20;
constexpr double line_height = 16;

constexpr const char *style = R"(
  text { font-family: Helvetica, Arial, "DejaVu Sans", sans-serif; font-size: 12px; fill: #1b1f24 }
  .ground { fill: #ffffff }
  .title { font-size: 18px; font-weight: 700 }
  .section { font-size: 14px; font-weight: 700 }
  .name { font-weight: 700 }
  .figure { font-weight: 600 }
  .faint { fill: #57606a }
  .small { font-size: 11px }
  .middle { text-anchor: middle }
  .end { text-anchor: end }
  .host { fill: #e3effc; stroke: #3d7cc9; stroke-width: 1.5 }
  .device { fill: #f6f8fa; stroke: #8c959f; stroke-width: 1.5 }
  .numa { fill: none; stroke: #8c959f; stroke-dasharray: 2 4 }
  .area { stroke: none }
  .line { fill: none; stroke-linejoin: round }
  .claimed { stroke-dasharray: 7 4 }
  .nobody { stroke-dasharray: 2 4 }
  .unified.area { fill: #cdeed8 } .unified.line { stroke: #1f8f4d } .unified.head { fill: #1f8f4d }
  .migratable.area { fill: #ffe3b0 } .migratable.line { stroke: #b97509 } .migratable.head { fill: #b97509 }
  .none.area { fill: #e4e7eb } .none.line { stroke: #6e7781 } .none.head { fill: #6e7781 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .ground { fill: #0d1117 }
    .faint { fill: #a3adb8 }
    .host { fill: #10294a; stroke: #58a6ff }
    .device { fill: #161b22; stroke: #768390 }
    .numa { stroke: #768390 }
    .unified.area { fill: #14492a } .unified.line { stroke: #3fb950 } .unified.head { fill: #3fb950 }
    .migratable.area { fill: #553a06 } .migratable.line { stroke: #d29922 } .migratable.head { fill: #d29922 }
    .none.area { fill: #2b3139 } .none.line { stroke: #848d97 } .none.head { fill: #848d97 }
  }
)";

/// Text of XML, of what may be no UTF-8: vendors' names are not always.
std::string escaped(const std::string &text) {
    std::string out;
    for (const char letter : text) {
        switch (letter) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        default:
            out +=
                static_cast<unsigned char>(letter) < ' ' || static_cast<unsigned char>(letter) > '~'
                    ? '?'
                    : letter;
        }
    }
    return out;
}

double width_of_text(const std::string &text, double size = 12) {
    size_t letters = 0;
    for (const char letter : text) {
        letters += (static_cast<unsigned char>(letter) & 0xC0) != 0x80 ? 1 : 0;
    }
    return static_cast<double>(letters) * size * character;
}

/// As much of the text as there is room for.
std::string cut(const std::string &text, double room, double size) {
    const auto letters = static_cast<size_t>(std::max(4.0, room / (size * character)));
    return text.size() <= letters ? text : text.substr(0, letters - 2) + "..";
}

const char *class_of(Access access) {
    constexpr std::array names{"none", "migratable", "unified"};
    return names[static_cast<size_t>(access)];
}

const char *class_of(Source source) {
    constexpr std::array names{"nobody", "claimed", "claimed", "measured"};
    return names[static_cast<size_t>(source)];
}

struct Pair {
    PlaceIndex low;
    PlaceIndex high;
};

/// Devices each of which has the same kind of link with each other.
struct Fabric {
    std::vector<PlaceIndex> members;
};

class Picture {
public:
    Picture(const std::vector<Device> &devices, const Connections &connections,
            const std::vector<Link> &links)
        : devices_(devices), connections_(connections), topology_(connections.topology),
          links_(links), count_(static_cast<PlaceIndex>(topology_.places.size())) {
        for (const Link &link : links_) {
            by_ends_[{link.from, link.to}] = &link;
        }
    }

    std::string draw() {
        find_fabrics();
        find_lanes();
        const double graph_width = std::max(column() * std::max<double>(1, count_ - 1), 420.0);
        const double name_width = widest_name() + 16;
        const double matrix_width = name_width + cell_width() * count_;
        const double begin = 104;
        graph(margin, begin, graph_width);
        const double graph_bottom = bottom_;
        // The legend goes beside a matrix that is wider than it, where there is room.
        const bool beside = graph_width + std::max(matrix_width, legend_width()) + 3 * gap < 1100;
        const double matrix_x = beside ? margin + graph_width + 3 * gap : margin;
        matrix(matrix_x, beside ? begin : graph_bottom + 2 * gap, name_width);
        const bool legend_beside = !beside && matrix_width + 2 * gap + legend_width() <=
                                                  std::max(graph_width, 1.5 * matrix_width);
        const double legend_x = legend_beside ? matrix_x + matrix_width + 2 * gap : matrix_x;
        legend(legend_x, legend_beside ? graph_bottom + 2 * gap + 36 : bottom_ + 14);
        const double width =
            std::max({margin + graph_width, matrix_x + matrix_width, legend_x + legend_width(),
                      margin + 1.2 * width_of_text(title(), 18),
                      margin + width_of_text(sources(), 12)}) +
            margin;
        const double height = std::max(bottom_, graph_bottom) + margin;
        return fmt::format(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
            "width=\"{0:.0f}\" "
            "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title\">\n"
            "<title id=\"title\">{2}</title>\n<style>{3}</style>\n"
            "<rect class=\"ground\" width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\"/>\n"
            "<text class=\"title\" x=\"{4:.0f}\" y=\"42\">{2}</text>\n"
            "<text class=\"faint\" x=\"{4:.0f}\" y=\"64\">{5}</text>\n{6}</svg>\n",
            width, height, escaped(title()), style, margin, sources(), out_);
    }

private:
    // --- words ---------------------------------------------------------------------------------------

    std::string title() const {
        std::set<std::string> platforms;
        for (PlaceIndex place = 1; place < count_; ++place) {
            platforms.insert(device(place).platform);
        }
        const std::string devices =
            count_ == 2 ? "1 device" : fmt::format("{} devices", count_ - 1);
        return (platforms.size() == 1 ? *platforms.begin() : "This machine") + " (the host and " +
               devices + ")";
    }

    /// Who says the figures; of each, how many links.
    std::string sources() const {
        std::array<size_t, 4> counts{};
        for (const Link &link : links_) {
            ++counts[static_cast<size_t>(link.source)];
        }
        constexpr std::array words{
            "unknown: nobody tells them", "claimed by the plugin, not measured",
            "claimed by the simulated machine's file, not measured", "measured on this machine"};
        std::string text;
        for (size_t i = counts.size(); i-- > 0;) {
            if (counts[i] == links_.size() && counts[i] != 0) {
                return fmt::format("All figures of the {} links are {}.", links_.size(), words[i]);
            }
            if (counts[i] != 0) {
                text += (text.empty() ? "Figures of " : "; of ") +
                        fmt::format("{} links {}", counts[i], words[i]);
            }
        }
        return text.empty() ? "There are no links." : text + ".";
    }

    const Device &device(PlaceIndex place) const { return devices_[connections_.device_of[place]]; }
    const std::string &name(PlaceIndex place) const { return topology_.place(place).name; }
    const Link *link(PlaceIndex from, PlaceIndex to) const {
        const auto found = by_ends_.find({from, to});
        return found == by_ends_.end() ? nullptr : found->second;
    }
    static std::string figures(const Link &link) {
        return bandwidth_text(link) == "?" && latency_text(link, "µ") == "?"
                   ? "unknown"
                   : bandwidth_text(link) + ", " + latency_text(link, "µ");
    }

    double widest_name() const {
        double widest = 60;
        for (const auto &place : topology_.places) {
            widest = std::max(widest, width_of_text(place.name));
        }
        return widest;
    }
    double cell_width() const { return count_ > 6 ? 86 : 96; }
    /// Of a device; labels of lanes need more room.
    double column() const { return !lanes_.empty() && count_ > 3 ? 206 : count_ > 6 ? 164 : 184; }
    static double legend_width() { return 420; }

    // --- parts ---------------------------------------------------------------------------------------

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values &&...values) {
        out_ += fmt::format(format, std::forward<Values>(values)...);
    }

    void text(const char *classes, double x, double y, const std::string &words) {
        put("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", classes, x, y, words);
    }

    void section(double x, double y, const char *title, const std::string &words) {
        constexpr double bold = 1.2; // is wider
        text("section", x, y, title);
        text("faint small", x + bold * width_of_text(title, 14), y, words);
    }

    /// As wide as the link is fast.
    static double stroke(const Link *link) {
        return link == nullptr || !link->bandwidth
                   ? 1.5
                   : std::clamp(1.2 + 0.9 * std::log10(*link->bandwidth / 1e9 + 1), 1.2, 4.0);
    }

    /// A line between points, with heads where it ends, or begins, too.
    void arrow(const std::vector<std::pair<double, double>> &points, Access access,
               const Link &link, bool both_ends) {
        std::string path;
        const auto shortened = [&](size_t end, size_t next) {
            const auto [x, y] = points[end];
            const double length = std::hypot(points[next].first - x, points[next].second - y);
            return std::pair(x + (points[next].first - x) / length * 7,
                             y + (points[next].second - y) / length * 7);
        };
        for (size_t i = 0; i < points.size(); ++i) {
            const auto [x, y] = i + 1 == points.size() ? shortened(i, i - 1)
                                : i == 0 && both_ends  ? shortened(0, 1)
                                                       : points[i];
            path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x, y);
        }
        put("<path class=\"line {} {}\" stroke-width=\"{:.1f}\" d=\"{}\"/>\n", class_of(access),
            class_of(link.source), stroke(&link), path);
        head(points[points.size() - 1], points[points.size() - 2], access);
        if (both_ends) {
            head(points[0], points[1], access);
        }
    }

    void head(std::pair<double, double> tip, std::pair<double, double> from, Access access) {
        const double length = std::hypot(tip.first - from.first, tip.second - from.second);
        const double x = (tip.first - from.first) / length;
        const double y = (tip.second - from.second) / length;
        put("<path class=\"head {}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z\"/>\n",
            class_of(access), tip.first, tip.second, tip.first - 9 * x - 4.5 * y,
            tip.second - 9 * y + 4.5 * x, tip.first - 9 * x + 4.5 * y,
            tip.second - 9 * y - 4.5 * x);
    }

    void begin_group(const char *kind, PlaceIndex src, PlaceIndex dst) {
        put("<g data-{}=\"\" data-src=\"{}\" data-dst=\"{}\">", kind, escaped(name(src)),
            escaped(name(dst)));
        std::string words = fmt::format("memory of {}, used by {}: {}", name(src), name(dst),
                                        cell_of(topology_, src, dst).text);
        if (const Link *one = link(src, dst)) {
            words += fmt::format("; bytes: {} ({})", figures(*one), source_name(one->source));
        }
        if (src != host_place && dst != host_place) {
            const std::string &reason = topology_.buffer(src, dst).reason;
            words += reason.empty() ? "" : "; " + reason;
        }
        // The letter of micro is the only one that is not ASCII.
        std::string safe;
        for (size_t i = 0; i < words.size(); ++i) {
            if (words.compare(i, 2, "µ") == 0) {
                safe += "µ";
                ++i;
            } else {
                safe += escaped(words.substr(i, 1));
            }
        }
        put("<title>{}</title>\n", safe);
    }
    void end_group() { out_ += "</g>\n"; }

    // --- the graph -----------------------------------------------------------------------------------

    double center(PlaceIndex place) const {
        return graph_x_ + column() * (static_cast<double>(place) - 0.5);
    }

    bool alike(PlaceIndex a, PlaceIndex b, PlaceIndex c, PlaceIndex d) const {
        const Link *one = link(a, b);
        const Link *other = link(c, d);
        if (one == nullptr || other == nullptr || one->kind != other->kind ||
            one->source != other->source ||
            topology_.buffer(a, b).connection != topology_.buffer(c, d).connection) {
            return false;
        }
        if (!one->bandwidth || !other->bandwidth) {
            return one->bandwidth == other->bandwidth;
        }
        return std::max(*one->bandwidth, *other->bandwidth) <
               1.5 * std::min(*one->bandwidth, *other->bandwidth);
    }

    /// Where four and more are joined all to all, a line for each pair would hide that.
    void find_fabrics() {
        std::set<PlaceIndex> taken;
        for (PlaceIndex first = 1; first < count_; ++first) {
            for (PlaceIndex second = first + 1; second < count_; ++second) {
                if (taken.count(first) != 0 || taken.count(second) != 0) {
                    continue;
                }
                std::vector<PlaceIndex> members{first, second};
                const auto fits = [&](PlaceIndex place) {
                    return std::all_of(members.begin(), members.end(), [&](PlaceIndex member) {
                        return alike(first, second, place, member) &&
                               alike(first, second, member, place);
                    });
                };
                for (PlaceIndex place = second + 1; place < count_; ++place) {
                    if (taken.count(place) == 0 && fits(place)) {
                        members.push_back(place);
                    }
                }
                if (members.size() >= 4 && alike(first, second, second, first)) {
                    taken.insert(members.begin(), members.end());
                    fabrics_.push_back({members});
                }
            }
        }
    }

    bool in_one_fabric(PlaceIndex a, PlaceIndex b) const {
        return std::any_of(fabrics_.begin(), fabrics_.end(), [&](const Fabric &fabric) {
            const auto has = [&](PlaceIndex place) {
                return std::count(fabric.members.begin(), fabric.members.end(), place) != 0;
            };
            return has(a) && has(b);
        });
    }

    /// Pairs by lanes. Short ones come first, so that long ones go round them; what does not meet shares a lane.
    void find_lanes() {
        std::vector<Pair> pairs;
        for (PlaceIndex low = 1; low < count_; ++low) {
            for (PlaceIndex high = low + 1; high < count_; ++high) {
                if ((link(low, high) != nullptr || link(high, low) != nullptr) &&
                    !in_one_fabric(low, high)) {
                    pairs.push_back({low, high});
                }
            }
        }
        std::stable_sort(pairs.begin(), pairs.end(), [](const Pair &a, const Pair &b) {
            return a.high - a.low < b.high - b.low;
        });
        for (const Pair &pair : pairs) {
            const auto meets = [&](const Pair &other) {
                return pair.low < other.high && other.low < pair.high;
            };
            size_t lane = lanes_.size();
            // Not above one that it goes round.
            while (lane > 0 &&
                   std::none_of(lanes_[lane - 1].begin(), lanes_[lane - 1].end(), meets)) {
                --lane;
            }
            if (lane == lanes_.size()) {
                lanes_.emplace_back();
            }
            lanes_[lane].push_back(pair);
            ports_[pair.low].push_back(pair);
            ports_[pair.high].push_back(pair);
        }
        // From left to right where they go down: to the left the near ones first, to the right the far ones.
        for (auto &[place, all] : ports_) {
            std::stable_sort(all.begin(), all.end(), [place = place](const Pair &a, const Pair &b) {
                const auto order = [place](const Pair &pair) {
                    const auto other =
                        static_cast<double>(pair.low == place ? pair.high : pair.low);
                    const double distance = other - static_cast<double>(place);
                    return distance < 0 ? -1000 - distance : 1000 - distance;
                };
                return order(a) < order(b);
            });
        }
    }

    double port(PlaceIndex place, const Pair &pair) const {
        const std::vector<Pair> &all = ports_.at(place);
        const auto index = static_cast<double>(std::find_if(all.begin(), all.end(),
                                                            [&](const Pair &other) {
                                                                return other.low == pair.low &&
                                                                       other.high == pair.high;
                                                            }) -
                                               all.begin());
        // Near the middle, so that labels have room between the devices.
        const auto count = static_cast<double>(all.size());
        const double step = std::min(18.0, (column() - 44) / count);
        return center(place) + step * (index - (count - 1) / 2);
    }

    void graph(double x, double y, double width) {
        graph_x_ = x + (width - column() * (count_ - 1)) / 2;
        section(x, y, "Links", link_legend());
        double top = y + 14;
        put("<g data-place=\"{}\">\n", escaped(name(host_place)));
        put("<rect class=\"host\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"44\" "
            "rx=\"8\"/>\n",
            x, top, width);
        text("name middle", x + width / 2, top + 19, escaped(name(host_place)));
        text("faint small middle", x + width / 2, top + 35, "the host's memory");
        end_group();
        top += 44;
        const double boxes = top + 104;
        numa_nodes(top + 82, boxes + 80);
        for (PlaceIndex place = 1; place < count_; ++place) {
            to_host(place, top, boxes);
            box(place, boxes);
        }
        bottom_ = boxes + 72;
        const double first_lane = boxes + 72 + (has_numa_nodes() ? 14 : 6);
        if (!fabrics_.empty() || !lanes_.empty()) {
            bottom_ = first_lane;
        } else if (has_numa_nodes()) {
            bottom_ = boxes + 82;
        }
        for (const Fabric &fabric : fabrics_) {
            draw_fabric(fabric, boxes + 72);
        }
        for (size_t lane = 0; lane < lanes_.size(); ++lane) {
            const double at = bottom_ + (lane == 0 ? 22 : 12);
            bottom_ = at;
            for (const Pair &pair : lanes_[lane]) {
                bottom_ = std::max(bottom_, draw_lane(pair, boxes + 72, at));
            }
        }
        // Over all lines, which may cross them.
        out_ += labels_;
        if (count_ > 2 && lanes_.empty() && fabrics_.empty()) {
            bottom_ += 22;
            text("faint small", x, bottom_,
                 "Between the devices there are no links: their bytes go through the host.");
        }
    }

    std::string link_legend() const {
        bool measured = false;
        bool claimed = false;
        bool unknown = false;
        for (const Link &link : links_) {
            measured = measured || link.source == Source::measured;
            unknown = unknown || link.source == Source::unknown;
            claimed =
                claimed || link.source == Source::plugin || link.source == Source::machine_file;
        }
        std::string words;
        for (const auto &[any, word] : {std::pair(measured, "solid: measured"),
                                        std::pair(claimed, "dashed: claimed, not measured"),
                                        std::pair(unknown, "dotted: unknown")}) {
            words += !any ? "" : words.empty() ? word : std::string("; ") + word;
        }
        return words + "; thicker: faster";
    }

    bool has_numa_nodes() const {
        return std::any_of(connections_.device_of.begin() + 1, connections_.device_of.end(),
                           [&](size_t index) { return devices_[index].numa_node.has_value(); });
    }

    /// A frame around neighbours of one node.
    void numa_nodes(double top, double bottom) {
        for (PlaceIndex begin = 1; begin < count_;) {
            PlaceIndex end = begin + 1;
            const auto node = device(begin).numa_node;
            while (end < count_ && device(end).numa_node == node) {
                ++end;
            }
            if (node) {
                const double left = center(begin) - column() / 2 + 4;
                const double right = center(end - 1) + column() / 2 - 4;
                put("<rect class=\"numa\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                    "height=\"{:.1f}\" "
                    "rx=\"8\"/>\n",
                    left, top, right - left, bottom - top);
                // Short, for the arrows are beside it.
                text("faint small", left + 8, top + 15, fmt::format("NUMA {}", *node));
            }
            begin = end;
        }
    }

    void box(PlaceIndex place, double y) {
        const Device &device = this->device(place);
        const double width = column() - 24;
        const double x = center(place) - width / 2;
        put("<g data-place=\"{}\"><title>{}</title>\n", escaped(name(place)),
            escaped(name(place) + ": " + device.name + ", " + device.platform));
        put("<rect class=\"device\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"72\" "
            "rx=\"8\"/>\n",
            x, y, width);
        text("name middle", center(place), y + 19, escaped(cut(name(place), width - 10, 12)));
        text("small middle", center(place), y + 35, escaped(cut(device.name, width - 10, 11)));
        text(
            "faint small middle", center(place), y + 50,
            escaped(cut(device.kind + (device.pci_address.empty() ? "" : ", " + device.pci_address),
                        width - 10, 11)));
        text("faint small middle", center(place), y + 65,
             topology_.place(place).shares_host_memory() ? "in the host's memory"
             : device.memory                             ? fmt::format("{:.3g} GiB of its own",
                                                                       static_cast<double>(*device.memory) / (1 << 30))
                                                         : "memory of its own");
        end_group();
    }

    /// Both ways between the host and a device, each with its figures beside it.
    void to_host(PlaceIndex place, double top, double boxes) {
        for (const bool down : {true, false}) {
            const PlaceIndex from = down ? host_place : place;
            const PlaceIndex to = down ? place : host_place;
            const Link *one = link(from, to);
            if (one == nullptr) {
                continue;
            }
            begin_group("link", from, to);
            const double x = center(place) + (down ? -8 : 8);
            const Access access = cell_of(topology_, from, to).access;
            if (down) {
                arrow({{x, top + 1}, {x, boxes - 1}}, access, *one, false);
            } else {
                arrow({{x, boxes - 1}, {x, top + 1}}, access, *one, false);
            }
            const char *const classes = down ? "figure end" : "figure";
            const char *const faint = down ? "faint end" : "faint";
            const double at = x + (down ? -8 : 8);
            if (figures(*one) == "unknown") {
                text(faint, at, top + 48, "unknown");
            } else {
                text(classes, at, top + 40, bandwidth_text(*one));
                text(faint, at, top + 40 + line_height, latency_text(*one, "µ"));
            }
            end_group();
        }
    }

    /// A label on a ground of its own, so that lines behind it do not cross its letters.
    void label(double x, double y, const std::vector<std::string> &lines) {
        double width = 0;
        for (const std::string &words : lines) {
            width = std::max(width, width_of_text(words) + 8);
        }
        const double height = line_height * static_cast<double>(lines.size());
        labels_ += fmt::format("<rect class=\"ground\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                               "height=\"{:.1f}\"/>\n",
                               x - width / 2, y - height / 2, width, height);
        for (size_t i = 0; i < lines.size(); ++i) {
            labels_ += fmt::format(
                "<text class=\"figure middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x,
                y - height / 2 + 12 + line_height * static_cast<double>(i), lines[i]);
        }
    }

    /// Returns where its label ends.
    double draw_lane(const Pair &pair, double boxes, double y) {
        const Link *there = link(pair.low, pair.high);
        const Link *back = link(pair.high, pair.low);
        const Link &one = there != nullptr ? *there : *back;
        const double left = port(pair.low, pair);
        const double right = port(pair.high, pair);
        const Access access = std::max(cell_of(topology_, pair.low, pair.high).access,
                                       cell_of(topology_, pair.high, pair.low).access);
        begin_group("link", one.from, one.to);
        std::vector<std::pair<double, double>> points{
            {left, boxes + 1}, {left, y}, {right, y}, {right, boxes + 1}};
        if (there == nullptr) {
            std::reverse(points.begin(), points.end());
        }
        arrow(points, access, one, there != nullptr && back != nullptr);
        end_group();
        if (there != nullptr && back != nullptr) {
            // The other direction has no line of its own; who reads the file finds it all the same.
            begin_group("link", back->from, back->to);
            end_group();
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
        label((left + right) / 2, y + 4 + height / 2, lines);
        return y + 4 + height;
    }

    void draw_fabric(const Fabric &fabric, double boxes) {
        const PlaceIndex first = fabric.members.front();
        const PlaceIndex last = fabric.members.back();
        const Link *slowest = nullptr;
        const Link *fastest = nullptr;
        const Link *soonest = nullptr;
        const Link *latest = nullptr;
        for (const PlaceIndex from : fabric.members) {
            for (const PlaceIndex to : fabric.members) {
                const Link *one = from == to ? nullptr : link(from, to);
                if (one == nullptr) {
                    continue;
                }
                begin_group("link", from, to);
                end_group();
                slowest = slowest == nullptr || one->bandwidth < slowest->bandwidth ? one : slowest;
                fastest = fastest == nullptr || one->bandwidth > fastest->bandwidth ? one : fastest;
                soonest = soonest == nullptr || one->latency < soonest->latency ? one : soonest;
                latest = latest == nullptr || one->latency > latest->latency ? one : latest;
            }
        }
        const auto range = [](const std::string &low, const std::string &high) {
            return low == high ? low : low + " to " + high;
        };
        const Access access = cell_of(topology_, first, fabric.members[1]).access;
        const double top = bottom_ + 34;
        const double left = center(first) - column() / 2 + 12;
        const double right = center(last) + column() / 2 - 12;
        put("<rect class=\"area {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"44\" "
            "rx=\"8\"/>\n",
            class_of(access), left, top, right - left);
        for (const PlaceIndex member : fabric.members) {
            arrow({{center(member), boxes + 1}, {center(member), top}}, access, *slowest, true);
        }
        const std::string words =
            "each with each other: " + range(bandwidth_text(*slowest), bandwidth_text(*fastest)) +
            ", " + range(latency_text(*soonest, "µ"), latency_text(*latest, "µ"));
        text("figure middle", (left + right) / 2, top + 19, words);
        text("faint small middle", (left + right) / 2, top + 35,
             fmt::format("{} links, each way of each pair{}",
                         fabric.members.size() * (fabric.members.size() - 1),
                         slowest->kind == "unknown" ? "" : "; " + slowest->kind));
        bottom_ = top + 44;
    }

    // --- the matrix ----------------------------------------------------------------------------------

    void matrix(double x, double y, double name_width) {
        section(x, y, "Connections", "memory of the row's place, used by the column's");
        constexpr double height = 54;
        const double top = y + 34;
        for (PlaceIndex dst = 0; dst < count_; ++dst) {
            text("name middle", x + name_width + cell_width() * (dst + 0.5), top - 8,
                 escaped(cut(name(dst), cell_width() - 4, 12)));
        }
        for (PlaceIndex src = 0; src < count_; ++src) {
            const double row = top + height * src;
            text("name end", x + name_width - 10, row + height / 2 + 4, escaped(name(src)));
            for (PlaceIndex dst = 0; dst < count_; ++dst) {
                draw_cell(src, dst, x + name_width + cell_width() * dst, row);
            }
        }
        bottom_ = top + height * count_;
    }

    /// What the colours and figures of the matrix say.
    void legend(double x, double y) {
        struct Line {
            Access access;
            const char *name;
            std::vector<const char *> words;
        };
        const std::array lines{
            Line{Access::unified,
                 "unified",
                 {"used as it is; host memory: imported in place",
                  "(aligned to so many bytes); a map is the memory"}},
            Line{Access::migratable, "migratable", {"the plugin copies it there"}},
            Line{Access::none, "none", {"through the host; to and from the host: copied"}}};
        double at = y;
        for (const Line &line : lines) {
            put("<rect class=\"area {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" "
                "rx=\"3\"/>\n",
                class_of(line.access), x, at);
            text("name small", x + 22, at + 11, line.name);
            for (const char *const words : line.words) {
                text("small", x + 100, at + 11, words);
                at += 15;
            }
            at += 6;
        }
        text("faint small", x, at + 11, "GB/s of large transfers and latency of small ones,");
        text("faint small", x, at + 26, "from the row's place to the column's");
        bottom_ = std::max(bottom_, at + 30);
    }

    void draw_cell(PlaceIndex src, PlaceIndex dst, double x, double y) {
        const Cell cell = cell_of(topology_, src, dst);
        begin_group("cell", src, dst);
        put("<rect class=\"area {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"50\" "
            "rx=\"5\"/>\n",
            class_of(cell.access), x + 2, y + 2, cell_width() - 4);
        const double middle = x + cell_width() / 2;
        const Link *one = src == dst ? nullptr : link(src, dst);
        if (one == nullptr) {
            text("small middle", middle, y + 31, cell.text);
        } else if (figures(*one) == "unknown") {
            text("small middle", middle, y + 23, cell.text);
            text("faint small middle", middle, y + 39, "unknown");
        } else {
            text("small middle", middle, y + 17, cell.text);
            text("figure small middle", middle, y + 31, bandwidth_text(*one));
            text("faint small middle", middle, y + 45, latency_text(*one, "µ"));
        }
        end_group();
    }

    const std::vector<Device> &devices_;
    const Connections &connections_;
    const TopologyDescription &topology_;
    const std::vector<Link> &links_;
    const PlaceIndex count_;
    std::map<std::pair<PlaceIndex, PlaceIndex>, const Link *> by_ends_;
    std::vector<Fabric> fabrics_;
    std::vector<std::vector<Pair>> lanes_;
    std::map<PlaceIndex, std::vector<Pair>> ports_;
    std::string out_;
    std::string labels_;
    double graph_x_ = 0;
    double bottom_ = 0;
};

} // namespace

std::string to_svg(const std::vector<Device> &devices, const Connections &connections,
                   const std::vector<Link> &links) {
    return Picture(devices, connections, links).draw();
}

} // namespace pi_info
