// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/cost.hpp>
#include <pi/runtime/route.hpp>

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

namespace pi::runtime {

/// A chain of links, crossed by pieces of `chunk` bytes one behind the other: while one piece
/// crosses the second link, the next one crosses the first.
struct Path {
    std::vector<Hop> hops;
    uint64_t chunk = 0;
    double seconds = 0;
};

/// The most pieces at one place on the way: one is filled while the other is emptied.
inline constexpr size_t slots_a_place = 2;

struct PathQuery {
    PlaceIndex from = host_place;
    PlaceIndex to = host_place;
    uint64_t bytes = 0;        ///< not 0
    bool through_host = false; ///< the path must pass or touch the host; else it must not
    /// Only paths that cost less are found.
    double limit = std::numeric_limits<double>::infinity();
    /// Links that may not be used although the table has them; empty = all may.
    std::function<bool(const Hop &)> usable{};
};

/// The seconds that so many bytes take over these hops in pieces of at most `chunk` bytes:
///
///     sum of t(link) + (pieces - 1) * max of t(link),     t = CostTable::stage_seconds(one piece)
///
/// that is, the time to fill the pipeline, and then the slowest stage for every further piece.
/// Links between places in host memory count as one, with the sum of their times: they take turns
/// at its bus. `more`: further pieces, such as a broadcast's to other places.
double pipeline_seconds(const CostTable &costs, const std::vector<Hop> &hops, uint64_t bytes,
                        uint64_t chunk, uint64_t more = 0);

/// The size of each piece that `bytes` are cut into: as even as possible.
uint64_t even_piece(uint64_t bytes, uint64_t chunk);

/// The cheapest path of at least two hops and the best size of its pieces, among the powers of two
/// that the model allows. Exact: no other such path is cheaper. No path passes a place twice.
std::optional<Path> cheapest_path(const CostTable &costs, const PathQuery &query);

} // namespace pi::runtime
