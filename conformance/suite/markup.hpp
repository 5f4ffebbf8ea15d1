// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace pi::suite {

enum class MarkupIn { attribute, text };

/// Any bytes as the text of XML or HTML, or as an attribute in double quotes: UTF-8, in which what is none
/// and what XML cannot say is replaced. A reader takes line ends and tabs of an attribute for spaces, and a
/// carriage return for a line end, so those are written as numbers.
std::string markup(const std::string &text, MarkupIn where = MarkupIn::attribute);

} // namespace pi::suite
