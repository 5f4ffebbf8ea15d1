// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies, commands in place and maps between two places, as their connection promises them.
#pragma once

#include "verification_check.hpp"

#include <string>

namespace pi::loader {

/// What is seen of memory of src when bytes do not arrive; "" if all do.
std::string verify_pair(Check &check, Memory &source);

} // namespace pi::loader
