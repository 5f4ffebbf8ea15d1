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

/// A chain of links, crossed by pieces of `chunk` bytes one behind the other: while one piece crosses
/// the second link, the next one crosses the first.
struct Path {
    std::vector<Hop> hops;
    uint64_t chunk = 0;
    double seconds = 0;
};

/// How many pieces lie at one place on the way at most: one is filled while the other is emptied.
inline constexpr size_t slots_a_place = 2;

struct PathQuestion {
    PlaceIndex from = host_place;
    PlaceIndex to = host_place;
    uint64_t bytes = 0;        ///< not 0
    bool through_host = false; ///< must the path pass or touch the host, or must it not?
    /// A path that costs as much is none.
    double limit = std::numeric_limits<double>::infinity();
    /// Links that may not be used although the table has them; empty = all may.
    std::function<bool(const Hop &)> usable{};
};

/// What so many bytes cost over these hops in pieces of at most `chunk` bytes:
///
///     sum of t(link) + (pieces - 1) * max of t(link),     t = CostTable::stage_seconds(one piece)
///
/// that is filling the pipeline, and then the slowest stage for every further piece. Links between places that both lie
/// in host memory count there as one, with the sum of their times: they take turns at its bus.
/// `more`: pieces beyond those, such as a broadcast's to further places.
double pipeline_seconds(const CostTable &costs, const std::vector<Hop> &hops, uint64_t bytes,
                        uint64_t chunk, uint64_t more = 0);

/// The bytes of each of the pieces that `bytes` are cut into: as even as can be.
uint64_t even_piece(uint64_t bytes, uint64_t chunk);

/// The cheapest path of at least two hops and the best size of its pieces, among the powers of two that
/// the model allows. Exact: no other such path is cheaper. A path that would pass a place twice is none.
std::optional<Path> cheapest_path(const CostTable &costs, const PathQuestion &question);

} // namespace pi::runtime
