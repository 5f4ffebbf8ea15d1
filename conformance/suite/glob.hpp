// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string_view>

namespace pi::suite {

/// Whether the pattern matches the whole text: '*' is any characters, also none, '?' is one
/// character, and everything else is itself.
bool glob_matches(std::string_view pattern, std::string_view text);

/// Whether it matches the text followed by some other text, also none.
bool glob_matches_beginning(std::string_view pattern, std::string_view text);

} // namespace pi::suite
