// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The picture. Above, the links; below, or next to them if there is space, the matrix with its
// legend.
#include "../output.hpp"

#include "graph.hpp"
#include "matrix_picture.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace pi_info {
namespace {

using pi::runtime::PlaceIndex;

std::string title_of(const Places &places) {
    std::set<std::string> platforms;
    for (PlaceIndex place = 1; place < places.count(); ++place) {
        platforms.insert(places.device(place).platform);
    }
    const std::string devices =
        places.count() == 2 ? "1 device" : fmt::format("{} devices", places.count() - 1);
    return (platforms.size() == 1 ? *platforms.begin() : "This machine") + " (the host and " +
           devices + ")";
}

/// The sources of the figures, with the number of links for each.
std::string sources_of(const std::vector<Link> &links) {
    std::array<size_t, 4> counts{};
    for (const Link &link : links) {
        ++counts[static_cast<size_t>(link.source)];
    }
    constexpr std::array words{"unknown", "claimed by the plugin, not measured",
                               "claimed by the simulated machine's file, not measured",
                               "measured on this machine"};
    std::string text;
    for (size_t i = counts.size(); i-- > 0;) {
        if (counts[i] == links.size() && counts[i] != 0) {
            return fmt::format("All figures of the {} links are {}.", links.size(), words[i]);
        }
        if (counts[i] != 0) {
            text += (text.empty() ? "Figures of " : "; of ") +
                    fmt::format("{} links {}", counts[i], words[i]);
        }
    }
    return text.empty() ? "There are no links." : text + ".";
}

} // namespace

std::string to_svg(const std::vector<Device> &devices, const Connections &connections,
                   const std::vector<Link> &links) {
    const Places places(devices, connections, links);
    Graph graph(places);
    const MatrixPicture matrix(places);
    Canvas canvas;
    constexpr double begin = 104;
    constexpr double margin = Canvas::margin;
    constexpr double legend_width = MatrixPicture::legend_width;
    const double graph_bottom = graph.draw(canvas, margin, begin);
    const double below = graph_bottom + 2 * gap;
    const bool side_by_side =
        graph.width() + std::max(matrix.width(), legend_width) + 3 * gap < 1100;
    const double matrix_x = side_by_side ? margin + graph.width() + 3 * gap : margin;
    double bottom = matrix.draw(canvas, matrix_x, side_by_side ? begin : below);
    // If there is space, the legend goes next to a matrix that is wider than it.
    const bool legend_right = !side_by_side && matrix.width() + 2 * gap + legend_width <=
                                                   std::max(graph.width(), 1.5 * matrix.width());
    const double legend_x = legend_right ? matrix_x + matrix.width() + 2 * gap : matrix_x;
    bottom = std::max(
        bottom, matrix.draw_legend(canvas, legend_x, legend_right ? below + 36 : bottom + 14));

    const std::string title = title_of(places);
    const std::string sources = sources_of(links);
    const double width =
        std::max({margin + graph.width(), matrix_x + matrix.width(), legend_x + legend_width,
                  margin + 1.2 * width_of_text(title, 18), margin + width_of_text(sources, 12)}) +
        margin;
    return canvas.document(width, std::max(bottom, graph_bottom) + margin, title, sources);
}

} // namespace pi_info
