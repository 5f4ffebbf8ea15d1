// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layout of lines between devices, without overlaps: each drawn link has a lane under the
// devices, and a separate port at both ends.
#pragma once

#include "places.hpp"

namespace pi_info {

struct Pair {
    pi::runtime::PlaceIndex low;
    pi::runtime::PlaceIndex high;
};

/// Devices with the same kind of link between every two of them.
struct Fabric {
    std::vector<pi::runtime::PlaceIndex> members;
};

struct Lanes {
    explicit Lanes(const Places &places);

    /// Groups of four or more, for which a line per pair would hide that all are linked to all.
    std::vector<Fabric> fabrics;
    /// All other linked pairs, by lane, from the one next to the devices on. Pairs that do not meet
    /// share a lane.
    std::vector<std::vector<Pair>> lanes;
    /// The pairs of each device, from left to right.
    std::map<pi::runtime::PlaceIndex, std::vector<Pair>> ports;
};

} // namespace pi_info
