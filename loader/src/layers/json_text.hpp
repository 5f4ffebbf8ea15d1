// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON that layers write and read, as text: the destructor of nlohmann's arrays and objects
// allocates, and ends the process without memory.
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

/// An array of what `write` returns for each element, which is JSON.
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

/// What a text is.
struct JsonShape {
    bool object = false; ///< it is one JSON object
    bool deep = false;   ///< it is nested deeper than allowed
};

/// Of somebody else's text.
inline JsonShape json_shape(std::string_view text, int max_depth) {
    struct Reader : nlohmann::json_sax<nlohmann::json> {
        explicit Reader(int most) : max_depth(most) {}
        bool null() override { return value(); }
        bool boolean(bool) override { return value(); }
        bool number_integer(number_integer_t) override { return value(); }
        bool number_unsigned(number_unsigned_t) override { return value(); }
        bool number_float(number_float_t, const string_t &) override { return value(); }
        bool string(string_t &) override { return value(); }
        bool binary(binary_t &) override { return value(); }
        bool key(string_t &) override { return true; }
        bool start_object(std::size_t) override { return begin(depth == 0); }
        bool start_array(std::size_t) override { return begin(false); }
        bool end_object() override { return end(); }
        bool end_array() override { return end(); }
        bool parse_error(std::size_t, const std::string &,
                         const nlohmann::detail::exception &) override {
            return false;
        }
        // The depth counts as that of the document's parser does: a value in an object is at 1.
        bool value() {
            shape.deep = depth > max_depth;
            return !shape.deep;
        }
        bool begin(bool whole) {
            shape.object = shape.object || whole;
            return value() && ++depth > 0;
        }
        bool end() { return --depth >= 0; }

        const int max_depth;
        int depth = 0;
        JsonShape shape;
    } reader(max_depth);
    const bool complete = nlohmann::json::sax_parse(text, &reader);
    reader.shape.object = reader.shape.object && complete;
    return reader.shape;
}

} // namespace pi::loader
