// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "text.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace examples {
namespace {

std::string number(double value, int digits) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%.*f", digits, value);
    return text.data();
}

bool is_continuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

} // namespace

std::string bytes_text(uint64_t bytes) {
    if (bytes == 0) {
        return "0";
    }
    if (bytes < 1024) {
        return std::to_string(bytes) + " B";
    }
    constexpr std::array units{"KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes) / 1024;
    size_t unit = 0;
    while (value >= 1024 && unit + 1 < units.size()) {
        value /= 1024;
        ++unit;
    }
    return number(value, value < 10 ? 2 : value < 100 ? 1 : 0) + " " + units[unit];
}

std::string milliseconds_text(double milliseconds) {
    return number(milliseconds, 1) + " ms";
}

std::string microseconds_text(double microseconds) {
    return number(microseconds, 1) + " us";
}

size_t length(std::string_view text) {
    return text.size() -
           static_cast<size_t>(std::count_if(text.begin(), text.end(), is_continuation));
}

std::string left(std::string_view text, size_t width) {
    const size_t used = length(text);
    return std::string(text) + std::string(width > used ? width - used : 0, ' ');
}

std::string right(std::string_view text, size_t width) {
    const size_t used = length(text);
    return std::string(width > used ? width - used : 0, ' ') + std::string(text);
}

std::string shortened(std::string_view text, size_t width) {
    if (length(text) <= width) {
        return std::string(text);
    }
    size_t end = 0;
    for (size_t characters = 0; end < text.size(); ++end) {
        if (!is_continuation(text[end]) && ++characters == width) {
            break;
        }
    }
    return std::string(text.substr(0, end)) + "…";
}

std::vector<std::string> wrapped(std::string_view text, size_t width) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const size_t end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        if (lines.empty() || length(lines.back()) + 1 + length(word) > width) {
            lines.emplace_back(word);
        } else {
            lines.back().append(" ").append(word);
        }
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return lines;
}

std::string json_string(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            constexpr const char *digits = "0123456789abcdef";
            out += std::string("\\u00") + digits[c >> 4] + digits[c & 15];
        } else {
            out += c;
        }
    }
    return out + "\"";
}

} // namespace examples
