// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace pi_test {

/// The seed of a test program that is run without --rng-seed: PI_TEST_SEED, which ctest sets, or 1.
unsigned default_seed();

} // namespace pi_test
