// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Repeats calls.
#pragma once

#include "replay.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace pi_run {

struct Call {
    Line line;
    pi_result expected;
    /// Started before its line's turn, so that the calls up to there can be made: as much of it as
    /// does not block.
    bool early;
};

struct Outcome {
    pi_result result;
    std::optional<uint64_t> hash; ///< of the bytes that it read
};

/// Makes a call of one function as its line says. The returned function waits for its end, if it
/// must, and takes its result. Both throw Refusal and CannotRun. Empty for an early call that does
/// not block: it runs in its turn.
using End = std::function<Outcome()>;
using Play = End (*)(Replay::State &, std::shared_ptr<const Call>);

/// For the function in that row of pi_functions.def; NULL for one whose calls are not repeated.
Play player_of(std::size_t index);

} // namespace pi_run
