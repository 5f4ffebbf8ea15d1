// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The data of the picture: places by number, with their devices and links.
#pragma once

#include "../inventory.hpp"
#include "../links.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace pi_info {

/// Refers to its arguments, which must outlive it.
class Places {
public:
    Places(const std::vector<Device> &devices, const Connections &connections,
           const std::vector<Link> &links);

    /// The host is place 0.
    pi::runtime::PlaceIndex count() const { return count_; }
    const pi::runtime::TopologyDescription &topology() const { return connections_.topology; }
    const std::vector<Link> &links() const { return links_; }
    /// The device of a place other than the host.
    const Device &device(pi::runtime::PlaceIndex place) const {
        return devices_[connections_.device_of[place]];
    }
    const std::string &name(pi::runtime::PlaceIndex place) const {
        return topology().place(place).name;
    }
    /// NULL if there is no direct link.
    const Link *link(pi::runtime::PlaceIndex from, pi::runtime::PlaceIndex to) const;
    /// A sentence about the memory of one place used by another.
    std::string describe(pi::runtime::PlaceIndex src, pi::runtime::PlaceIndex dst) const;
    bool any_numa_node() const;

private:
    const std::vector<Device> &devices_;
    const Connections &connections_;
    const std::vector<Link> &links_;
    pi::runtime::PlaceIndex count_;
    std::map<std::pair<pi::runtime::PlaceIndex, pi::runtime::PlaceIndex>, const Link *> by_ends_;
};

/// "31.5 GB/s, 1.5 µs", or "unknown".
std::string figures(const Link &link);

} // namespace pi_info
