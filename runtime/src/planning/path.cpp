// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "planning/path.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace pi::runtime {
namespace {

constexpr double unreachable = std::numeric_limits<double>::infinity();

uint64_t pieces_of(uint64_t bytes, uint64_t chunk) {
    return std::max<uint64_t>(1, (bytes + chunk - 1) / chunk);
}

/// The stages of all links for one size of piece.
class Stages {
public:
    struct Stage {
        double seconds = unreachable;
        bool shared = false; // shared stages take turns
    };

    Stages(const CostTable &costs, const PathQuery &query, uint64_t piece)
        : places_(costs.places()), stages_(size_t{places_} * places_) {
        for (PlaceIndex from = 0; from < places_; ++from) {
            for (PlaceIndex to = 0; to < places_; ++to) {
                const Hop hop{from, to};
                const bool direct = from == query.from && to == query.to;
                const bool forbidden_host =
                    !query.through_host && (from == host_place || to == host_place);
                if (from != to && !direct && !forbidden_host && costs.linked(from, to) &&
                    (!query.usable || query.usable(hop))) {
                    stages_[size_t{from} * places_ + to] = {costs.stage_seconds(from, to, piece),
                                                            costs.in_host_memory(from, to)};
                }
            }
        }
    }

    uint32_t places() const { return places_; }
    const Stage &at(PlaceIndex from, PlaceIndex to) const {
        return stages_[size_t{from} * places_ + to];
    }

private:
    uint32_t places_;
    std::vector<Stage> stages_;
};

/// Cost of a pipeline's stages together. Another stage never lowers it.
struct Cost {
    double sum = 0;     // of all
    double slowest = 0; // of those that run at the same time
    double shared = 0;  // sum of those that take turns

    void add(const Stages::Stage &stage) {
        sum += stage.seconds;
        if (stage.shared) {
            shared += stage.seconds;
        } else {
            slowest = std::max(slowest, stage.seconds);
        }
    }
    /// With so many further pieces after the first.
    double seconds(double further) const { return sum + further * std::max(slowest, shared); }
    bool nowhere_more_than(const Cost &other) const {
        return sum <= other.sum && slowest <= other.slowest && shared <= other.shared;
    }
};

/// Finds the cheapest chain of stages for a size of pieces: it always continues the cheapest
/// beginning. A beginning that is nowhere cheaper than another one to the same place is dropped.
class Search {
public:
    Search(const Stages &stages, const PathQuery &query, double further)
        : stages_(stages), query_(query), further_(further), at_(2 * size_t{stages.places()}) {}

    /// Empty if none costs less than `limit`.
    std::vector<Hop> run(double limit) {
        add({node(query_.from, query_.from == host_place), none, {}}, limit);
        const uint32_t goal = node(query_.to, query_.through_host);
        while (!open_.empty()) {
            const uint32_t nearest = open_.top().second;
            open_.pop();
            const Beginning beginning = beginnings_[nearest]; // the vector grows
            if (beginning.node == goal) {
                return hops_to(nearest);
            }
            for (PlaceIndex to = 0; to < stages_.places(); ++to) {
                const Stages::Stage &stage = stages_.at(place(beginning.node), to);
                if (stage.seconds == unreachable || passes(nearest, to)) {
                    continue;
                }
                const bool passed = beginning.node >= stages_.places() || to == host_place;
                Beginning next{node(to, passed), nearest, beginning.cost};
                next.cost.add(stage);
                add(next, limit);
            }
        }
        return {};
    }

private:
    static constexpr uint32_t none = UINT32_MAX;
    /// A node is a place, and whether the host has been passed.
    struct Beginning {
        uint32_t node;
        uint32_t before; // index of the beginning without its last stage
        Cost cost;
    };

    uint32_t node(PlaceIndex place, bool passed) const {
        return place + (passed ? stages_.places() : 0);
    }
    PlaceIndex place(uint32_t node) const { return node % stages_.places(); }

    void add(const Beginning &beginning, double limit) {
        std::vector<uint32_t> &others = at_[beginning.node];
        const double seconds = beginning.cost.seconds(further_);
        if (seconds >= limit || std::any_of(others.begin(), others.end(), [&](uint32_t other) {
                return beginnings_[other].cost.nowhere_more_than(beginning.cost);
            })) {
            return;
        }
        const auto index = static_cast<uint32_t>(beginnings_.size());
        beginnings_.push_back(beginning);
        others.push_back(index);
        open_.emplace(seconds, index);
    }

    bool passes(uint32_t index, PlaceIndex wanted) const {
        for (; index != none; index = beginnings_[index].before) {
            if (place(beginnings_[index].node) == wanted) {
                return true;
            }
        }
        return false;
    }

    std::vector<Hop> hops_to(uint32_t index) const {
        std::vector<Hop> hops;
        for (uint32_t before = beginnings_[index].before; before != none;
             index = before, before = beginnings_[index].before) {
            hops.push_back({place(beginnings_[before].node), place(beginnings_[index].node)});
        }
        std::reverse(hops.begin(), hops.end());
        return hops;
    }

    const Stages &stages_;
    const PathQuery &query_;
    const double further_;
    std::vector<Beginning> beginnings_;
    std::vector<std::vector<uint32_t>> at_; // of each node: indices of beginnings
    using Open = std::pair<double, uint32_t>;
    std::priority_queue<Open, std::vector<Open>, std::greater<>> open_;
};

/// A lower bound: all bytes cross a chain's first link, and its last one.
double least_seconds(const CostTable &costs, const PathQuery &query) {
    const auto over = [&](PlaceIndex from, PlaceIndex to) {
        double least = unreachable;
        for (const LinkCost &cost : costs.link(from, to)) {
            least = cost.bandwidth > 0 ? std::min(least, cost.seconds(query.bytes)) : least;
        }
        return least;
    };
    double first = unreachable;
    double last = unreachable;
    for (PlaceIndex place = 0; place < costs.places(); ++place) {
        if (place != query.from && place != query.to) {
            first = std::min(first, over(query.from, place));
            last = std::min(last, over(place, query.to));
        }
    }
    return std::max(first, last);
}

} // namespace

uint64_t even_piece(uint64_t bytes, uint64_t chunk) {
    const uint64_t pieces = pieces_of(bytes, chunk);
    return (bytes + pieces - 1) / pieces;
}

double pipeline_seconds(const CostTable &costs, const std::vector<Hop> &hops, uint64_t bytes,
                        uint64_t chunk, uint64_t more) {
    const uint64_t piece = even_piece(bytes, chunk);
    Cost cost;
    for (const Hop &hop : hops) {
        cost.add(
            {costs.stage_seconds(hop.from, hop.to, piece), costs.in_host_memory(hop.from, hop.to)});
    }
    return cost.seconds(static_cast<double>(pieces_of(bytes, chunk) - 1 + more));
}

std::optional<Path> cheapest_path(const CostTable &costs, const PathQuery &query) {
    if (query.limit < unreachable && least_seconds(costs, query) >= query.limit) {
        return std::nullopt;
    }
    std::optional<Path> best;
    const CostModel &model = costs.model();
    uint64_t chunk = std::max<uint64_t>(1, model.smallest_chunk);
    for (;;) {
        const Stages stages(costs, query, even_piece(query.bytes, chunk));
        const auto further = static_cast<double>(pieces_of(query.bytes, chunk) - 1);
        std::vector<Hop> hops =
            Search(stages, query, further).run(best ? best->seconds : query.limit);
        if (!hops.empty()) {
            const double seconds = pipeline_seconds(costs, hops, query.bytes, chunk);
            best = Path{std::move(hops), chunk, seconds};
        }
        if (chunk >= query.bytes || chunk >= model.largest_chunk) {
            return best;
        }
        chunk *= 2;
    }
}

} // namespace pi::runtime
