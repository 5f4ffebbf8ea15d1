// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace pi_bench {

/// One line on a terminal that tells what is being measured, written over and over, and gone at the end. It is drawn
/// between measurements, never during one. Where standard error is no terminal it does nothing.
class Progress {
public:
    Progress();
    ~Progress() { clear(); }
    Progress(const Progress &) = delete;
    Progress &operator=(const Progress &) = delete;

    /// `measured`: how many rows there are already.
    void begin(size_t measured, const std::string &name);
    /// To be called before anything else is written there.
    void clear();

private:
    size_t columns_; // 0: no terminal
    bool drawn_ = false;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// The line: "[3 rows, 1:05] name", no longer than `columns`.
std::string progress_line(size_t measured, std::chrono::seconds passed, const std::string &name,
                          size_t columns);

} // namespace pi_bench
