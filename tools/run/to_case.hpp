// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a recorded log as a case.
#pragma once

#include "log.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace pi_run {

struct Converted {
    std::string text;
    std::vector<std::string> left_out; ///< calls that cases do not have, with their lines
};

/// `line`: only the call of that line of the log, and the calls before it that concern the same
/// memory, events and programs; 0: all calls.
Converted to_case(Log &log, uint64_t line);

} // namespace pi_run
