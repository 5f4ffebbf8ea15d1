// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checked values of a log's lines: a value of a wrong kind is a Refusal that names it.
#pragma once

#include "log.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <type_traits>

namespace pi_run {

/// Why a call cannot run; the log itself is valid.
struct CannotRun : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// `what` names the value in a Refusal's text, here and below.
uint64_t as_number(const Json &value, const char *what);
const Json &array_of(const Json &value, const char *what);
const Json &member(const Json &object, const char *name);

inline std::basic_string<unsigned char> as_bytes(const Json &binary) {
    return {binary.get_binary().begin(), binary.get_binary().end()};
}

/// NULL for null; lives as long as the value. C would end it at a NUL character.
inline const char *as_text(const Json &value, const char *what) {
    if (value.is_null())
        return nullptr;
    if (!value.is_string())
        throw Refusal(fmt::format("{} is not a string", what));
    const auto &text = value.get_ref<const std::string &>();
    if (text.find('\0') != std::string::npos)
        throw Refusal(fmt::format("{} contains a NUL character", what));
    return text.c_str();
}

template <typename Word>
Word as_word(const Json &value, const char *what) {
    if constexpr (std::is_signed_v<Word>) {
        if (!value.is_number_integer())
            throw Refusal(fmt::format("{} is not a number", what));
        return static_cast<Word>(value.get<int64_t>());
    } else {
        const uint64_t number = as_number(value, what);
        if (number > std::numeric_limits<Word>::max())
            throw Refusal(fmt::format("{} is {}, too large", what, number));
        return static_cast<Word>(number);
    }
}

} // namespace pi_run
