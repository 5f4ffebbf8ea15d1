// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace pi_bench {

/// A terminal line that shows the current measurement and is erased at the end. It is drawn between
/// measurements, never during one. Does nothing if standard error is not a terminal.
class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    /// `measured`: how many rows are complete.
    void begin(size_t measured, const std::string &name);
    /// Call it before other output to the terminal.
    void clear();

private:
    size_t columns_; // 0: not a terminal
    bool drawn_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The width of a terminal; 0 if the descriptor is not one.
size_t terminal_columns(int descriptor);

/// The line: "[3 rows, 1:05] name", no longer than `columns`.
std::string progress_line(size_t measured, std::chrono::seconds passed, const std::string &name,
                          size_t columns);

} // namespace pi_bench
