// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"
#include "temporary.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace pi_test {

/// Runs a program to its end; its standard output and standard error are apart.
inline Ran run_tool(const std::vector<std::string> &command,
                    const std::vector<std::string> &environment = {}) {
    return run(command, environment, Streams::apart);
}

/// Runs a program and reads what it printed; fails the test unless it ended with `exit_code`.
inline nlohmann::json run_json(const std::vector<std::string> &command,
                               const std::vector<std::string> &environment = {},
                               int exit_code = 0) {
    const Ran ran = run_tool(command, environment);
    INFO(ran.output);
    INFO(ran.errors);
    REQUIRE(ran.exit_code == exit_code);
    return nlohmann::json::parse(ran.output);
}

} // namespace pi_test
