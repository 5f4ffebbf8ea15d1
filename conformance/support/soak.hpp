// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>

namespace pi_test {

/// How long a test of random programs goes on with new seeds: the option --soak of every test
/// program, in seconds. Without it a test is as short as it likes.
std::chrono::seconds soak_time();

} // namespace pi_test
