// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measuring two things beside each other. The machine changes while it is measured (other work, clock
// speed, caches), so both are measured alternately in many short batches: what disturbs one disturbs
// the other, and the ratio of neighbouring batches stays.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace pi_bench {

/// Does one thing `count` times.
using Batch = std::function<void(uint64_t count)>;

/// Each of them is done when the operation returns.
template <class Operation>
Batch repeat(Operation operation) {
    return [operation](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            operation();
        }
    };
}

/// So many at most are under way at once.
inline constexpr uint64_t most_in_a_row = 256;
template <class Operation, class Wait>
Batch repeat_in_a_row(Operation operation, Wait wait) {
    return [operation, wait](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            operation();
            if (i % most_in_a_row == most_in_a_row - 1) {
                wait();
            }
        }
        wait();
    };
}

struct Effort {
    std::chrono::nanoseconds batch; ///< how long a batch lasts at least
    uint32_t batches;               ///< how many of each are wanted
    uint32_t fewest;                ///< how many are measured even if that takes longer than
    std::chrono::nanoseconds most;  ///< this
};

/// Nanoseconds for doing it once, by batch: the i-th of both were measured one after the other.
struct Times {
    std::vector<double> ours;
    std::vector<double> limit;
};

/// Which of both comes first alternates. What they throw goes through.
Times interleave(const Batch &ours, const Batch &limit, const Effort &effort);

double median(std::vector<double> values);
/// left[i] - right[i], left[i] / right[i].
std::vector<double> differences(const std::vector<double> &left, const std::vector<double> &right);
std::vector<double> ratios(const std::vector<double> &left, const std::vector<double> &right);

} // namespace pi_bench
