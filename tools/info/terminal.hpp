// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text as wide as the terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pi_info {

/// The width of the terminal that standard output is; 0 where it is none, or does not tell.
size_t terminal_columns();

/// Whether that terminal's characters are UTF-8's; false where it is none.
bool terminal_has_utf8();

/// Characters of UTF-8 text that take a place: escape sequences ("\033[32m") take none.
size_t width_of(std::string_view text);

/// Lines that are longer are broken at single blanks, and go on under their second column. What has two blanks
/// between its columns, as a matrix, is not broken there. With 0 columns nothing is broken.
std::string fitted(const std::string &text, size_t columns);

} // namespace pi_info
