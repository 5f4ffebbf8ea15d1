// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The connection matrix, with a legend of its colours and figures.
#pragma once

#include "canvas.hpp"

namespace pi_info {

class MatrixPicture {
public:
    explicit MatrixPicture(const Places &places) : places_(places) {}

    double width() const;
    static constexpr double legend_width = 420;
    /// Both return their end.
    double draw(Canvas &canvas, double x, double y) const;
    double draw_legend(Canvas &canvas, double x, double y) const;

private:
    double name_width() const;
    double cell_width() const;
    void draw_cell(Canvas &canvas, pi::runtime::PlaceIndex src, pi::runtime::PlaceIndex dst,
                   double x, double y) const;

    const Places &places_;
};

} // namespace pi_info
