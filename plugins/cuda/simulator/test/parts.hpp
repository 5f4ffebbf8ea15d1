// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What images say of the suite's program in two parts: each part has a copy of the library of its own.
#pragma once

namespace pi_cuda_test {

/// change(data) makes data[i] changed(data[i]), which is data[i] * 3 + 1.
inline constexpr const char *caller = "library " PI_TEST_CUDA_PARTS "\n"
                                      "function change pointer\nimport changed call_changed\n";
inline constexpr const char *callee = "library " PI_TEST_CUDA_PARTS "\n"
                                      "export changed\nconstant factor 3\n";

} // namespace pi_cuda_test
