// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "rules.hpp"

#include <cstddef>

namespace pi::suite {

// conformance/rules.md
extern const unsigned char embedded_rules[];
extern const std::size_t embedded_rules_size;

namespace {

std::string_view take_line(std::string_view &text) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    return line;
}

std::string_view without_indent(std::string_view line) {
    const std::size_t begin = line.find_first_not_of(' ');
    return begin == std::string_view::npos ? std::string_view() : line.substr(begin);
}

/// "12. Text": the text, or empty.
std::string_view numbered(std::string_view line) {
    const std::size_t digits = line.find_first_not_of("0123456789");
    return digits != 0 && digits != std::string_view::npos && line.substr(digits).starts_with(". ")
               ? line.substr(digits + 2)
               : std::string_view();
}

} // namespace

std::map<std::string, Rules, std::less<>> rules_by_test(std::string_view rules) {
    constexpr std::string_view subject_mark = "### `", tests_mark = "- tests: ";
    std::map<std::string, Rules, std::less<>> found;
    std::string subject, sentence, tests;
    // Lines of a sentence or of its tests go on until the next item begins.
    std::string *continued = nullptr;
    const auto end_sentence = [&] {
        for (std::size_t begin = 0, end = 0; (begin = tests.find('`', end)) != std::string::npos;) {
            end = tests.find('`', ++begin);
            if (end == std::string::npos)
                break;
            found[tests.substr(begin, end - begin)].push_back(subject + ": " + sentence);
            ++end;
        }
        tests.clear();
        continued = nullptr;
    };
    while (!rules.empty()) {
        const std::string_view line = take_line(rules), text = without_indent(line);
        if (text.empty() || text.starts_with('#')) {
            end_sentence();
            if (text.starts_with(subject_mark))
                subject = text.substr(subject_mark.size(), text.size() - subject_mark.size() - 1);
        } else if (const std::string_view begun = numbered(line); !begun.empty()) {
            end_sentence();
            sentence = begun;
            continued = &sentence;
        } else if (text.starts_with(tests_mark)) {
            tests = text.substr(tests_mark.size());
            continued = &tests;
        } else if (text.starts_with("- ")) {
            continued = nullptr;
        } else if (continued) {
            continued->append(" ").append(text);
        }
    }
    end_sentence();
    return found;
}

const Rules &rules_of(std::string_view test) {
    static const auto all =
        rules_by_test({reinterpret_cast<const char *>(embedded_rules), embedded_rules_size});
    static const Rules none;
    const auto found = all.find(test);
    return found == all.end() ? none : found->second;
}

} // namespace pi::suite
