// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The links: the host as a bar, the devices in a row below it, and below those a lane for each
// linked pair.
#pragma once

#include "canvas.hpp"
#include "lanes.hpp"

namespace pi_info {

class Graph {
public:
    explicit Graph(const Places &places) : places_(places), lanes_(places) {}

    double width() const;
    /// Returns its end.
    double draw(Canvas &canvas, double x, double y);

private:
    double column() const;
    double center(pi::runtime::PlaceIndex place) const;
    double port(pi::runtime::PlaceIndex place, const Pair &pair) const;
    std::string legend() const;
    void numa_nodes(Canvas &canvas, double top, double bottom) const;
    void box(Canvas &canvas, pi::runtime::PlaceIndex place, double y) const;
    void to_host(Canvas &canvas, pi::runtime::PlaceIndex place, double top, double boxes) const;
    double draw_lane(Canvas &canvas, const Pair &pair, double boxes, double y) const;
    double draw_fabric(Canvas &canvas, const Fabric &fabric, double boxes, double y) const;

    const Places &places_;
    const Lanes lanes_;
    double x_ = 0; ///< where the row of devices begins
};

} // namespace pi_info
