// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"
#include "temporary.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

using pi_test::TemporaryFile;

/// How a run of pi-conformance ended, and what it printed.
struct Run : pi_test::Ran {
    std::string last_line;
};

/// Runs pi-conformance with these arguments. `before` is the words between env(1) and the program:
/// "NAME=value", or a program that runs it.
Run run_suite(const std::vector<std::string> &arguments,
              const std::vector<std::string> &before = {});

/// The same on a toy plugin by its fault's name ("honest", "crashes", ...), the tests of contexts
/// only.
Run run_toy(const std::string &toy, std::vector<std::string> arguments);

/// The same, with the JSON report, or null if there is none.
nlohmann::json report_of_toy(const std::string &toy, std::vector<std::string> arguments, Run &run);

/// The test of this name in a report, or null.
nlohmann::json test_of(const nlohmann::json &report, const std::string &name);

/// The command in a report, without the variables before it: these tests may run with a preloaded
/// library.
std::string without_variables(const std::string &command);

/// The test that fails on toys that break a rule.
inline constexpr const char *faulty_test = "a context answers every info name by its type";

/// The file of a toy plugin.
std::string toy_file(const std::string &toy);

/// The number of processes with this in their command line.
unsigned processes_with(const std::string &text);

/// Why the text is not well-formed XML, or "".
std::string xml_problem(const std::string &text);
