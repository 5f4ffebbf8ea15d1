// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of real modules that the simulated drivers have native functions for: the plugins' verification kernel.
#pragma once

#include <string>
#include <vector>

namespace pi::drivers {

/// The lines of an image with these kernels; "" if there are none, or one is not built in.
std::string built_in_image(const std::vector<std::string> &kernels);

} // namespace pi::drivers
