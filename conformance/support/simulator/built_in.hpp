// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels of real modules for which the simulated drivers have native functions: the plugins'
// verification kernel.
#pragma once

#include <string>
#include <vector>

namespace pi::drivers {

/// The lines of an image with these kernels; "" if there are none, or one is not built in.
std::string built_in_image(const std::vector<std::string> &kernels);

} // namespace pi::drivers
