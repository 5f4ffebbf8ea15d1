// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the lines between devices go, so that nothing can overlap: each link that is drawn has a lane under the devices, and
// at both of its ends a port of its own.
#pragma once

#include "places.hpp"

namespace pi_info {

struct Pair {
    pi::runtime::PlaceIndex low;
    pi::runtime::PlaceIndex high;
};

/// Devices each of which has the same kind of link with each other.
struct Fabric {
    std::vector<pi::runtime::PlaceIndex> members;
};

struct Lanes {
    explicit Lanes(const Places &places);

    /// Those of four and more, where a line for each pair would hide that all are joined to all.
    std::vector<Fabric> fabrics;
    /// All other pairs with a link, from the lane that is next to the devices on. What does not meet shares a lane.
    std::vector<std::vector<Pair>> lanes;
    /// Of each device its pairs, from left to right.
    std::map<pi::runtime::PlaceIndex, std::vector<Pair>> ports;
};

} // namespace pi_info
