// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace pi::runtime {

/// The calling thread's own, from 1 on. Never another's, not even when this one has ended, as the system's numbers are.
inline uint64_t this_thread_number() {
    static std::atomic<uint64_t> last{0};
    static thread_local const uint64_t number = last.fetch_add(1, std::memory_order_relaxed) + 1;
    return number;
}

} // namespace pi::runtime
