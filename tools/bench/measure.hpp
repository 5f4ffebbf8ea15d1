// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measures two things in turn. The machine changes during a measurement (other work, clock speed,
// caches), so both are measured alternately in many short batches: disturbances hit both, and the
// ratio of neighbouring batches is stable.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace pi_bench {

/// Does one operation `count` times.
using Batch = std::function<void(uint64_t count)>;

/// Each operation is complete when it returns.
template <class Operation>
Batch repeat(Operation operation) {
    return [operation](uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            operation();
        }
    };
}

/// The maximum number of operations in flight.
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
    std::chrono::nanoseconds batch; ///< minimum time of a batch
    uint32_t batches;               ///< how many of each are wanted
    uint32_t fewest;                ///< minimum, even if that takes longer than
    std::chrono::nanoseconds most;  ///< this
};

/// Nanoseconds per operation, by batch: the i-th ones of both were measured one after the other.
struct Times {
    std::vector<double> ours;
    std::vector<double> limit;
};

/// The order of the two alternates. Passes on what they throw.
Times interleave(const Batch &ours, const Batch &limit, const Effort &effort);

double median(std::vector<double> values);
/// left[i] - right[i], left[i] / right[i].
std::vector<double> differences(const std::vector<double> &left, const std::vector<double> &right);
std::vector<double> ratios(const std::vector<double> &left, const std::vector<double> &right);

} // namespace pi_bench
