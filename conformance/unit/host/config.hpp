// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace pi_test {

/// The PI_HOST_THREADS that every loader of these tests is given, or NULL.
inline const char *host_threads() {
    return std::getenv("PI_TEST_HOST_THREADS");
}

} // namespace pi_test
