// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <string>
#include <vector>

namespace pi::cuda::simulated {

/// The context's objects that the program has created and not destroyed, one line per kind: "2
/// streams of device 0".
std::vector<std::string> leaks_of(const Context &context);

} // namespace pi::cuda::simulated
