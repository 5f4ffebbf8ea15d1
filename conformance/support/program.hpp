// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>
#include <vector>

namespace pi_test {

struct Ran {
    int exit_code = -1; ///< 124: it took too long; above 128: killed by a signal
    std::string output; ///< standard output, and standard error unless the streams are apart
    std::string errors; ///< standard error of a program whose streams are apart
};

enum class Streams { together, apart };

/// Runs a program with arguments to its end, for at most `seconds`; `environment` ("NAME=value") is
/// added to that of this process.
Ran run(const std::vector<std::string> &command, const std::vector<std::string> &environment = {},
        Streams streams = Streams::together, unsigned seconds = 200);

} // namespace pi_test
