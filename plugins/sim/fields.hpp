// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Readers of a machine file's members, by kind. An absent member leaves the value unchanged.
#pragma once

#include "machine.hpp"
#include "names.hpp"

#include <pi/sdk/bytes.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace pi::sim {

inline std::string list(std::span<const Name> names) {
    std::string all;
    for (const Name &one : names)
        all += sdk::text(all.empty() ? "" : ", ", '"', one.name, '"');
    return all;
}

inline int64_t named(const Value &value, std::span<const Name> names) {
    for (const Name &one : names)
        if (value.kind == Value::Kind::TEXT && value.text == one.name)
            return one.value;
    value.fail("is ", value.shown(), "; one of ", list(names), " is needed");
}

template <class T>
void read_name(const Value &value, std::span<const Name> names, T &out) {
    if (value.present())
        out = static_cast<T>(named(value, names));
}
/// An array of types; the result has 1 << PI_EXTERNAL_ bits.
inline void read_handle_types(const Value &value, uint32_t &out) {
    if (!value.present())
        return;
    out = 0;
    for (const Value &type : value.array("types of handles"))
        out |= 1u << named(type, handle_types);
}
inline void read_flag(const Value &value, bool &out) {
    if (value.present())
        out = value.flag();
}
inline void read_time(const Value &value, double &out) {
    if (value.present())
        out = value.nanoseconds();
}
inline void read_text(const Value &value, std::string &out) {
    if (value.present())
        out = value.string("a text");
}
inline void read_bandwidth(const Value &value, uint64_t &out) {
    if (value.present())
        out = value.bytes_a_second();
}

/// A power of two up to max_alignment.
inline void read_alignment(const Value &value, uint64_t &out) {
    if (!value.present())
        return;
    out = value.bytes();
    if (!out || out & (out - 1) || out > max_alignment)
        value.fail("is ", value.shown(), "; a power of two from 1 to ", sdk::Bytes(max_alignment),
                   " is needed");
}

/// Bytes as a text of hexadecimal digits, two for each; '-' between them is ignored.
template <size_t Size>
void read_identity(const Value &value, std::optional<std::array<uint8_t, Size>> &out) {
    if (!value.present())
        return;
    std::string digits = value.kind == Value::Kind::TEXT ? value.text : "";
    std::erase(digits, '-');
    if (digits.size() != 2 * Size ||
        digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
        value.fail("is ", value.shown(), "; a text of ", 2 * Size, " hexadecimal digits is needed");
    out.emplace();
    for (size_t i = 0; i < Size; ++i)
        (*out)[i] = static_cast<uint8_t>(std::stoul(digits.substr(2 * i, 2), nullptr, 16));
}

} // namespace pi::sim
