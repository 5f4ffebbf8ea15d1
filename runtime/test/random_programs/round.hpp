// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of one seed, and the shortest failing one found.
#pragma once

#include "draw.hpp"

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace random_programs {

/// Runs steps on what the shape says. Throws Failure or pi::runtime::Error; `text` is what was done
/// until then.
using RunProgram =
    std::function<void(Draw &shape, const std::vector<Step> &steps, std::string &text)>;

struct Outcome {
    bool holds = true;
    std::size_t steps = 0; ///< of the shortest failing program found
    std::string text;      ///< the seed, that program, and what is wrong
};

/// How long a program is made shorter: all that could be tried of a long one takes hours.
inline constexpr std::chrono::seconds shrink_time{60};

/// The programs of one seed: as many in every build, the last of them of the greatest length.
/// `on_break` receives the first failing program, before it is shrunk.
Outcome run_round(const RunProgram &program, unsigned seed, std::chrono::seconds time = shrink_time,
                  const std::function<void(const std::string &)> &on_break = {});

} // namespace random_programs
