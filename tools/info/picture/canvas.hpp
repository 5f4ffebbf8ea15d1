// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SVG: its elements, its style, and the space for text.
#pragma once

#include "../matrix.hpp"
#include "places.hpp"

#include <fmt/format.h>

namespace pi_info {

/// Between two parts of the picture, and of a line of text: pixels.
constexpr double gap = 20;
constexpr double line_height = 16;

/// XML text from any bytes: vendors' names are not always UTF-8.
std::string escaped(const std::string &text);
/// The minimum width in pixels, for a font size.
double width_of_text(const std::string &text, double size = 12);
/// As much of the text as fits.
std::string cut(const std::string &text, double room, double size);
/// The class by which an element is drawn.
const char *class_of(Access access);

/// A sequence of elements. Text is XML; vendors' texts are escaped.
class Canvas {
public:
    using Point = std::pair<double, double>;

    template <class... Values>
    void put(fmt::format_string<Values...> format, Values &&...values) {
        out_ += fmt::format(format, std::forward<Values>(values)...);
    }
    void text(const char *classes, double x, double y, const std::string &words);
    void section(double x, double y, const char *title, const std::string &words);
    /// A line between points with an arrow head at its end, or at both ends; its width shows the
    /// link's speed.
    void arrow(const std::vector<Point> &points, Access access, const Link &link, bool both_ends);
    /// A label with its own background, so that lines behind it do not cross its letters. Visible
    /// after put_labels().
    void label(double x, double y, const std::vector<std::string> &lines);
    /// Draws the labels over everything else, because lines may cross them.
    void put_labels();

    /// A group of elements about the memory of one place used by another.
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
