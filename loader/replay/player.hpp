// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes calls again.
#pragma once

#include "replay.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>

namespace pi_replay {

struct Call {
    const Json &line;
    const Json &arguments;
    pi_result expected;
};

struct Outcome {
    pi_result result;
    std::optional<uint64_t> hash; ///< of the bytes that it gave
};

/// Makes a call of one function with what its line says. Throws Refusal and LeftOut.
using Play = Outcome (*)(Replay::State &, const Call &);

/// Of the function in that row of pi_functions.def; NULL for one whose calls are not made again.
Play player_of(std::size_t index);

} // namespace pi_replay
