// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "config.hpp"

#include <cstdlib>

const char *pi::reached::counts_file() noexcept {
    return std::getenv("PI_REACHED_FILE");
}
