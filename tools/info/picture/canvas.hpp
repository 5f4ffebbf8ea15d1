// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SVG: its elements, its style, and the room that words take.
#pragma once

#include "../matrix.hpp"
#include "places.hpp"

#include <fmt/format.h>

namespace pi_info {

/// Between two parts of the picture, and of a line of words: pixels.
constexpr double gap = 20;
constexpr double line_height = 16;

/// Text of XML, of what may be no UTF-8: vendors' names are not always.
std::string escaped(const std::string &text);
/// Pixels, at least; of a font of so many.
double width_of_text(const std::string &text, double size = 12);
/// As much of the text as there is room for.
std::string cut(const std::string &text, double room, double size);
/// Of what an element is drawn as.
const char *class_of(Access access);

/// Elements one after the other. Words are XML: of what vendors say they are escaped.
class Canvas {
public:
    using Point = std::pair<double, double>;

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values &&...values) {
        out_ += fmt::format(format, std::forward<Values>(values)...);
    }
    void text(const char *classes, double x, double y, const std::string &words);
    void section(double x, double y, const char *title, const std::string &words);
    /// A line between points, with heads where it ends, or begins, too; as wide as the link is fast.
    void arrow(const std::vector<Point> &points, Access access, const Link &link, bool both_ends);
    /// A label on a ground of its own, so that lines behind it do not cross its letters. Seen when put_labels() has been called.
    void label(double x, double y, const std::vector<std::string> &lines);
    /// Over all that is there: lines, which may cross labels.
    void put_labels();

    /// An element of elements, that tells of the memory of one place to the other.
    void begin_group(const char *kind, const Places &places, pi::runtime::PlaceIndex src,
                     pi::runtime::PlaceIndex dst);
    void end_group() { out_ += "</g>\n"; }

    /// The whole file.
    std::string document(double width, double height, const std::string &title,
                         const std::string &subtitle) const;
    static constexpr double margin = 28;

private:
    void head(Point tip, Point from, Access access);

    std::string out_;
    std::string labels_;
};

} // namespace pi_info
