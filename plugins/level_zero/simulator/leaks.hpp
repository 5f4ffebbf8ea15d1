// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "object.hpp"

#include <string>
#include <vector>

namespace pi::level_zero::simulated {

/// The context's objects that the program has created and not destroyed, one line per kind: "2
/// events".
std::vector<std::string> leaks_of(const Context &context);

} // namespace pi::level_zero::simulated

/// Writes the live objects, one line each, as 0-terminated text; returns the number of lines.
extern "C" __attribute__((visibility("default"))) int pi_simulated_level_zero_leaks(char *text,
                                                                                    size_t size);
