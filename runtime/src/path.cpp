// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "path.hpp"

#include <algorithm>
#include <limits>

namespace pi::runtime {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

uint64_t pieces_of(uint64_t bytes, uint64_t chunk) {
    return std::max<uint64_t>(1, (bytes + chunk - 1) / chunk);
}

/// The stage times of all links for one size of piece.
class Stages {
public:
    Stages(const CostTable &costs, const PathQuestion &question, uint64_t piece)
        : places_(costs.places()), seconds_(size_t{places_} * places_, unreachable) {
        for (PlaceIndex from = 0; from < places_; ++from) {
            for (PlaceIndex to = 0; to < places_; ++to) {
                const Hop hop{from, to};
                const bool direct = from == question.from && to == question.to;
                const bool forbidden_host =
                    !question.through_host && (from == host_place || to == host_place);
                if (from != to && !direct && !forbidden_host && costs.linked(from, to) &&
                    (!question.usable || question.usable(hop))) {
                    seconds_[size_t{from} * places_ + to] = costs.stage_seconds(from, to, piece);
                }
            }
        }
    }

    uint32_t places() const { return places_; }
    double at(PlaceIndex from, PlaceIndex to) const {
        return seconds_[size_t{from} * places_ + to];
    }
    /// No path with so many pieces after the first costs less: its first stage and its last one alone.
    double least(const PathQuestion &question, double further) const {
        double first = unreachable;
        double last = unreachable;
        for (PlaceIndex place = 0; place < places_; ++place) {
            first = std::min(first, at(question.from, place));
            last = std::min(last, at(place, question.to));
        }
        return first + last + further * std::max(first, last);
    }
    /// Every time that a slowest stage can have, ascending.
    std::vector<double> thresholds() const {
        std::vector<double> found;
        for (double seconds : seconds_) {
            if (seconds != unreachable) {
                found.push_back(seconds);
            }
        }
        std::sort(found.begin(), found.end());
        found.erase(std::unique(found.begin(), found.end()), found.end());
        return found;
    }

private:
    uint32_t places_;
    std::vector<double> seconds_;
};

/// Dijkstra over (place, has it passed the host): the path of the smallest sum whose stages take at
/// most `limit`. Empty if there is none.
std::vector<Hop> shortest(const Stages &stages, const PathQuestion &question, double limit) {
    const uint32_t places = stages.places();
    const uint32_t nodes = 2 * places;
    const auto node = [&](PlaceIndex place, bool passed) { return place + (passed ? places : 0); };
    std::vector<double> distance(nodes, unreachable);
    std::vector<uint32_t> before(nodes, nodes);
    std::vector<bool> settled(nodes, false);
    distance[node(question.from, question.from == host_place)] = 0;
    for (;;) {
        uint32_t nearest = nodes;
        for (uint32_t each = 0; each < nodes; ++each) {
            if (!settled[each] && distance[each] != unreachable &&
                (nearest == nodes || distance[each] < distance[nearest])) {
                nearest = each;
            }
        }
        if (nearest == nodes) {
            break;
        }
        settled[nearest] = true;
        const PlaceIndex from = nearest % places;
        for (PlaceIndex to = 0; to < places; ++to) {
            const double seconds = stages.at(from, to);
            if (seconds > limit) {
                continue;
            }
            const uint32_t next = node(to, nearest >= places || to == host_place);
            if (distance[nearest] + seconds < distance[next]) {
                distance[next] = distance[nearest] + seconds;
                before[next] = nearest;
            }
        }
    }
    std::vector<Hop> hops;
    for (uint32_t each = node(question.to, question.through_host); before[each] != nodes;
         each = before[each]) {
        hops.push_back({before[each] % places, each % places});
    }
    std::reverse(hops.begin(), hops.end());
    return hops;
}

/// No chain of links costs less: all bytes cross its first link, and its last one.
double least_seconds(const CostTable &costs, const PathQuestion &question) {
    const auto over = [&](PlaceIndex from, PlaceIndex to) {
        double least = unreachable;
        for (const LinkCost &cost : costs.link(from, to)) {
            least = cost.bandwidth > 0 ? std::min(least, cost.seconds(question.bytes)) : least;
        }
        return least;
    };
    double first = unreachable;
    double last = unreachable;
    for (PlaceIndex place = 0; place < costs.places(); ++place) {
        if (place != question.from && place != question.to) {
            first = std::min(first, over(question.from, place));
            last = std::min(last, over(place, question.to));
        }
    }
    return std::max(first, last);
}

bool passes_a_place_twice(const std::vector<Hop> &hops) {
    for (size_t index = 0; index < hops.size(); ++index) {
        for (size_t later = index; later < hops.size(); ++later) {
            if (hops[index].from == hops[later].to) {
                return true;
            }
        }
    }
    return false;
}

} // namespace

uint64_t even_piece(uint64_t bytes, uint64_t chunk) {
    const uint64_t pieces = pieces_of(bytes, chunk);
    return (bytes + pieces - 1) / pieces;
}

double pipeline_seconds(const CostTable &costs, const std::vector<Hop> &hops, uint64_t bytes,
                        uint64_t chunk) {
    const uint64_t piece = even_piece(bytes, chunk);
    double sum = 0;
    double slowest = 0;
    for (const Hop &hop : hops) {
        const double seconds = costs.stage_seconds(hop.from, hop.to, piece);
        sum += seconds;
        slowest = std::max(slowest, seconds);
    }
    return sum + static_cast<double>(pieces_of(bytes, chunk) - 1) * slowest;
}

std::optional<Path> cheapest_path(const CostTable &costs, const PathQuestion &question) {
    if (question.limit < unreachable && least_seconds(costs, question) >= question.limit) {
        return std::nullopt;
    }
    std::optional<Path> best;
    const CostModel &model = costs.model();
    uint64_t chunk = std::max<uint64_t>(1, model.smallest_chunk);
    for (;;) {
        const Stages stages(costs, question, even_piece(question.bytes, chunk));
        // A path's cost depends on its sum and on its slowest stage. For each possible slowest stage the
        // smallest sum is found; the best of these is the best of all.
        const auto further = static_cast<double>(pieces_of(question.bytes, chunk) - 1);
        const auto too_much = [&](double seconds) {
            return seconds >= (best ? best->seconds : question.limit);
        };
        const double least = stages.least(question, further);
        for (const double limit : stages.thresholds()) {
            if (too_much(std::max(least, further * limit))) {
                break;
            }
            std::vector<Hop> hops = shortest(stages, question, limit);
            if (hops.empty() || passes_a_place_twice(hops)) {
                continue;
            }
            const double seconds = pipeline_seconds(costs, hops, question.bytes, chunk);
            if (!too_much(seconds)) {
                best = Path{std::move(hops), chunk, seconds};
            }
        }
        if (chunk >= question.bytes || chunk >= model.largest_chunk) {
            return best;
        }
        chunk *= 2;
    }
}

} // namespace pi::runtime
