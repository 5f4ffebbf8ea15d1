// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <cstdint>

namespace pi::runtime {

/// The calling thread's number, from 1 on, in the order of first calls. Unlike the system's numbers
/// it is never used again, not even after the thread has ended.
inline uint64_t this_thread_number() {
    static std::atomic<uint64_t> last{0};
    static constinit thread_local uint64_t number =
        0; // a constant, so that the variable needs no guard
    if (number == 0) {
        number = last.fetch_add(1, std::memory_order_relaxed) + 1;
    }
    return number;
}

} // namespace pi::runtime
