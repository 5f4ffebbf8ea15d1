// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// The output and exit code of a run of pi-conformance.
struct Run {
    int exit_code = -1;
    std::string output; // standard output and standard error
    std::string last_line;
};

/// Runs pi-conformance with these arguments; `before` precedes the command: "NAME=value", or a
/// program that runs it.
Run run_suite(const std::vector<std::string> &arguments, const std::string &before = "");

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

/// A file of this test run, removed at its end.
class TemporaryFile {
public:
    explicit TemporaryFile(const std::string &suffix);
    ~TemporaryFile();
    TemporaryFile(const TemporaryFile &) = delete;
    TemporaryFile &operator=(const TemporaryFile &) = delete;
    const std::string &path() const { return path_; }
    std::string text() const;
    void write(const std::string &text) const;

private:
    std::string path_;
};

/// Why the text is not well-formed XML, or "".
std::string xml_problem(const std::string &text);
