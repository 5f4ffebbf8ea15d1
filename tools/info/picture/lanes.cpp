// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "lanes.hpp"

#include <algorithm>
#include <set>

namespace pi_info {
namespace {

using pi::runtime::PlaceIndex;

/// Similar links: of one kind, and about as fast.
bool alike(const Places &places, PlaceIndex a, PlaceIndex b, PlaceIndex c, PlaceIndex d) {
    const Link *one = places.link(a, b);
    const Link *other = places.link(c, d);
    if (one == nullptr || other == nullptr || one->kind != other->kind ||
        one->source != other->source ||
        places.topology().buffer(a, b).connection != places.topology().buffer(c, d).connection) {
        return false;
    }
    if (!one->bandwidth || !other->bandwidth) {
        return one->bandwidth == other->bandwidth;
    }
    return std::max(*one->bandwidth, *other->bandwidth) <
           1.5 * std::min(*one->bandwidth, *other->bandwidth);
}

std::vector<Fabric> find_fabrics(const Places &places) {
    std::vector<Fabric> fabrics;
    std::set<PlaceIndex> taken;
    for (PlaceIndex first = 1; first < places.count(); ++first) {
        for (PlaceIndex second = first + 1; second < places.count(); ++second) {
            if (taken.count(first) != 0 || taken.count(second) != 0) {
                continue;
            }
            std::vector<PlaceIndex> members{first, second};
            const auto fits = [&](PlaceIndex place) {
                return std::all_of(members.begin(), members.end(), [&](PlaceIndex member) {
                    return alike(places, first, second, place, member) &&
                           alike(places, first, second, member, place);
                });
            };
            for (PlaceIndex place = second + 1; place < places.count(); ++place) {
                if (taken.count(place) == 0 && fits(place)) {
                    members.push_back(place);
                }
            }
            if (members.size() >= 4 && alike(places, first, second, second, first)) {
                taken.insert(members.begin(), members.end());
                fabrics.push_back({members});
            }
        }
    }
    return fabrics;
}

bool in_one_fabric(const std::vector<Fabric> &fabrics, PlaceIndex a, PlaceIndex b) {
    return std::any_of(fabrics.begin(), fabrics.end(), [&](const Fabric &fabric) {
        const auto has = [&](PlaceIndex place) {
            return std::count(fabric.members.begin(), fabric.members.end(), place) != 0;
        };
        return has(a) && has(b);
    });
}

} // namespace

Lanes::Lanes(const Places &places) : fabrics(find_fabrics(places)) {
    // Short ones come first, so that long ones go around them.
    std::vector<Pair> pairs;
    for (PlaceIndex low = 1; low < places.count(); ++low) {
        for (PlaceIndex high = low + 1; high < places.count(); ++high) {
            if ((places.link(low, high) != nullptr || places.link(high, low) != nullptr) &&
                !in_one_fabric(fabrics, low, high)) {
                pairs.push_back({low, high});
            }
        }
    }
    std::stable_sort(pairs.begin(), pairs.end(),
                     [](const Pair &a, const Pair &b) { return a.high - a.low < b.high - b.low; });
    for (const Pair &pair : pairs) {
        const auto meets = [&](const Pair &other) {
            return pair.low < other.high && other.low < pair.high;
        };
        size_t lane = lanes.size();
        // Not above one that it goes around.
        while (lane > 0 && std::none_of(lanes[lane - 1].begin(), lanes[lane - 1].end(), meets)) {
            --lane;
        }
        if (lane == lanes.size()) {
            lanes.emplace_back();
        }
        lanes[lane].push_back(pair);
        ports[pair.low].push_back(pair);
        ports[pair.high].push_back(pair);
    }
    // Ordered from left to right where they go down: to the left the near ones first, to the right
    // the far ones.
    for (auto &[place, all] : ports) {
        std::stable_sort(all.begin(), all.end(), [place = place](const Pair &a, const Pair &b) {
            const auto order = [place](const Pair &pair) {
                const auto other = static_cast<double>(pair.low == place ? pair.high : pair.low);
                const double distance = other - static_cast<double>(place);
                return distance < 0 ? -1000 - distance : 1000 - distance;
            };
            return order(a) < order(b);
        });
    }
}

} // namespace pi_info
