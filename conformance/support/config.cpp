// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "config.hpp"

#include <cstdlib>

unsigned pi_test::default_seed() {
    const char *const value = std::getenv("PI_TEST_SEED");
    return value != nullptr ? static_cast<unsigned>(std::strtoul(value, nullptr, 10)) : 1;
}
