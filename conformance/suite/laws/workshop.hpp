// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernels.hpp"

#include <numeric>

namespace pi::suite {

/// The built kernels, a queue, and what most launches need.
struct Workshop {
    Bench &bench;
    Program program;
    Queue queue;

    explicit Workshop(Bench &on) : bench(on), program(make_program(on)), queue(on.make_queue()) {}

    std::vector<uint32_t> words(pi_mem mem, uint64_t count) {
        return words_of(bench.download(queue, mem, count * sizeof(uint32_t)));
    }
};

/// 0, 1, 2, ...
inline std::vector<uint32_t> counting(uint32_t count) {
    std::vector<uint32_t> values(count);
    std::iota(values.begin(), values.end(), 0u);
    return values;
}

} // namespace pi::suite
