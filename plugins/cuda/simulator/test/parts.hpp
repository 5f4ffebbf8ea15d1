// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The images of the suite's program in two parts: each part has its own copy of the library.
#pragma once

namespace pi_cuda_test {

/// change(data) sets data[i] to changed(data[i]), which is data[i] * 3 + 1.
inline constexpr const char *caller = "library " PI_TEST_CUDA_PARTS "\n"
                                      "function change pointer\nimport changed call_changed\n";
inline constexpr const char *callee = "library " PI_TEST_CUDA_PARTS "\n"
                                      "export changed\nconstant factor 3\n";

} // namespace pi_cuda_test
