// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <filesystem>
#include <iterator>

namespace pi_test {

/// How many there are in this process now.
inline size_t count_threads() {
    using std::filesystem::directory_iterator;
    return static_cast<size_t>(
        std::distance(directory_iterator("/proc/self/task"), directory_iterator()));
}

} // namespace pi_test
