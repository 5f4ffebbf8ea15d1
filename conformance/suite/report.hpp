// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is told of a run: on the terminal and in files.
#pragma once

#include "options.hpp"
#include "runner.hpp"

#include <cstddef>
#include <ctime>
#include <ostream>
#include <vector>

namespace pi::suite {

struct Counts {
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;

    std::size_t broke_off = 0; // of those that failed

    void add(const Verdict &verdict);
    std::size_t all() const { return passed + failed + skipped; }
};

Counts count(const std::vector<TestResult> &results);

/// Tells of each test as it ends: on a terminal by one line that changes, else only of failures.
class Progress {
public:
    Progress(std::size_t all, bool terminal) : all_(all), terminal_(terminal) {}
    void operator()(const TestResult &result);
    void finish();

private:
    std::size_t all_;
    bool terminal_;
    std::size_t done_ = 0;
    std::size_t failed_ = 0;
};

/// A run that has ended.
struct Report {
    const Options &options;
    const Discovery &found;
    const std::vector<TestResult> &results;
    std::size_t not_run = 0; // because of --fail-fast
    std::time_t begin = 0;
};

/// Failures with their output, skips by their reasons, the table of devices and areas, how many tests
/// were not run, and the last line.
void print_report(std::ostream &out, const Report &report, bool colours);

/// As docs/plugin-authors.md tells.
void write_json(std::ostream &out, const Report &report);

/// As Jenkins, GitLab and GitHub's actions read it: what failed by itself is a <failure>, what crashed,
/// hung or left an <error>.
void write_junit(std::ostream &out, const Report &report);

} // namespace pi::suite
