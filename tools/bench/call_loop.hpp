// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops around calls of nanoseconds. All functions of one type are called by the same machine code
// at the same address: at this scale alignment alone would make a difference.
#pragma once

#include <benchmark/benchmark.h>

#include <array>
#include <cstdint>

namespace pi_bench {

template <class Result, class... Arguments>
[[gnu::noinline, gnu::aligned(64)]] void
call_often(uint64_t count, Result (*function)(Arguments...), Arguments... arguments) {
    for (uint64_t i = 0; i < count; ++i) {
        benchmark::DoNotOptimize(function(arguments...));
    }
}

/// Calls it for one handle after the other, `count` times in all, rounded up to a multiple of
/// three.
template <class Result, class Handle>
[[gnu::noinline, gnu::aligned(64)]] void call_in_turn(uint64_t count, Result (*function)(Handle),
                                                      const std::array<Handle, 3> &handles) {
    const std::array<Handle, 3> local = handles;
    for (uint64_t i = 0; i < count; i += 3) {
        benchmark::DoNotOptimize(function(local[0]));
        benchmark::DoNotOptimize(function(local[1]));
        benchmark::DoNotOptimize(function(local[2]));
    }
}

} // namespace pi_bench
