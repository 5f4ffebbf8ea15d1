// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "canvas.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace pi_info {

using pi::runtime::PlaceIndex;

namespace {

/// The maximum width of a character in common sans-serif fonts, relative to the font size.
constexpr double character = 0.62;

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
  .unknown { stroke-dasharray: 2 4 }
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

const char *class_of(Source source) {
    constexpr std::array names{"unknown", "claimed", "claimed", "measured"};
    return names[static_cast<size_t>(source)];
}

/// The width shows the link's speed.
double stroke(const Link &link) {
    return !link.bandwidth
               ? 1.5
               : std::clamp(1.2 + 0.9 * std::log10(*link.bandwidth / 1e9 + 1), 1.2, 4.0);
}

} // namespace

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

double width_of_text(const std::string &text, double size) {
    size_t letters = 0;
    for (const char letter : text) {
        letters += (static_cast<unsigned char>(letter) & 0xC0) != 0x80 ? 1 : 0;
    }
    return static_cast<double>(letters) * size * character;
}

std::string cut(const std::string &text, double room, double size) {
    const auto letters = static_cast<size_t>(std::max(4.0, room / (size * character)));
    return text.size() <= letters ? text : text.substr(0, letters - 2) + "..";
}

const char *class_of(Access access) {
    constexpr std::array names{"none", "migratable", "unified"};
    return names[static_cast<size_t>(access)];
}

void Canvas::text(const char *classes, double x, double y, const std::string &words) {
    put("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", classes, x, y, words);
}

void Canvas::section(double x, double y, const char *title, const std::string &words) {
    constexpr double bold = 1.2; // is wider
    text("section", x, y, title);
    text("faint small", x + bold * width_of_text(title, 14), y, words);
}

void Canvas::arrow(const std::vector<Point> &points, Access access, const Link &link,
                   bool both_ends) {
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
        class_of(link.source), stroke(link), path);
    head(points[points.size() - 1], points[points.size() - 2], access);
    if (both_ends) {
        head(points[0], points[1], access);
    }
}

void Canvas::head(Point tip, Point from, Access access) {
    const double length = std::hypot(tip.first - from.first, tip.second - from.second);
    const double x = (tip.first - from.first) / length;
    const double y = (tip.second - from.second) / length;
    put("<path class=\"head {}\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}L{:.1f} {:.1f}z\"/>\n",
        class_of(access), tip.first, tip.second, tip.first - 9 * x - 4.5 * y,
        tip.second - 9 * y + 4.5 * x, tip.first - 9 * x + 4.5 * y, tip.second - 9 * y - 4.5 * x);
}

void Canvas::label(double x, double y, const std::vector<std::string> &lines) {
    double width = 0;
    for (const std::string &words : lines) {
        width = std::max(width, width_of_text(words) + 8);
    }
    const double height = line_height * static_cast<double>(lines.size());
    labels_ += fmt::format("<rect class=\"ground\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
                           "height=\"{:.1f}\"/>\n",
                           x - width / 2, y - height / 2, width, height);
    for (size_t i = 0; i < lines.size(); ++i) {
        labels_ +=
            fmt::format("<text class=\"figure middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n", x,
                        y - height / 2 + 12 + line_height * static_cast<double>(i), lines[i]);
    }
}

void Canvas::put_labels() {
    out_ += labels_;
    labels_.clear();
}

void Canvas::begin_group(const char *kind, const Places &places, PlaceIndex src, PlaceIndex dst) {
    put("<g data-{}=\"\" data-src=\"{}\" data-dst=\"{}\">", kind, escaped(places.name(src)),
        escaped(places.name(dst)));
    const std::string words = places.describe(src, dst);
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

std::string Canvas::document(double width, double height, const std::string &title,
                             const std::string &subtitle) const {
    return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
                       "width=\"{0:.0f}\" "
                       "height=\"{1:.0f}\" role=\"img\" aria-labelledby=\"title\">\n"
                       "<title id=\"title\">{2}</title>\n<style>{3}</style>\n"
                       "<rect class=\"ground\" width=\"{0:.0f}\" height=\"{1:.0f}\" rx=\"6\"/>\n"
                       "<text class=\"title\" x=\"{4:.0f}\" y=\"42\">{2}</text>\n"
                       "<text class=\"faint\" x=\"{4:.0f}\" y=\"64\">{5}</text>\n{6}</svg>\n",
                       width, height, escaped(title), style, margin, subtitle, out_);
}

} // namespace pi_info
