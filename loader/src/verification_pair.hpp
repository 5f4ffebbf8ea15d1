// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the copies, in-place commands and maps that a connection of two places promises.
#pragma once

#include "verification_check.hpp"

#include <string>

namespace pi::loader {

/// Returns how bytes in memory of src differ; "" if all arrive.
std::string verify_pair(Check &check, Memory &source);

} // namespace pi::loader
