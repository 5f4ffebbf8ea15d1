// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace pi::suite {

/// The path of a library of the suite's own, beside this program where it was built and where it is installed. Throws
/// Failure if it is missing.
std::string suite_library(const char *name);

} // namespace pi::suite
