// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace pi_test {

/// The PI_HOST_THREADS of every loader in these tests, or NULL.
inline const char *host_threads() {
    return std::getenv("PI_TEST_HOST_THREADS");
}

/// Whether hwloc has a synthetic machine, on which nothing can be bound.
inline bool machine_is_invented() {
    return std::getenv("HWLOC_SYNTHETIC");
}

/// Whether this is the machine of scripts/test-cma, which has all kinds of dma-bufs.
inline bool machine_has_dma_bufs() {
    return std::getenv("PI_TEST_NEEDS_CMA");
}

} // namespace pi_test
