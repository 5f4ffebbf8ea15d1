// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.hpp"

#include "rules.hpp"
#include "text.hpp"

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <string_view>

namespace pi::suite {
namespace {

constexpr const char *red = "\x1b[31m";
constexpr const char *green = "\x1b[32m";
constexpr const char *yellow = "\x1b[33m";
constexpr const char *plain = "\x1b[0m";

class Colours {
public:
    explicit Colours(bool on) : on_(on) {}
    std::string operator()(const char *colour, const std::string &text) const {
        return on_ ? colour + text + plain : text;
    }

private:
    bool on_;
};

std::string indented(const std::string &text) {
    std::string lines = "    ";
    for (std::size_t i = 0; i < text.size(); ++i) {
        lines += text[i];
        if (text[i] == '\n' && i + 1 < text.size())
            lines += "    ";
    }
    if (lines.back() != '\n')
        lines += '\n';
    return lines;
}

// Tests of lists (the names of infos) hold a plugin to dozens of sentences; the files have all.
void print_rules(std::ostream &out, const TestResult &result) {
    constexpr std::size_t most = 3;
    const std::vector<std::string> rules = rules_of(result);
    for (std::size_t i = 0; i < rules.size() && i < most; ++i)
        out << "  rule: " << rules[i] << '\n';
    if (rules.size() > most)
        out << "  and " << rules.size() - most << " more rules, which --json lists\n";
}

void print_failures(std::ostream &out, const Options &options,
                    const std::vector<TestResult> &results, const Colours &colours) {
    for (const TestResult &result : results) {
        if (result.verdict.outcome != Outcome::failed)
            continue;
        out << '\n'
            << colours(red, "failed") << ": " << result.test_case.test.id() << "\n    on "
            << result.test_case.place() << '\n'
            << indented(result.verdict.reason);
        print_rules(out, result);
        if (!result.output.empty())
            out << "  output:\n" << indented(result.output);
        out << "  again: " << command_of(options, result) << '\n';
    }
}

void print_skips(std::ostream &out, const std::vector<TestResult> &results,
                 const Colours &colours) {
    std::map<std::string, std::vector<std::string>> reasons;
    for (const TestResult &result : results) {
        if (result.verdict.outcome == Outcome::skipped)
            reasons[result.verdict.reason].push_back(result.test_case.test.id());
    }
    if (!reasons.empty())
        out << '\n';
    for (const auto &[reason, names] : reasons)
        out << colours(yellow, "skipped") << ": " << names.size()
            << (names.size() == 1 ? " test: " : " tests: ") << reason << '\n';
}

void print_xfails(std::ostream &out, const std::vector<TestResult> &results,
                  const Colours &colours) {
    bool any = false;
    for (const TestResult &result : results) {
        if (result.verdict.outcome != Outcome::xfail)
            continue;
        out << (any ? "" : "\n") << colours(yellow, "xfail") << ": " << result.test_case.test.id()
            << " on " << result.test_case.place() << '\n'
            << indented(result.verdict.reason);
        any = true;
    }
}

// "12", "12 1F 2S 3X"
std::string cell(const Counts &counts) {
    std::string text = join(counts.passed);
    if (counts.failed != 0)
        text += join(" ", counts.failed, "F");
    if (counts.skipped != 0)
        text += join(" ", counts.skipped, "S");
    if (counts.xfail != 0)
        text += join(" ", counts.xfail, "X");
    return text;
}

void print_table(std::ostream &out, const Discovery &found, const std::vector<TestResult> &results,
                 const Colours &colours) {
    std::map<std::string, std::map<std::string, Counts>> rows;
    for (const TestResult &result : results)
        rows[result.test_case.test.area][result.test_case.device].add(result.verdict);
    constexpr int area_width = 12;
    int width = 12;
    for (const NamedDevice &device : found.devices)
        width = std::max(width, static_cast<int>(device.selector.size()) + 2);
    out << "\npassed, F failed, S skipped, X failed as expected; pairs count with their first "
           "device\n\n"
        << std::left << std::setw(area_width) << "";
    for (const NamedDevice &device : found.devices)
        out << std::setw(width) << device.selector;
    out << '\n';
    for (const std::string &area : areas()) {
        const auto row = rows.find(area);
        if (row == rows.end())
            continue;
        out << std::setw(area_width) << area;
        for (const NamedDevice &device : found.devices) {
            const Counts counts = row->second[device.selector];
            const std::string text = cell(counts);
            const char *colour = counts.failed != 0 ? red : counts.skipped != 0 ? yellow : green;
            out << colours(colour, text)
                << std::string(text.size() < static_cast<std::size_t>(width)
                                   ? static_cast<std::size_t>(width) - text.size()
                                   : 1,
                               ' ');
        }
        out << '\n';
    }
    out << '\n';
    for (const NamedDevice &device : found.devices)
        out << device.selector << ": " << device.name << '\n';
}

} // namespace

void Counts::add(const Verdict &verdict) {
    if (verdict.outcome == Outcome::passed)
        ++passed;
    else if (verdict.outcome == Outcome::failed)
        ++failed;
    else if (verdict.outcome == Outcome::skipped)
        ++skipped;
    else
        ++xfail;
    broke_off += verdict.outcome == Outcome::failed && verdict.broke_off ? 1 : 0;
}

Counts count(const std::vector<TestResult> &results) {
    Counts counts;
    for (const TestResult &result : results)
        counts.add(result.verdict);
    return counts;
}

std::string Report::plugin() const {
    if (!found.name.empty())
        return found.name;
    constexpr std::string_view before = "libpi_plugin_";
    constexpr std::string_view after = ".so";
    const std::string file = options.plugin.substr(options.plugin.rfind('/') + 1);
    if (!file.starts_with(before) || !file.ends_with(after) ||
        file.size() <= before.size() + after.size())
        return options.plugin;
    return file.substr(before.size(), file.size() - before.size() - after.size());
}

std::vector<std::string> rules_of(const TestResult &result) {
    std::vector<std::string> rules = rules_of(result.test_case.test.id());
    std::stable_partition(rules.begin(), rules.end(), [&](const std::string &rule) {
        return result.verdict.reason.find(rule.substr(0, rule.find(':'))) != std::string::npos;
    });
    return rules;
}

std::string not_run(const Report &report) {
    if (report.not_run == 0 && report.stopped_by.empty())
        return "";
    return join("not run after ",
                report.stopped_by.empty() ? "the first failure, because of --fail-fast"
                                          : report.stopped_by + " came",
                ": ", report.not_run, report.not_run == 1 ? " test" : " tests");
}

std::string problem_of_run(const Report &report) {
    if (!report.problem.empty() || report.stopped_by.empty())
        return report.problem;
    return not_run(report);
}

void print_report(std::ostream &out, const Report &report, bool colour) {
    const Colours colours(colour);
    print_failures(out, report.options, report.results, colours);
    print_xfails(out, report.results, colours);
    print_skips(out, report.results, colours);
    print_table(out, report.found, report.results, colours);
    const Counts counts = count(report.results);
    out << "seed " << report.options.seed;
    if (report.options.repeat > 1)
        out << ", each test " << report.options.repeat << " times";
    out << '\n';
    if (const std::string text = not_run(report); !text.empty())
        out << text << '\n';
    for (const Expectation &line : report.without_match)
        out << line.where << ": no test of these devices is \"" << line.pattern << "\"\n";
    if (counts.xfail != 0)
        out << "failed as expected (xfail): " << counts.xfail
            << (counts.xfail == 1 ? " test\n" : " tests\n");
    out << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped
        << " skipped" << std::endl;
}

} // namespace pi::suite
