// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "context.hpp"

#include <string>
#include <vector>

namespace pi::cuda::simulated {

/// The objects of the context that the program has made and not destroyed, a line for each kind: "2 streams of device 0".
std::vector<std::string> leaks_of(const Context &context);

} // namespace pi::cuda::simulated
