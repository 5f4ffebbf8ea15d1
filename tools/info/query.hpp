// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Infos as C++ values.
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <optional>
#include <string>

namespace pi_info {

/// A fixed-size info; empty if the object does not answer it.
template <class T, class Function, class Object>
std::optional<T> info(Function function, Object object, uint32_t name) {
    T value{};
    if (function(object, name, sizeof value, &value, nullptr) != PI_SUCCESS) {
        return std::nullopt;
    }
    return value;
}

/// The bytes of an info of any size; empty if the object does not answer it.
template <class Function, class Object>
std::string info_bytes(Function function, Object object, uint32_t name) {
    uint64_t size = 0;
    if (function(object, name, 0, nullptr, &size) != PI_SUCCESS) {
        return {};
    }
    std::string bytes(size, '\0');
    if (size == 0 || function(object, name, size, bytes.data(), nullptr) != PI_SUCCESS) {
        return {};
    }
    return bytes;
}

/// The same for a text, without the trailing NUL.
template <class Function, class Object>
std::string info_text(Function function, Object object, uint32_t name) {
    std::string text = info_bytes(function, object, name);
    text.resize(text.find('\0') == std::string::npos ? text.size() : text.find('\0'));
    return text;
}

/// "a1b2-..." for raw bytes, grouped as a UUID if there are 16.
std::string hexadecimal(const std::string &bytes);

} // namespace pi_info
