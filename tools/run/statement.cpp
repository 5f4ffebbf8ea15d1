// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "statement.hpp"

#include "constants.hpp"
#include "values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <span>
#include <sstream>

namespace pi_run {
namespace {

// The most bytes of a literal.
constexpr uint64_t max_literal = UINT64_C(1) << 30;

// Of brackets. Values are read by recursion.
constexpr std::size_t max_depth = 8;

bool is_space(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n';
}

bool is_name(std::string_view text) {
    return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
           std::all_of(text.begin(), text.end(), [](unsigned char letter) {
               return std::isalnum(letter) != 0 || letter == '_';
           });
}

/// Splits a text at separators outside of quotes and brackets.
class Splitter {
public:
    explicit Splitter(std::string_view text) : text_(text) {}

    /// Whether the letter at `at` is outside; to be called for each letter in order.
    bool outside(std::size_t at) {
        const char letter = text_[at];
        if (quoted_) {
            quoted_ = escaped_ || letter != '"';
            escaped_ = !escaped_ && letter == '\\';
            return false;
        }
        if (letter == '"') {
            quoted_ = true;
            return false;
        }
        if (letter == '<' || letter == '[' || letter == '{') {
            if (open_.size() == max_depth)
                throw Refusal(fmt::format("more than {} brackets are open", max_depth));
            open_ += letter;
            return false;
        }
        if (letter == '>' || letter == ']' || letter == '}') {
            const char begin = letter == '>' ? '<' : letter == ']' ? '[' : '{';
            if (open_.empty() || open_.back() != begin)
                throw Refusal(fmt::format("\"{}\" without \"{}\"", letter, begin));
            open_.pop_back();
            return false;
        }
        return open_.empty();
    }
    void end() const {
        if (quoted_)
            throw Refusal("a text without its closing quote");
        if (!open_.empty())
            throw Refusal(fmt::format("\"{}\" is not closed", open_.back()));
    }

private:
    std::string_view text_;
    std::string open_;
    bool quoted_ = false;
    bool escaped_ = false;
};

/// The parts between separators; empty parts of spaces are left out.
template <typename Separates>
std::vector<std::string> split(std::string_view text, Separates separates, bool drop_empty) {
    std::vector<std::string> parts;
    Splitter splitter(text);
    std::string part;
    const auto add = [&] {
        if (!part.empty() || !drop_empty)
            parts.push_back(std::exchange(part, {}));
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (splitter.outside(i) && separates(text[i]))
            add();
        else
            part += text[i];
    }
    splitter.end();
    add();
    return parts;
}

std::string without_comment(const std::string &line) {
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && (i == 0 || line[i - 1] != '\\'))
            quoted = !quoted;
        if (line[i] == '#' && !quoted)
            return line.substr(0, i);
    }
    return line;
}

Statement parse(uint64_t line, const std::string &text) {
    Statement statement;
    statement.line = line;
    std::vector<std::string> parts = split(text, is_space, true);
    // NAME, NAME = ...
    const auto equals = std::find(parts.begin(), parts.end(), "=");
    if (equals != parts.end()) {
        std::string names;
        for (auto part = parts.begin(); part != equals; ++part) {
            if (!names.empty() && !names.ends_with(',') && !part->starts_with(','))
                throw Refusal(
                    fmt::format("\"{} =\": a member has no spaces around its \"=\"; names "
                                "in front of a call have commas between them",
                                *part));
            names += *part;
        }
        statement.names = split(
            names, [](char letter) { return letter == ','; }, false);
        for (const std::string &name : statement.names) {
            if (!is_name(name))
                throw Refusal(fmt::format("\"{}\" is not a name: letters, digits and _", name));
            if (name.find('_') != std::string::npos && find_constant(name))
                throw Refusal(
                    fmt::format("\"{}\" is a constant of pi.h; choose another name", name));
        }
        parts.erase(parts.begin(), equals + 1);
    }
    if (parts.size() > 1 && parts[0] == "fails") {
        statement.fails = parts[1];
        parts.erase(parts.begin(), parts.begin() + 2);
    }
    if (parts.empty())
        throw Refusal("a verb is missing");
    statement.verb = parts[0];
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::size_t at = parts[i].find('=');
        if (at != std::string::npos && is_name(std::string_view(parts[i]).substr(0, at)))
            statement.members.emplace_back(parts[i].substr(0, at), parts[i].substr(at + 1));
        else
            statement.words.push_back(parts[i]);
    }
    for (std::size_t i = 0; i < statement.members.size(); ++i) {
        for (std::size_t k = 0; k < i; ++k) {
            if (statement.members[k].first == statement.members[i].first)
                throw Refusal(fmt::format("{} has two values", statement.members[i].first));
        }
    }
    return statement;
}

std::string unquoted(std::string_view text) {
    std::string result;
    for (std::size_t i = 1; i + 1 < text.size(); ++i) {
        if (text[i] == '\\' && i + 2 < text.size()) {
            ++i;
            result += text[i] == 'n' ? '\n' : text[i] == 't' ? '\t' : text[i];
        } else {
            result += text[i];
        }
    }
    return result;
}

std::optional<uint64_t> try_number(std::string_view text) {
    uint64_t factor = 1;
    for (const auto &[suffix, size] : {std::pair<std::string_view, uint64_t>{"KiB", 1024},
                                       {"MiB", uint64_t{1} << 20},
                                       {"GiB", uint64_t{1} << 30}}) {
        if (text.size() > suffix.size() && text.ends_with(suffix)) {
            factor = size;
            text.remove_suffix(suffix.size());
        }
    }
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal)
        text.remove_prefix(2);
    uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, hexadecimal ? 16 : 10);
    if (text.empty() || error != std::errc() || end != text.data() + text.size() ||
        number > UINT64_MAX / factor)
        return std::nullopt;
    return number * factor;
}

int digit_of(char letter) {
    if (letter >= '0' && letter <= '9')
        return letter - '0';
    if (letter >= 'a' && letter <= 'f')
        return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F')
        return letter - 'A' + 10;
    return -1;
}

std::vector<unsigned char> digits_of(const std::string &text) {
    std::vector<unsigned char> bytes;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) {
        const int high = digit_of(text[i]), low = digit_of(text[i + 1]);
        if (high < 0 || low < 0)
            break;
        bytes.push_back(static_cast<unsigned char>(high * 16 + low));
    }
    if (text.empty() || bytes.size() * 2 != text.size())
        throw Refusal(fmt::format("\"{}\" is not bytes: pairs of hexadecimal digits, a range "
                                  "00..ff or a \"text\", each perhaps with *N",
                                  text));
    return bytes;
}

std::vector<unsigned char> item_of(const std::string &text) {
    if (text.front() == '"') {
        const std::string inner = unquoted(text);
        return {inner.begin(), inner.end()};
    }
    const std::size_t dots = text.find("..");
    if (dots == std::string::npos)
        return digits_of(text);
    const auto from = digits_of(text.substr(0, dots)), to = digits_of(text.substr(dots + 2));
    if (from.size() != 1 || to.size() != 1 || from[0] > to[0])
        throw Refusal(
            fmt::format("\"{}\" is not a range of bytes: 00..3f, the smaller first", text));
    std::vector<unsigned char> bytes;
    for (unsigned byte = from[0]; byte <= to[0]; ++byte)
        bytes.push_back(static_cast<unsigned char>(byte));
    return bytes;
}

} // namespace

std::optional<std::string> Statement::take(std::string_view member) {
    const auto found = std::find_if(members.begin(), members.end(),
                                    [&](const auto &pair) { return pair.first == member; });
    if (found == members.end())
        return std::nullopt;
    std::string value = std::move(found->second);
    members.erase(found);
    return value;
}

std::vector<Statement> statements_of(const std::string &text) {
    struct Joined {
        uint64_t line;
        std::string text;
    };
    std::vector<Joined> joined;
    uint64_t number = 0;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) {
        ++number;
        const std::string content = without_comment(line);
        if (std::all_of(content.begin(), content.end(), is_space))
            continue;
        if (is_space(content[0]) && !joined.empty())
            joined.back().text += ' ' + content;
        else
            joined.push_back({number, content});
    }
    std::vector<Statement> statements;
    if (!joined.empty() && joined.front().text.starts_with("\xef\xbb\xbf")) // some editors' mark
        joined.front().text.erase(0, 3);
    for (const Joined &line : joined) {
        try {
            statements.push_back(parse(line.line, line.text));
        } catch (const Refusal &refusal) {
            throw Refusal(fmt::format("{}: {}", line.line, refusal.what()));
        }
    }
    return statements;
}

uint64_t number_of(const std::string &text) {
    const auto number = try_number(text);
    if (!number)
        throw Refusal(fmt::format("\"{}\" is not a number: 64, 0x40, 64KiB", text));
    return *number;
}

Json value_of(const std::string &text, const Resolve &resolve) {
    if (text.empty())
        throw Refusal("a value is missing");
    const auto of_list = [&](std::string_view list) {
        Json elements = Json::array();
        for (const std::string &element : split(
                 list, [](char letter) { return letter == ',' || is_space(letter); }, true))
            elements.push_back(value_of(element, resolve));
        return elements;
    };
    const std::string_view inner = std::string_view(text).substr(1, text.size() - 2);
    if (split(
            text, [](char letter) { return letter == ','; }, true)
            .size() > 1)
        return of_list(text);
    switch (text.front()) {
    case '[':
        return of_list(inner);
    case '{': {
        Json object = Json::object();
        for (const std::string &part : split(inner, is_space, true)) {
            const std::size_t at = part.find('=');
            if (at == std::string::npos)
                throw Refusal(fmt::format("\"{}\" in braces is not member=value", part));
            object[part.substr(0, at)] = value_of(part.substr(at + 1), resolve);
        }
        return object;
    }
    case '<':
        return Json::binary(bytes_of(text));
    case '"':
        return unquoted(text);
    case '-':
        return -static_cast<int64_t>(number_of(text.substr(1)));
    default:
        break;
    }
    if (text.find('|') != std::string::npos) {
        uint64_t bits = 0;
        for (const std::string &name : split(
                 text, [](char letter) { return letter == '|'; }, false)) {
            const Json value = value_of(name, resolve);
            if (!value.is_number_unsigned())
                throw Refusal(fmt::format("{} is neither a number nor a constant of pi.h", name));
            bits |= value.get<uint64_t>();
        }
        return bits;
    }
    if (text == "null" || text == "NULL")
        return nullptr;
    if (text == "true" || text == "false")
        return text == "true";
    if (std::isdigit(static_cast<unsigned char>(text.front())) != 0)
        return number_of(text);
    if (const auto constant = find_constant(text))
        return *constant < 0 ? Json(*constant) : Json(static_cast<uint64_t>(*constant));
    const std::size_t plus = text.find('+');
    return resolve(text.substr(0, plus),
                   plus != std::string::npos ? number_of(text.substr(plus + 1)) : 0);
}

std::vector<unsigned char> bytes_of(const std::string &text) {
    if (text.size() < 2 || text.front() != '<' || text.back() != '>')
        throw Refusal(fmt::format("\"{}\" is not bytes: <00 01 ff*6 00..3f \"text\">", text));
    std::vector<unsigned char> bytes;
    const std::string_view inner = std::string_view(text).substr(1, text.size() - 2);
    for (const std::string &part : split(inner, is_space, true)) {
        const std::size_t star =
            part.front() == '"' ? part.find('*', part.rfind('"')) : part.find('*');
        const std::vector<unsigned char> item = item_of(part.substr(0, star));
        const uint64_t times =
            star != std::string::npos ? number_of(part.substr(star + 1)) : uint64_t{1};
        if (times > max_literal || item.size() * times > max_literal - bytes.size())
            throw Refusal(fmt::format("{} are more than {} bytes", part, max_literal));
        for (uint64_t i = 0; i < times; ++i)
            bytes.insert(bytes.end(), item.begin(), item.end());
    }
    return bytes;
}

std::string text_of_bytes(std::span<const unsigned char> bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size();) {
        std::size_t equal = 1, counting = 1;
        while (i + equal < bytes.size() && bytes[i + equal] == bytes[i])
            ++equal;
        while (i + counting < bytes.size() && bytes[i + counting] == bytes[i] + counting)
            ++counting;
        text += text.empty() ? "" : " ";
        if (counting > 3) {
            text += fmt::format("{:02x}..{:02x}", bytes[i], bytes[i + counting - 1]);
            i += counting;
        } else if (equal > 3) {
            text += fmt::format("{:02x}*{}", bytes[i], equal);
            i += equal;
        } else {
            text += fmt::format("{:02x}", bytes[i]);
            ++i;
        }
    }
    return '<' + text + '>';
}

} // namespace pi_run
