// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes calls again.
#pragma once

#include "replay.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace pi_replay {

struct Call {
    Line line;
    pi_result expected;
    /// Made before its line's turn, so that the others up to there can be made: as much of it as does not wait.
    bool early;
};

struct Outcome {
    pi_result result;
    std::optional<uint64_t> hash; ///< of the bytes that it gave
};

/// Makes a call of one function with what its line says; what that gives waits for its end, if it must, and takes what
/// came out. Both throw Refusal and LeftOut. Nothing for an early call that does not block: it has its turn.
using End = std::function<Outcome()>;
using Play = End (*)(Replay::State &, std::shared_ptr<const Call>);

/// Of the function in that row of pi_functions.def; NULL for one whose calls are not made again.
Play player_of(std::size_t index);

} // namespace pi_replay
