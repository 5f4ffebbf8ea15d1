// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace pi_test {

/// Says that the running test case cannot run here, and why. The test returns right after:
///
///     if (devices.size() < 2) {
///         pi_test::skip("needs two devices");
///         return;
///     }
///
/// It is then counted as skipped, not as passed, unless one of its assertions failed. Call it on
/// the thread that runs the test case.
void skip(std::string_view reason);

} // namespace pi_test
