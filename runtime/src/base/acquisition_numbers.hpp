// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/per_thread.hpp"

#include <atomic>
#include <cstdint>

namespace pi::runtime {

/// Numbers the acquires of a runtime; all numbers differ. A thread takes block after block, so the
/// numbers of a single thread count from 1, and each thread's numbers ascend. Thread-safe.
class AcquisitionNumbers {
public:
    uint64_t take() {
        std::atomic<uint64_t> &last = last_.here();
        for (uint64_t before = last.load(std::memory_order_relaxed);;) {
            // A multiple of the size is the last number of its block, or none was taken yet.
            const uint64_t next = before % block == 0
                                      ? blocks_.fetch_add(1, std::memory_order_relaxed) * block + 1
                                      : before + 1;
            if (last.compare_exchange_strong(before, next, std::memory_order_relaxed)) {
                return next;
            }
        }
    }

private:
    static constexpr uint64_t block = 256;

    PerThread<std::atomic<uint64_t>> last_;
    std::atomic<uint64_t> blocks_{0};
};

} // namespace pi::runtime
