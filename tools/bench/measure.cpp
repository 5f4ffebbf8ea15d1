// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace pi_bench {
namespace {

using Clock = std::chrono::steady_clock;

std::chrono::nanoseconds time(const Batch &batch, uint64_t count) {
    const Clock::time_point begin = Clock::now();
    batch(count);
    return Clock::now() - begin;
}

double time_of_one(const Batch &batch, uint64_t count) {
    return static_cast<double>(time(batch, count).count()) / static_cast<double>(count);
}

/// How many repetitions fill a batch. Also warms up.
uint64_t count_for(const Batch &batch, std::chrono::nanoseconds wanted) {
    uint64_t count = 1;
    for (; count < uint64_t{1} << 40; count *= 2) {
        if (time(batch, count) >= wanted) {
            break;
        }
    }
    return count;
}

template <class Operation>
std::vector<double> combine(const std::vector<double> &left, const std::vector<double> &right,
                            Operation operation) {
    std::vector<double> result(std::min(left.size(), right.size()));
    std::transform(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(result.size()),
                   right.begin(), result.begin(), operation);
    return result;
}

} // namespace

Times interleave(const Batch &ours, const Batch &limit, const Effort &effort) {
    const uint64_t our_count = count_for(ours, effort.batch);
    const uint64_t limit_count = count_for(limit, effort.batch);
    Times times;
    const Clock::time_point begin = Clock::now();
    for (uint32_t i = 0; i < effort.batches; ++i) {
        if (i >= effort.fewest && Clock::now() - begin > effort.most) {
            break;
        }
        double our_time = 0;
        if (i % 2 == 0) {
            our_time = time_of_one(ours, our_count);
        }
        times.limit.push_back(time_of_one(limit, limit_count));
        if (i % 2 == 1) {
            our_time = time_of_one(ours, our_count);
        }
        times.ours.push_back(our_time);
    }
    return times;
}

double median(std::vector<double> values) {
    if (values.empty()) {
        throw std::logic_error("the median of nothing");
    }
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) {
        return *middle;
    }
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<double> differences(const std::vector<double> &left, const std::vector<double> &right) {
    return combine(left, right, std::minus<>());
}

std::vector<double> ratios(const std::vector<double> &left, const std::vector<double> &right) {
    return combine(left, right, std::divides<>());
}

} // namespace pi_bench
