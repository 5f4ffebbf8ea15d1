// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is told while tests run.
#pragma once

#include "report.hpp"
#include "runner.hpp"

#include <cstddef>
#include <list>
#include <string>

namespace pi::suite {

/// The columns of the terminal that standard error is, or 0 when it is none.
std::size_t progress_columns();

/// Tells of failures on standard output as they come. Where standard error is a terminal, one line on it
/// is written again and again, and gone before anything else is printed:
///
///     [312 of 1230] 3 failed, 40 skipped, running: enqueue: a copy moves ...
///
/// The test in it is the one that has been running longest, so that one that hangs is seen.
class Progress : public RunListener {
public:
    /// Of `all` cases, on a terminal of so many columns; 0: no line.
    Progress(std::size_t all, std::size_t columns) : all_(all), columns_(columns) {}
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;
    /// The line is gone.
    ~Progress() override { clear(); }
    void started(const TestCase &test_case) override;
    void ended(const TestResult &result) override;

private:
    void clear();
    void draw();

    std::size_t all_;
    std::size_t columns_;
    Counts counts_;
    std::list<std::string> running_; // in the order in which they began
};

} // namespace pi::suite
