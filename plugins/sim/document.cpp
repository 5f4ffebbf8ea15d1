// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "document.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace pi::sim {

namespace {

/// Walks through the text and records the parser's position.
class Position {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char *;
    using reference = const char &;

    Position(const char *at, const char **seen) : at_(at), seen_(seen) {}
    reference operator*() const { return *at_; }
    Position &operator++() {
        *seen_ = ++at_;
        return *this;
    }
    Position operator++(int) {
        Position before = *this;
        ++*this;
        return before;
    }
    bool operator==(const Position &other) const { return at_ == other.at_; }
    bool operator!=(const Position &other) const { return at_ != other.at_; }

private:
    const char *at_;
    const char **seen_;
};

/// Builds values from the parser's events.
class Builder {
public:
    Builder(std::string_view path, std::string_view text, Value &root)
        : path_(path), begin_(text.data()), counted_(text.data()), seen_(text.data()), root_(root) {
    }

    const char **seen() { return &seen_; }

    bool null() {
        add(Value::Kind::LITERAL_NULL);
        return true;
    }
    bool boolean(bool value) {
        add(Value::Kind::BOOLEAN).boolean = value;
        return true;
    }
    bool number_integer(std::int64_t value) {
        Value &added = add(Value::Kind::NUMBER);
        added.number = static_cast<double>(value);
        added.text = std::to_string(value);
        return true;
    }
    bool number_unsigned(std::uint64_t value) {
        Value &added = add(Value::Kind::NUMBER);
        added.number = static_cast<double>(value);
        added.whole = value;
        added.is_whole = true;
        added.text = std::to_string(value);
        return true;
    }
    bool number_float(double value, const std::string &words) {
        Value &added = add(Value::Kind::NUMBER);
        added.number = value;
        added.text = words;
        // 2e10 is a whole number, too.
        if (value >= 0 && value < 9e15 && value == std::floor(value)) {
            added.whole = static_cast<uint64_t>(value);
            added.is_whole = true;
        }
        return true;
    }
    bool string(std::string &value) {
        add(Value::Kind::TEXT).text = value;
        return true;
    }
    bool binary(std::vector<std::uint8_t> &) { return false; } // JSON texts have none
    bool start_object(std::size_t) { return open(Value::Kind::OBJECT); }
    bool start_array(std::size_t) { return open(Value::Kind::ARRAY); }
    bool end_object() { return close(); }
    bool end_array() { return close(); }
    bool key(std::string &name) {
        for (const auto &[known, value] : open_.back()->members)
            if (known == name)
                sdk::fail(PI_ERROR_INVALID_VALUE, path_, ':', line(), ": ",
                          field_of(*open_.back(), name), " is there twice, first in line ",
                          value.line);
        name_ = name;
        return true;
    }
    bool parse_error(std::size_t, const std::string &token, const std::exception &error) {
        // The library's message without its own line and column.
        std::string words = error.what();
        if (const size_t at = words.find("parse error"); at != std::string::npos)
            words.erase(0, at);
        if (const size_t at = words.find(": "); at != std::string::npos)
            words.erase(0, at + 2);
        sdk::fail(PI_ERROR_INVALID_VALUE, path_, ':', line(), ": not JSON at \"", token,
                  "\": ", words);
    }

private:
    /// The line of the token that the parser has just read. It may have looked one character ahead.
    unsigned line() {
        const char *end = seen_ > begin_ ? seen_ - 1 : begin_;
        lines_ += static_cast<unsigned>(std::count(counted_, std::max(counted_, end), '\n'));
        counted_ = std::max(counted_, end);
        return lines_;
    }
    static std::string field_of(const Value &parent, const std::string &name) {
        return parent.field.empty() ? name : parent.field + '.' + name;
    }
    Value &add(Value::Kind kind) {
        Value *value = &root_;
        std::string field;
        if (!open_.empty()) {
            Value &parent = *open_.back();
            if (parent.kind == Value::Kind::ARRAY) {
                field = sdk::text(parent.field, '[', parent.elements.size(), ']');
                value = &parent.elements.emplace_back();
            } else {
                field = field_of(parent, name_);
                parent.members.push_back({name_, Value()});
                value = &parent.members.back().value;
            }
        }
        value->kind = kind;
        value->field = std::move(field);
        value->line = line();
        value->file = path_;
        return *value;
    }
    bool open(Value::Kind kind) {
        // Elements move only while their array grows, which it does not while one of them is open.
        open_.push_back(&add(kind));
        return true;
    }
    bool close() {
        open_.pop_back();
        return true;
    }

    const std::string_view path_;
    const char *const begin_;
    const char *counted_;
    const char *seen_;
    unsigned lines_ = 1;
    Value &root_;
    std::vector<Value *> open_;
    std::string name_;
};

std::string read_file(const std::string &path) {
    const auto refuse = [&](const char *why) {
        sdk::fail(PI_ERROR_UNAVAILABLE, "PI_SIM_MACHINE names ", path,
                  ", which cannot be read: ", why);
    };
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        refuse("it is a folder");
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        refuse(std::strerror(errno));
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Unit {
    std::string_view name;
    double factor;
};
constexpr std::array<Unit, 9> byte_units{{{"B", 1},
                                          {"KiB", 1024},
                                          {"MiB", 1048576.0},
                                          {"GiB", 1073741824.0},
                                          {"TiB", 1099511627776.0},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12}}};
constexpr std::array<Unit, 4> time_units{{{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}}};

/// The number before a unit, multiplied by the unit; negative if the text is not of that form.
template <size_t Count>
double parse_quantity(const std::string &text, const std::array<Unit, Count> &units,
                      std::string_view suffix) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    std::string_view rest(end, static_cast<size_t>(text.data() + text.size() - end));
    if (error != std::errc() || rest.size() <= suffix.size() || !rest.ends_with(suffix))
        return -1;
    rest.remove_suffix(suffix.size());
    while (!rest.empty() && rest.front() == ' ')
        rest.remove_prefix(1);
    for (const Unit &unit : units)
        if (unit.name == rest)
            return number * unit.factor;
    return -1;
}

/// Texts for people are allowed in every object.
bool is_for_people(std::string_view name) {
    return name == "source" || name == "description";
}

} // namespace

Document::Document(const std::string &path) : Document(path, read_file(path)) {}

Document::Document(std::string path, std::string_view text) : path_(std::move(path)) {
    Builder builder(path_, text, root_);
    const char *ignored = nullptr;
    nlohmann::json::sax_parse(Position(text.data(), builder.seen()),
                              Position(text.data() + text.size(), &ignored), &builder,
                              nlohmann::json::input_format_t::json, true, true);
}

Value Value::operator[](std::string_view name) const {
    for (const auto &[known, value] : members)
        if (known == name)
            return value;
    Value absent;
    absent.field = field.empty() ? std::string(name) : sdk::text(field, '.', name);
    absent.line = line;
    absent.file = file;
    return absent;
}

std::string Value::shown() const {
    switch (kind) {
    case Kind::ABSENT:
        return "missing";
    case Kind::LITERAL_NULL:
        return "null";
    case Kind::BOOLEAN:
        return boolean ? "true" : "false";
    case Kind::NUMBER:
        return text;
    case Kind::TEXT:
        // A NUL character as JSON writes it: an error's text would end there.
        return '"' + text.substr(0, text.find('\0')) +
               (text.find('\0') != std::string::npos ? "\\u0000\"" : "\"");
    case Kind::ARRAY:
        return "an array";
    case Kind::OBJECT:
        return "an object";
    }
    return {};
}

const Value &Value::object(std::initializer_list<std::string_view> known) const {
    if (kind != Kind::OBJECT)
        fail("is ", shown(), "; an object {...} is needed");
    for (const auto &[name, value] : members) {
        if (is_for_people(name))
            static_cast<void>(value.string("a text"));
        else if (std::find(known.begin(), known.end(), name) == known.end()) {
            std::string names;
            for (const std::string_view one : known)
                names += (names.empty() ? "" : ", ") + std::string(one);
            value.fail("is not known here; known are ", names, ", source and description");
        }
    }
    return *this;
}

std::vector<Member> Value::by_name(const char *what) const {
    if (kind != Kind::OBJECT)
        fail("is ", shown(), "; ", what, " is needed");
    std::vector<Member> entries;
    std::copy_if(
        members.begin(), members.end(), std::back_inserter(entries),
        [](const Member &one) { return one.value.kind != Kind::TEXT || !is_for_people(one.name); });
    return entries;
}

std::vector<Value> Value::array(const char *of) const {
    if (kind != Kind::ARRAY)
        fail("is ", shown(), "; an array [...] of ", of, " is needed");
    return elements;
}

std::string Value::string(const char *what) const {
    if (kind != Kind::TEXT || text.empty())
        fail("is ", shown(), "; ", what, " is needed");
    if (text.find('\0') != std::string::npos) // a C string would end there
        fail("is ", shown(), "; ", what, " without a NUL character is needed");
    return text;
}

bool Value::flag() const {
    if (kind != Kind::BOOLEAN)
        fail("is ", shown(), "; true or false is needed");
    return boolean;
}

uint64_t Value::integer(uint64_t least, uint64_t most) const {
    if (kind != Kind::NUMBER || !is_whole || whole < least || whole > most)
        fail("is ", shown(), "; a whole number from ", least, " to ", most, " is needed");
    return whole;
}

uint64_t Value::bytes() const {
    if (kind == Kind::NUMBER && is_whole)
        return whole;
    const double value = kind == Kind::TEXT ? parse_quantity(text, byte_units, "") : -1;
    if (value < 0 || value > 9e18 || value != std::floor(value))
        fail("is ", shown(),
             "; a number of bytes that is whole and not negative, or a text such as \"16 GiB\", is "
             "needed");
    return static_cast<uint64_t>(value);
}

double Value::nanoseconds() const {
    const double value = kind == Kind::NUMBER ? number
                         : kind == Kind::TEXT ? parse_quantity(text, time_units, "")
                                              : -1;
    if (!(value >= 0) || value > 9e18)
        fail("is ", shown(),
             "; a number of nanoseconds that is not negative, or a text such as \"1.5 us\", is "
             "needed");
    return value;
}

uint64_t Value::bytes_a_second() const {
    const double value = kind == Kind::NUMBER ? number
                         : kind == Kind::TEXT ? parse_quantity(text, byte_units, "/s")
                                              : -1;
    if (!(value >= 1) || value > 9e18)
        fail("is ", shown(),
             "; a number of bytes per second of at least 1, or a text such as \"25 GB/s\", is "
             "needed; leave out an unknown one");
    return static_cast<uint64_t>(value);
}

} // namespace pi::sim
