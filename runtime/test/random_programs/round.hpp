// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of one seed, and the shortest failing one.
#pragma once

#include "draw.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace random_programs {

/// Runs steps on the machine that the shape decides. Throws Failure or pi::runtime::Error; `text`
/// lists the steps until then.
using RunProgram =
    std::function<void(Draw &shape, const std::vector<Step> &steps, std::string &text)>;

struct Outcome {
    bool holds = true;
    std::size_t steps = 0; ///< of the shortest failing program
    std::string text;      ///< the seed, that program, and the failure
};

/// Time limit for shrinking a program: all attempts for a long one take hours.
inline constexpr std::chrono::seconds shrink_time{60};

/// Runs the programs of one seed: the same number in every build, the last of them of the greatest
/// length. `on_break` receives the first failing program, before it is shrunk.
Outcome run_round(const RunProgram &program, unsigned seed, std::chrono::seconds time = shrink_time,
                  const std::function<void(const std::string &)> &on_break = {});

} // namespace random_programs
