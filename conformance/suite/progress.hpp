// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Progress while tests run.
#pragma once

#include "report.hpp"
#include "runner.hpp"

#include <chrono>
#include <cstddef>
#include <list>
#include <string>

namespace pi::suite {

/// The columns of the terminal on standard error, or 0 if it is not a terminal.
std::size_t progress_columns();

/// Prints failures on standard output as they come. On a terminal standard error has one line that
/// is rewritten, and erased before anything else is printed:
///
///     [312 of 1230] 3 failed, 40 skipped, running: enqueue: a copy moves ...
///
/// It names the test that has run longest, so that a hang is visible. Elsewhere, as in the log of a
/// CI system, this is a line of its own now and then.
class Progress : public RunListener {
public:
    /// For `all` cases, on a terminal of so many columns. 0: no terminal; a line is printed when a
    /// test begins or ends, at most once in each interval.
    Progress(std::size_t all, std::size_t columns, std::chrono::seconds interval)
        : all_(all), columns_(columns), interval_(interval) {}
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
    /// Erases the line.
    ~Progress() override { clear(); }
    void started(const TestCase &test_case) override;
    void ended(const TestResult &result) override;

private:
    void clear();
    void draw();

    std::size_t all_;
    std::size_t columns_;
    std::chrono::seconds interval_;
    std::chrono::steady_clock::time_point drawn_ = std::chrono::steady_clock::now();
    Counts counts_;
    std::list<std::string> running_; // in the order in which they began
};

} // namespace pi::suite
