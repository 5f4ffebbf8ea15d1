// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "matrix_picture.hpp"

#include <algorithm>
#include <array>

namespace pi_info {

using pi::runtime::PlaceIndex;

double MatrixPicture::width() const {
    return name_width() + cell_width() * places_.count();
}

double MatrixPicture::name_width() const {
    double widest = 60;
    for (const auto &place : places_.topology().places) {
        widest = std::max(widest, width_of_text(place.name));
    }
    return widest + 16;
}

double MatrixPicture::cell_width() const {
    return places_.count() > 6 ? 86 : 96;
}

double MatrixPicture::draw(Canvas &canvas, double x, double y) const {
    const double names = name_width();
    canvas.section(x, y, "Connections", "memory of the row's place, used by the column's");
    constexpr double height = 54;
    const double top = y + 34;
    for (PlaceIndex dst = 0; dst < places_.count(); ++dst) {
        canvas.text("name middle", x + names + cell_width() * (dst + 0.5), top - 8,
                    escaped(cut(places_.name(dst), cell_width() - 4, 12)));
    }
    for (PlaceIndex src = 0; src < places_.count(); ++src) {
        const double row = top + height * src;
        canvas.text("name end", x + names - 10, row + height / 2 + 4, escaped(places_.name(src)));
        for (PlaceIndex dst = 0; dst < places_.count(); ++dst) {
            draw_cell(canvas, src, dst, x + names + cell_width() * dst, row);
        }
    }
    return top + height * places_.count();
}

double MatrixPicture::draw_legend(Canvas &canvas, double x, double y) const {
    struct Line {
        Access access;
        const char *name;
        std::vector<const char *> words;
    };
    const std::array lines{
        Line{Access::unified,
             "unified",
             {"used in place; host memory: imported in place",
              "(aligned to so many bytes); a map is the memory"}},
        Line{Access::migratable, "migratable", {"copied by the plugin"}},
        Line{Access::none, "none", {"through the host; to and from the host: copied"}}};
    double at = y;
    for (const Line &line : lines) {
        canvas.put("<rect class=\"area {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"14\" height=\"14\" "
                   "rx=\"3\"/>\n",
                   class_of(line.access), x, at);
        canvas.text("name small", x + 22, at + 11, line.name);
        for (const char *const words : line.words) {
            canvas.text("small", x + 100, at + 11, words);
            at += 15;
        }
        at += 6;
    }
    canvas.text("faint small", x, at + 11, "GB/s of large transfers and latency of small ones,");
    canvas.text("faint small", x, at + 26, "from the row's place to the column's");
    return at + 30;
}

void MatrixPicture::draw_cell(Canvas &canvas, PlaceIndex src, PlaceIndex dst, double x,
                              double y) const {
    const Cell cell = cell_of(places_.topology(), src, dst);
    canvas.begin_group("cell", places_, src, dst);
    canvas.put("<rect class=\"area {}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"50\" "
               "rx=\"5\"/>\n",
               class_of(cell.access), x + 2, y + 2, cell_width() - 4);
    const double middle = x + cell_width() / 2;
    const Link *one = src == dst ? nullptr : places_.link(src, dst);
    if (one == nullptr) {
        canvas.text("small middle", middle, y + 31, cell.text);
    } else if (figures(*one) == "unknown") {
        canvas.text("small middle", middle, y + 23, cell.text);
        canvas.text("faint small middle", middle, y + 39, "unknown");
    } else {
        canvas.text("small middle", middle, y + 17, cell.text);
        canvas.text("figure small middle", middle, y + 31, bandwidth_text(*one));
        canvas.text("faint small middle", middle, y + 45, latency_text(*one, "µ"));
    }
    canvas.end_group();
}

} // namespace pi_info
