// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/acquisition_numbers.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <thread>
#include <vector>

using namespace pi::runtime;

TEST_CASE("the acquires of one thread count from 1", "[runtime]") {
    AcquisitionNumbers numbers;
    for (uint64_t expected = 1; expected <= 2000; ++expected) {
        REQUIRE(numbers.take() == expected);
    }
}

TEST_CASE("the acquires of several threads have different numbers, which ascend in each thread",
          "[runtime]") {
    // More threads than slots: some share a slot.
    constexpr size_t threads = 100;
    constexpr size_t each = 2000;
    AcquisitionNumbers numbers;
    std::vector<std::vector<uint64_t>> taken(threads);
    std::vector<std::thread> all;
    for (std::vector<uint64_t> &own : taken) {
        all.emplace_back([&numbers, &own] {
            for (size_t count = 0; count < each; ++count) {
                own.push_back(numbers.take());
            }
        });
    }
    std::vector<uint64_t> together;
    for (size_t thread = 0; thread < threads; ++thread) {
        all[thread].join();
        CHECK(std::is_sorted(taken[thread].begin(), taken[thread].end()));
        together.insert(together.end(), taken[thread].begin(), taken[thread].end());
    }
    std::sort(together.begin(), together.end());
    CHECK(std::adjacent_find(together.begin(), together.end()) == together.end());
    CHECK(together.size() == threads * each);
}
