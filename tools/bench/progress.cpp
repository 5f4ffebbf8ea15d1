// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "progress.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <sys/ioctl.h>
#include <unistd.h>

namespace pi_bench {

size_t terminal_columns(int descriptor) {
    constexpr size_t usual = 80;
    if (isatty(descriptor) == 0) {
        return 0;
    }
    winsize size{};
    return ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 ? usual : size.ws_col;
}

std::string progress_line(size_t measured, std::chrono::seconds passed, const std::string &name,
                          size_t columns) {
    std::array<char, 64> begin{};
    const auto seconds = static_cast<long long>(passed.count());
    std::snprintf(begin.data(), begin.size(), "[%zu %s, %lld:%02lld] ", measured,
                  measured == 1 ? "row" : "rows", seconds / 60, seconds % 60);
    std::string line = begin.data() + name;
    // A wrapped line cannot be overwritten; some terminals wrap in the last column.
    line.resize(std::min(line.size(), std::max<size_t>(columns, 1) - 1));
    return line;
}

Progress::Progress() : columns_(terminal_columns(STDERR_FILENO)) {}

void Progress::begin(size_t measured, const std::string &name) {
    if (columns_ == 0) {
        return;
    }
    const auto passed =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start_);
    std::fprintf(stderr, "\r\033[K%s", progress_line(measured, passed, name, columns_).c_str());
    std::fflush(stderr);
    drawn_ = true;
}

void Progress::clear() {
    if (drawn_) {
        std::fputs("\r\033[K", stderr);
        std::fflush(stderr);
        drawn_ = false;
    }
}

} // namespace pi_bench
