// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/topology.hpp>

#include <vector>

namespace pi::runtime {

/// The places of the same device, in all contexts, including the place itself: they share its
/// memory, and are lost together.
inline std::vector<PlaceIndex> places_of_device(const Topology &topology, PlaceIndex place) {
    std::vector<PlaceIndex> found;
    for (PlaceIndex other = 0; other < topology.size(); ++other) {
        if (topology.device(other) == topology.device(place)) {
            found.push_back(other);
        }
    }
    return found;
}

/// For each place the first one of its device.
inline std::vector<PlaceIndex> devices_of(const Topology &topology) {
    std::vector<PlaceIndex> devices;
    for (PlaceIndex place = 0; place < topology.size(); ++place) {
        devices.push_back(places_of_device(topology, place).front());
    }
    return devices;
}

} // namespace pi::runtime
