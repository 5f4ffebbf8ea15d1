// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace pi::level_zero::simulated {

/// A function of an extension that is in no table; null if the driver has none of this name.
void *extension_function(const std::string &name);

} // namespace pi::level_zero::simulated
