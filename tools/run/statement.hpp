// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lines of a case: names, verbs, members and values. conformance/cases/README.md has the
// grammar.
#pragma once

#include "log.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace pi_run {

/// NAME, NAME = fails CODE VERB WORD... MEMBER=VALUE...
struct Statement {
    uint64_t line = 0;
    std::vector<std::string> names; ///< in front of the "="
    std::string fails;              ///< a code; empty without "fails"
    std::string verb;
    std::vector<std::string> words;                           ///< values without a member
    std::vector<std::pair<std::string, std::string>> members; ///< in the order of the text

    /// The value of a member, which is removed; empty: there is none.
    std::optional<std::string> take(std::string_view member);
};

/// The statements of a text. A line that begins with a space continues the one before; "#" begins a
/// comment. Throws Refusal("LINE: text").
std::vector<Statement> statements_of(const std::string &text);

/// What a name stands for in JSON of the log's format; `offset` is from NAME+OFFSET. Throws
/// Refusal for an unknown name.
using Resolve = std::function<Json(const std::string &name, uint64_t offset)>;

/// The JSON of a value: a number (64, 0x40, 64KiB), a constant of pi.h or several joined by "|",
/// "text", <bytes>, a name, a list (a,b or [a,b]), or {member=value ...}.
Json value_of(const std::string &text, const Resolve &resolve);
uint64_t number_of(const std::string &text);
/// Of <00..3f ff*8 "text">: bytes, inclusive ranges of bytes and texts, each with a repetition.
std::vector<unsigned char> bytes_of(const std::string &text);
/// The bytes as such a text.
std::string text_of_bytes(std::span<const unsigned char> bytes);

} // namespace pi_run
