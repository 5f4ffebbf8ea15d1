// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace pi::runtime {

/// The calling thread's own, from 1 on, in the order in which threads first ask. Never another's, not even when this one
/// has ended, as the system's numbers are.
inline uint64_t this_thread_number() {
    static std::atomic<uint64_t> last{0};
    static constinit thread_local uint64_t number =
        0; // which needs no guard, unlike one that begins with its value
    if (number == 0) {
        number = last.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return number;
}

} // namespace pi::runtime
