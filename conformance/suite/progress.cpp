// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "progress.hpp"

#include "text.hpp"

#include <algorithm>
#include <iostream>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pi::suite {
namespace {

constexpr std::size_t usual_columns = 80;

std::string line_of(const TestCase &test_case) {
    return test_case.test.id() + " on " + test_case.place();
}

} // namespace

std::size_t progress_columns() {
    if (isatty(STDERR_FILENO) == 0)
        return 0;
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
        return usual_columns;
    return size.ws_col;
}

void Progress::started(const TestCase &test_case) {
    running_.push_back(line_of(test_case));
    draw();
}

void Progress::ended(const TestResult &result) {
    counts_.add(result.verdict);
    running_.erase(std::find(running_.begin(), running_.end(), line_of(result.test_case)));
    if (result.verdict.outcome == Outcome::failed) {
        clear();
        std::cout << "[" << counts_.all() << " of " << all_
                  << "] failed: " << line_of(result.test_case) << "\n    "
                  << first_line(result.verdict.reason) << std::endl;
    }
    draw();
}

void Progress::clear() {
    if (columns_ != 0)
        std::cerr << "\r\x1b[K" << std::flush;
}

void Progress::draw() {
    const auto now = std::chrono::steady_clock::now();
    if (columns_ == 0 && (running_.empty() || now - drawn_ < interval_))
        return;
    drawn_ = now;
    std::string line = join("[", counts_.all(), " of ", all_, "] ", counts_.failed, " failed, ",
                            counts_.skipped, " skipped");
    if (!running_.empty())
        line += ", running: " + running_.front();
    if (columns_ == 0) {
        std::cerr << line << std::endl;
        return;
    }
    // A wrapped line cannot be overwritten. The last column stays free, as some terminals wrap
    // there.
    line.resize(std::min(line.size(), columns_ - 1));
    std::cerr << "\r\x1b[K" << line << std::flush;
}

} // namespace pi::suite
