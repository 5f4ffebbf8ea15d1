// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

namespace pi::runtime {

/// Device memory that the runtime caches for reuse at one place, and how it served requests.
struct PoolStatistics {
    uint64_t bytes_kept = 0;   ///< idle now
    uint64_t blocks_kept = 0;  ///< likewise
    uint64_t bytes_in_use = 0; ///< in use by storages and staging now
    uint64_t hits = 0;         ///< requests served from cached memory
    uint64_t misses = 0;       ///< requests that the plugin allocated
    uint64_t unpooled = 0;     ///< those of them in a scope that is never pooled
    uint64_t dropped = 0;      ///< blocks returned to the plugin: over the limit, or trimmed
};

} // namespace pi::runtime
