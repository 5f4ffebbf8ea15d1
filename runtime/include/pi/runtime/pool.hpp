// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace pi::runtime {

/// The device memory that the runtime keeps for use again at one place, and what became of the requests
/// for it.
struct PoolStatistics {
    uint64_t bytes_kept = 0;   ///< idle now
    uint64_t blocks_kept = 0;  ///< likewise
    uint64_t bytes_in_use = 0; ///< of storages and staging now
    uint64_t hits = 0;         ///< requests that were served from what was kept
    uint64_t misses = 0;       ///< requests for which the plugin made memory
    uint64_t unpooled = 0;     ///< of these, requests in a scope that is never pooled
    uint64_t dropped = 0;      ///< blocks given back to the plugin: over the limit, or trimmed
};

} // namespace pi::runtime
