// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "expectations.hpp"

#include "glob.hpp"
#include "text.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

namespace pi::suite {
namespace {

constexpr const char *right_line =
    "; a line is 'pattern | unsupported | reason' or 'pattern | xfail | reason'";

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

std::string trimmed(const std::string &text) {
    constexpr const char *blanks = " \t\r";
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string::npos)
        return "";
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

// Returns the line's expectation, or sets `problem`.
std::optional<Expectation> parse(const std::string &line, const std::string &where,
                                 std::string &problem) {
    const std::size_t first = line.find('|');
    const std::size_t second = first == std::string::npos ? first : line.find('|', first + 1);
    if (second == std::string::npos) {
        problem = join(where, ": \"", line, "\" has not three parts", right_line);
        return std::nullopt;
    }
    Expectation read;
    read.pattern = trimmed(line.substr(0, first));
    const std::string kind = trimmed(line.substr(first + 1, second - first - 1));
    read.kind = kind == "xfail" ? Expectation::Kind::xfail : Expectation::Kind::unsupported;
    read.reason = trimmed(line.substr(second + 1));
    read.where = where;
    if (kind != "xfail" && kind != "unsupported")
        problem = join(where, ": \"", kind, "\" is neither unsupported nor xfail", right_line);
    else if (read.pattern.empty())
        problem = join(where, ": there is no pattern", right_line);
    else if (read.reason.empty())
        problem = join(where, ": there is no reason", right_line);
    else
        return read;
    return std::nullopt;
}

} // namespace

bool Expectation::matches(const TestCase &test_case) const {
    const std::string id = test_case.test.id();
    return glob_matches(pattern, id) || glob_matches(pattern, join(id, " on ", test_case.place()));
}

bool Expectation::may_match(const ConformanceTest &test) const {
    return glob_matches(pattern, test.id()) || glob_matches_beginning(pattern, test.id() + " on ");
}

void Expectations::read(std::istream &file, const std::string &name,
                        const std::vector<ConformanceTest> &tests) {
    unsigned number = 0;
    for (std::string text; std::getline(file, text);) {
        const std::string where = join(name, ":", ++number);
        // Some editors begin a file by it.
        if (number == 1 && text.starts_with(byte_order_mark))
            text.erase(0, byte_order_mark.size());
        const std::string line = trimmed(text);
        if (line.empty() || line[0] == '#')
            continue;
        std::string problem;
        const std::optional<Expectation> read = parse(line, where, problem);
        if (!read) {
            problems_.push_back(problem);
            continue;
        }
        const auto matched = [&](const ConformanceTest &test) { return read->may_match(test); };
        if (std::none_of(tests.begin(), tests.end(), matched))
            problems_.push_back(
                join(where, ": the pattern \"", read->pattern,
                     "\" matches no test; --list prints all tests, and it must match the "
                     "whole of one, or that and \" on \" and a device"));
        lines_.push_back(*read);
    }
    if (file.bad())
        problems_.push_back(join(name, ": cannot be read"));
}

void Expectations::read_file(const std::string &name, const std::vector<ConformanceTest> &tests) {
    std::ifstream file(name);
    if (!file) {
        problems_.push_back(join(name, ": cannot be opened: ", std::strerror(errno)));
        return;
    }
    read(file, name, tests);
}

std::vector<Expectation> Expectations::without_match(const std::vector<TestCase> &cases) const {
    std::vector<Expectation> found;
    for (const Expectation &line : lines_) {
        if (std::none_of(cases.begin(), cases.end(),
                         [&](const TestCase &test_case) { return line.matches(test_case); }))
            found.push_back(line);
    }
    return found;
}

const Expectation *Expectations::find(const TestCase &test_case) const {
    const auto found = std::find_if(lines_.begin(), lines_.end(), [&](const Expectation &line) {
        return line.matches(test_case);
    });
    return found == lines_.end() ? nullptr : &*found;
}

bool Expectations::may_fail(const TestCase &test_case) const {
    const Expectation *line = find(test_case);
    return line != nullptr && line->kind == Expectation::Kind::xfail;
}

void Expectations::judge(TestResult &result) const {
    const Expectation *line = find(result.test_case);
    if (line == nullptr)
        return;
    result.expected_by = line->where;
    Verdict &verdict = result.verdict;
    if (verdict.outcome == Outcome::skipped)
        return;
    const bool passed = verdict.outcome == Outcome::passed;
    if (line->kind == Expectation::Kind::unsupported)
        verdict.reason = join(passed ? "it ran and passed" : "it ran and failed", ", but ",
                              line->where, " says that it is unsupported: ", line->reason,
                              passed ? "" : "; the failure: " + verdict.reason);
    else if (passed)
        verdict.reason =
            join("unexpected pass: ", line->where, " says that it fails: ", line->reason);
    else
        verdict.reason = join(line->reason, " (", line->where, "): ", verdict.reason);
    verdict.outcome =
        line->kind == Expectation::Kind::xfail && !passed ? Outcome::xfail : Outcome::failed;
}

} // namespace pi::suite
