// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A JSON file whose values know their position, so that an error names the line and the field.
#pragma once

#include <pi/sdk/error.hpp>

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace pi::sim {

struct Member;

/// A value of a JSON file.
class Value {
public:
    enum class Kind { ABSENT, LITERAL_NULL, BOOLEAN, NUMBER, TEXT, ARRAY, OBJECT };

    Kind kind = Kind::ABSENT;
    bool boolean = false;
    double number = 0;
    uint64_t whole = 0; ///< the number, if it is whole and not negative
    bool is_whole = false;
    std::string text;            ///< or the number as written in the file
    std::vector<Value> elements; ///< of an array
    std::vector<Member> members; ///< of an object
    std::string field;           ///< "devices[1].scopes[0].capacity"; "" for the whole file
    unsigned line = 0;
    std::string_view file; ///< the path of the document

    bool present() const { return kind != Kind::ABSENT; }
    /// The member, or an absent value at the object's position.
    Value operator[](std::string_view name) const;
    /// PI_ERROR_INVALID_VALUE: "<file>:<line>: <field> <parts>".
    template <class... Parts>
    [[noreturn]] void fail(const Parts &...parts) const {
        sdk::fail(PI_ERROR_INVALID_VALUE, file, ':', line, ": ",
                  field.empty() ? "the machine" : field, ' ', parts...);
    }
    /// The value for messages: "-5", "\"gpu\"", "an object".
    std::string shown() const;

    // Each fails unless the value is of this kind, naming the value and what would be right.

    const Value &object(std::initializer_list<std::string_view> known) const;
    /// The members of an object whose names the file chooses, without texts for people.
    std::vector<Member> by_name(const char *what) const;
    std::vector<Value> array(const char *of) const;
    std::string string(const char *what) const;
    bool flag() const;
    /// A whole number from `least` to `most`.
    uint64_t integer(uint64_t least, uint64_t most) const;
    /// Bytes: a whole number, or a text such as "16 GiB".
    uint64_t bytes() const;
    /// Nanoseconds: a number, or a text such as "1.5 us".
    double nanoseconds() const;
    /// Bytes per second, at least 1: a number, or a text such as "25 GB/s".
    uint64_t bytes_a_second() const;
};

struct Member {
    std::string name;
    Value value;
};

/// Reads a file. PI_ERROR_INVALID_VALUE, naming file and line, for a file that is not JSON or has a
/// member twice; PI_ERROR_UNAVAILABLE for a file that cannot be read.
class Document {
public:
    explicit Document(const std::string &path);
    /// From text; `path` is for messages.
    Document(std::string path, std::string_view text);
    Document(const Document &) = delete;

    const Value &root() const { return root_; }

private:
    std::string path_;
    Value root_;
};

} // namespace pi::sim
