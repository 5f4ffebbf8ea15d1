// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// urXGetInfo: values of UR's infos, and PI's infos in C++ types.
#pragma once

#include "handle.hpp"

#include <pi/pi.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace pi::unified_runtime {

/// Answers one urXGetInfo call.
class InfoAnswer {
public:
    InfoAnswer(size_t size, void *value, size_t *out_size)
        : size_(size), value_(value), out_size_(out_size) {
        if (value == nullptr && out_size == nullptr) {
            throw Refusal(UR_RESULT_ERROR_INVALID_NULL_POINTER,
                          "info: neither a value nor its size is requested");
        }
        if (value == nullptr && size != 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_NULL_POINTER, "info: the value is NULL");
        }
        if (value != nullptr && size == 0) {
            throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "info: 0 bytes for the value");
        }
    }
    void bytes(const void *data, size_t size) const {
        if (value_ != nullptr) {
            if (size_ < size) {
                throw Refusal(UR_RESULT_ERROR_INVALID_SIZE, "info: " + std::to_string(size_) +
                                                                " bytes for a value of " +
                                                                std::to_string(size));
            }
            if (size != 0) {
                std::memcpy(value_, data, size);
            }
        }
        if (out_size_ != nullptr) {
            *out_size_ = size;
        }
    }
    template <class T>
    void operator()(const T &value) const {
        static_assert(std::is_trivially_copyable_v<T>);
        bytes(&value, sizeof value);
    }
    template <class T>
    void list(std::span<const T> values) const {
        bytes(values.data(), values.size_bytes());
    }
    template <class T>
    void list(const std::vector<T> &values) const {
        list(std::span<const T>(values));
    }
    void text(const std::string &value) const { bytes(value.c_str(), value.size() + 1); }

private:
    size_t size_;
    void *value_;
    size_t *out_size_;
};

[[noreturn]] inline void unknown_info(uint32_t name) {
    throw Refusal(UR_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  "info " + std::to_string(name) + " has no value here");
}

/// A PI info of fixed size; empty where PI has no answer.
template <class T, auto Get, class Object>
std::optional<T> pi_info(Object object, uint32_t name) {
    T value{};
    uint64_t size = 0;
    if (Get(object, name, sizeof value, &value, &size) != PI_SUCCESS || size != sizeof value) {
        return std::nullopt;
    }
    return value;
}
/// One of any size; empty where PI has no answer.
template <class T, auto Get, class Object>
std::vector<T> pi_info_list(Object object, uint32_t name) {
    uint64_t size = 0;
    if (Get(object, name, 0, nullptr, &size) != PI_SUCCESS) {
        return {};
    }
    std::vector<T> values(size / sizeof(T));
    if (Get(object, name, values.size() * sizeof(T), values.data(), nullptr) != PI_SUCCESS) {
        return {};
    }
    return values;
}
template <auto Get, class Object>
std::string pi_info_text(Object object, uint32_t name) {
    const std::vector<char> bytes = pi_info_list<char, Get>(object, name);
    return bytes.empty() ? std::string() : std::string(bytes.data());
}

/// The value of the row of a table of {from, to}; `otherwise` if no row has the key.
template <class Rows, class From, class To>
To translate(const Rows &rows, From from, To otherwise) {
    for (const auto &row : rows) {
        if (row.first == from) {
            return row.second;
        }
    }
    return otherwise;
}

/// The bits of `rows` ({bit of one interface, bit of the other}) that `bits` contains.
template <class To, class Rows, class From>
To translate_bits(const Rows &rows, From bits) {
    To out = 0;
    for (const auto &row : rows) {
        if ((bits & row.first) == row.first) {
            out |= row.second;
        }
    }
    return out;
}

} // namespace pi::unified_runtime
