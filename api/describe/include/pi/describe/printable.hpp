// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Escapes texts of plugins, files and the environment for terminals.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace pi {

namespace printable_detail {

/// Bytes of the UTF-8 character at the beginning of the text; 0 if there is no valid one.
inline std::size_t utf8_size(std::string_view text) {
    const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned char first = byte(0);
    const std::size_t size = first < 0x80                     ? 1
                             : first >= 0xC2 && first <= 0xDF ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
    if (size == 0 || size > text.size())
        return 0;
    for (std::size_t at = 1; at < size; ++at) {
        if ((byte(at) & 0xC0) != 0x80)
            return 0;
    }
    // Overlong, a surrogate, or beyond the last code point.
    const unsigned char second = size > 1 ? byte(1) : 0x80;
    const bool wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                       (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
    return wrong ? 0 : size;
}

inline bool is_control(std::string_view character) {
    const auto first = static_cast<unsigned char>(character[0]);
    return first < 0x20 || first == 0x7F ||
           (first == 0xC2 && static_cast<unsigned char>(character[1]) < 0xA0);
}

inline std::string escape(std::string_view text, std::string_view allowed) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    while (!text.empty()) {
        const std::size_t size = utf8_size(text);
        const std::string_view character = text.substr(0, size != 0 ? size : 1);
        text.remove_prefix(character.size());
        if (size != 0 &&
            (!is_control(character) || allowed.find(character) != std::string_view::npos)) {
            out += character;
            continue;
        }
        for (const char each : character) {
            const auto byte = static_cast<unsigned char>(each);
            out += {'\\', 'x', digits[byte >> 4], digits[byte & 15]};
        }
    }
    return out;
}

} // namespace printable_detail

/// The text with each control character except line breaks and tabs, and each byte that is not
/// UTF-8, written as "\x1b". It can neither move a terminal's cursor nor colour or hide other text.
inline std::string printable(std::string_view text) {
    return printable_detail::escape(text, "\n\t");
}

/// The same for texts of one line, such as names and paths: escapes line breaks and tabs as well.
inline std::string printable_line(std::string_view text) {
    return printable_detail::escape(text, "");
}

} // namespace pi
