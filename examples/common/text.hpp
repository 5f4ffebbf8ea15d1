// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace examples {

/// "0", "812 B", "1.17 MiB".
std::string bytes_text(uint64_t bytes);
/// "0.4 ms", "12.3 ms".
std::string milliseconds_text(double milliseconds);
/// "0.4 us", "1234.5 us".
std::string microseconds_text(double microseconds);

/// Characters of UTF-8 text.
size_t length(std::string_view text);
/// Padded with blanks to a width in characters; text that is longer stays as it is.
std::string left(std::string_view text, size_t width);
std::string right(std::string_view text, size_t width);
/// Cut to a width in characters, "…" at the end.
std::string shortened(std::string_view text, size_t width);
/// Lines of at most `width` characters, broken at blanks; a longer word has a line of its own.
std::vector<std::string> wrapped(std::string_view text, size_t width);

/// As a JSON string, with its quotes.
std::string json_string(std::string_view text);

} // namespace examples
