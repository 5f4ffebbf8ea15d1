// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists in strings, and the two conventions by which functions return several values.
#pragma once

#include "error.hpp"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pi::loader {

/// Without white space at both ends.
inline std::string_view trim(std::string_view text) {
    constexpr std::string_view space = " \t\r\n";
    const std::size_t first = text.find_first_not_of(space);
    if (first == std::string_view::npos)
        return {};
    return text.substr(first, text.find_last_not_of(space) - first + 1);
}

/// The trimmed elements between separators, empty ones included. An empty text has one empty
/// element.
inline std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> elements;
    for (;;) {
        const std::size_t end = text.find(separator);
        elements.push_back(trim(text.substr(0, end)));
        if (end == std::string_view::npos)
            return elements;
        text.remove_prefix(end + 1);
    }
}

/// The elements that are not empty.
inline std::vector<std::string> split_list(std::string_view text, char separator) {
    std::vector<std::string> list;
    for (std::string_view element : split(text, separator)) {
        if (!element.empty())
            list.emplace_back(element);
    }
    return list;
}

/// Decimal digits only, below 2^32.
inline std::optional<uint32_t> parse_number(std::string_view text) {
    if (text.empty() || text.size() > 10)
        return std::nullopt;
    uint64_t value = 0;
    for (char digit : text) {
        if (digit < '0' || digit > '9')
            return std::nullopt;
        value = value * 10 + static_cast<uint64_t>(digit - '0');
    }
    if (value > UINT32_MAX)
        return std::nullopt;
    return static_cast<uint32_t>(value);
}

/// A plugin's name: [a-z0-9_]+.
inline bool is_plugin_name(std::string_view name) {
    return !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                                std::string_view::npos;
}

/// The list convention of pi.h: (capacity, out_array, out_count).
template <typename Range, typename Element>
pi_result write_list(const char *function, const Range &items, uint32_t capacity,
                     Element *out_items, uint32_t *out_count) {
    if (out_items == nullptr && out_count == nullptr)
        return fail(PI_ERROR_INVALID_NULL_POINTER,
                    "{}: the output array and out_count are both NULL; one of them is needed",
                    function);
    if (out_items != nullptr) {
        for (std::size_t i = 0; i < items.size() && i < capacity; ++i)
            out_items[i] = items[i];
    }
    if (out_count != nullptr)
        *out_count = static_cast<uint32_t>(items.size());
    return PI_SUCCESS;
}

/// The info convention of pi.h for a string.
inline pi_result write_string(const char *function, const std::string &text, uint64_t size,
                              char *value, uint64_t *out_size) {
    const uint64_t needed = text.size() + 1;
    if (value != nullptr && size < needed)
        return fail(PI_ERROR_INVALID_SIZE, "{}: size is {}; the value has {} bytes", function, size,
                    needed);
    if (value != nullptr)
        std::memcpy(value, text.c_str(), needed);
    if (out_size != nullptr)
        *out_size = needed;
    return PI_SUCCESS;
}

} // namespace pi::loader
