// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The excerpt of a compiler's log for an error's text.
#pragma once

#include <algorithm>
#include <cctype>
#include <string>
#include <string_view>

namespace pi::sdk {

/// At most eight lines and 600 bytes. Begins at the first line with the word "error", since drivers
/// print stages and warnings before it; without one at the log's start.
inline std::string build_log_excerpt(std::string_view log) {
    constexpr std::string_view word = "error";
    const auto error = std::search(log.begin(), log.end(), word.begin(), word.end(),
                                   [](unsigned char a, char b) { return std::tolower(a) == b; });
    constexpr size_t most_lines = 8, most_bytes = 600;
    const auto is_short = [&](std::string_view lines) {
        return lines.size() <= most_bytes &&
               std::count(lines.begin(), lines.end(), '\n') <= std::ptrdiff_t{most_lines};
    };
    if (error != log.end() && !is_short(log)) {
        const auto at = static_cast<size_t>(error - log.begin());
        log.remove_prefix(log.rfind('\n', at) + 1); // npos + 1 is 0
    }
    size_t end = 0;
    for (size_t lines = 0; lines < most_lines && end < log.size(); ++lines)
        end = std::min(log.find('\n', end), log.size() - 1) + 1;
    return std::string(log.substr(0, std::min(end, most_bytes)));
}

} // namespace pi::sdk
