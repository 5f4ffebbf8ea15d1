// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace pi_bench {

/// Starts a program that reports by start/stamp.h, waits for its end, and returns the nanoseconds
/// from just before the start to its stamp. Throws std::runtime_error if it fails or takes three
/// minutes.
double time_start(const std::vector<std::string> &command);

/// Runs a program to its end, with these variables ("NAME=value") replacing the environment's, and
/// returns its output. Throws std::runtime_error if it fails, or prints nothing for three minutes.
std::string output_of(const std::vector<std::string> &command,
                      const std::vector<std::string> &variables);

} // namespace pi_bench
