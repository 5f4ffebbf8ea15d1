// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reports of a run: on the terminal and in files.
#pragma once

#include "options.hpp"
#include "runner.hpp"

#include <cstddef>
#include <ctime>
#include <ostream>
#include <string>
#include <vector>

namespace pi::suite {

struct Counts {
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;
    std::size_t xfail = 0;

    std::size_t broke_off = 0; // of those that failed

    void add(const Verdict &verdict);
    std::size_t all() const { return passed + failed + skipped + xfail; }
};

Counts count(const std::vector<TestResult> &results);

/// A run that has ended.
struct Report {
    const Options &options;
    const Discovery &found;
    const std::vector<TestResult> &results;
    const std::vector<Expectation> &without_match; // of devices that are not here
    std::size_t not_run = 0;                       // because of --fail-fast, or a signal
    std::string stopped_by;                        // the signal's name, or ""
    std::time_t begin = 0;
    /// Why nothing was tested, or "": sentences, each on a line of its own.
    std::string problem;

    /// The plugin's own name; if unknown, the one in its file's name, libpi_plugin_<name>.so, or
    /// --plugin's value.
    std::string plugin() const;
};

/// The sentences of pi.h that the test holds the plugin to; first those of what the reason names.
std::vector<std::string> rules_of(const TestResult &result);

/// "not run after the first failure, because of --fail-fast: 3 tests", or "" if all were run.
std::string not_run(const Report &report);

/// A problem of the run itself, or "": nothing was tested, or a signal ended it.
std::string problem_of_run(const Report &report);

/// Failures with their output, skips by their reasons, the table of devices and areas, how many
/// tests were not run, and the last line.
void print_report(std::ostream &out, const Report &report, bool colours);

/// As docs/plugin-authors.md documents.
void write_json(std::ostream &out, const Report &report);

/// JUnit XML for Jenkins, GitLab and GitHub: a failed test is a <failure>; one that crashed, hung
/// or left an <error>; one that failed as expected is <skipped>. A run that tested nothing, or that
/// a signal ended, is an <error> of a test of its own; without it the run would be green.
void write_junit(std::ostream &out, const Report &report);

/// A self-contained page: the table of devices and areas, failures, and skips by their reasons.
void write_html(std::ostream &out, const Report &report);

/// "2026-11-23T23:20:38"
std::string utc(std::time_t time);

} // namespace pi::suite
