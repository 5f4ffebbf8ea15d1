// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "object.hpp"

#include <string>
#include <vector>

namespace pi::level_zero::simulated {

/// The objects of the context that the program has made and not destroyed, a line for each kind: "2 events".
std::vector<std::string> leaks_of(const Context &context);

} // namespace pi::level_zero::simulated

/// What lives, a line each, as text that ends with 0; returns how many lines there are.
extern "C" __attribute__((visibility("default"))) int pi_simulated_level_zero_leaks(char *text,
                                                                                    size_t size);
