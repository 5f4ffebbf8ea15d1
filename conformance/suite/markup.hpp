// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace pi::suite {

enum class MarkupIn { attribute, text };

/// Any bytes as text of XML or HTML, or as an attribute in double quotes, in UTF-8. Bytes that are
/// not UTF-8 and characters that XML does not have are replaced. Line ends and tabs are written as
/// numbers, as readers change them.
std::string markup(const std::string &text, MarkupIn where = MarkupIn::attribute);

} // namespace pi::suite
