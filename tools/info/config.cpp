// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>

namespace pi_info {

bool no_colour_wanted() {
    const char *const value = std::getenv("NO_COLOR");
    return value != nullptr && *value != '\0';
}

} // namespace pi_info
