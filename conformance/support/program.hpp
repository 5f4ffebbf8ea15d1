// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace pi_test {

struct Ran {
    int exit_code = -1; ///< 124: it took longer than a minute or two; above: killed by a signal
    std::string output; ///< of both streams
};

/// Runs a program with arguments to its end.
Ran run(const std::vector<std::string> &command);

} // namespace pi_test
