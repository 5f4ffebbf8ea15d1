// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text as wide as the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pi_info {

/// The width of the terminal on standard output; 0 if it is not a terminal, or unknown.
size_t terminal_columns();

/// Whether that terminal uses UTF-8; false if it is not a terminal.
bool terminal_has_utf8();

/// The visible characters of UTF-8 text: escape sequences ("\033[32m") do not count.
size_t width_of(std::string_view text);

/// Breaks longer lines at single blanks, and continues them under their second column. Text with
/// two blanks between its columns, as a matrix, is not broken there. With 0 columns nothing is
/// broken.
std::string fitted(const std::string &text, size_t columns);

} // namespace pi_info
