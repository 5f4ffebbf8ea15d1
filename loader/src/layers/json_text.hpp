// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON that layers write and read, as text: the destructors of nlohmann's arrays and objects
// allocate, and end the process without memory.
#pragma once

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>
#include <type_traits>

namespace pi::loader {

/// A string, with its quotes.
inline std::string json_text(std::string_view text) {
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}
inline std::string json_text(std::nullptr_t) {
    return "null";
}
template <typename Number>
requires std::is_arithmetic_v<Number> std::string json_text(Number number) {
    if constexpr (std::same_as<Number, bool>) {
        return number ? "true" : "false";
    } else {
        if constexpr (std::floating_point<Number>) {
            if (!std::isfinite(number))
                return "null";
        }
        char text[32];
        return {text, std::to_chars(text, text + sizeof text, number).ptr};
    }
}

/// An array of the JSON that `write` returns for each element.
template <typename List, typename Write>
std::string json_array(const List &list, Write &&write) {
    std::string text = "[";
    for (const auto &element : list) {
        if (text.size() > 1)
            text += ',';
        text += write(element);
    }
    return text + ']';
}

class JsonObject {
public:
    /// `json` is the member's value.
    JsonObject &add(std::string_view name, std::string_view json) {
        if (!members_.empty())
            members_ += ',';
        members_ += '"';
        members_ += name;
        members_ += "\":";
        members_ += json;
        return *this;
    }
    /// Without the braces.
    const std::string &members() const noexcept { return members_; }
    std::string text() const { return '{' + members_ + '}'; }

private:
    std::string members_;
};

/// Reads untrusted text. A derived class handles the values that it needs, and calls these
/// functions, too.
class JsonReader : public nlohmann::json_sax<nlohmann::json> {
public:
    explicit JsonReader(int max_depth) : max_depth_(max_depth) {}

    /// Whether the text is one JSON value and not nested too deep.
    bool read(std::string_view text) { return nlohmann::json::sax_parse(text, this); }
    /// Whether it is nested deeper than allowed.
    bool deep() const noexcept { return deep_; }

    bool null() override { return value(); }
    bool boolean(bool) override { return value(); }
    bool number_integer(number_integer_t) override { return value(); }
    bool number_unsigned(number_unsigned_t) override { return value(); }
    bool number_float(number_float_t, const string_t &) override { return value(); }
    bool string(string_t &) override { return value(); }
    bool binary(binary_t &) override { return value(); }
    bool key(string_t &) override { return true; }
    bool start_object(std::size_t) override { return value() && ++depth_ > 0; }
    bool start_array(std::size_t) override { return value() && ++depth_ > 0; }
    bool end_object() override { return --depth_ >= 0; }
    bool end_array() override { return --depth_ >= 0; }
    bool parse_error(std::size_t, const std::string &,
                     const nlohmann::detail::exception &) override {
        return false;
    }

protected:
    /// The depth of the next value: 0 is the whole text, 1 its members.
    int depth() const noexcept { return depth_; }

private:
    bool value() {
        deep_ = depth_ > max_depth_;
        return !deep_;
    }

    const int max_depth_;
    int depth_ = 0;
    bool deep_ = false;
};

} // namespace pi::loader
