// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.hpp"

#include "markup.hpp"
#include "text.hpp"

#include <algorithm>
#include <iomanip>
#include <map>
#include <string_view>
#include <utility>

namespace pi::suite {

// html_report.css
extern const unsigned char embedded_html_style[];
extern const std::size_t embedded_html_style_size;

namespace {

// The id of a test is its number, as names may repeat.
std::string id_of(std::size_t number) {
    return join("test-", number);
}

std::string in_text(const std::string &text) {
    return markup(text, MarkupIn::text);
}

const char *tests(std::size_t count) {
    return count == 1 ? " test" : " tests";
}

struct Part {
    const char *name;
    std::size_t count;
};

std::vector<Part> parts_of(const Counts &counts) {
    return {{"passed", counts.passed},
            {"failed", counts.failed},
            {"xfail", counts.xfail},
            {"skipped", counts.skipped}};
}

// A bar; the numbers are next to it.
void write_bar(std::ostream &out, const Counts &counts, const char *style) {
    out << "<div class=\"" << style << "\" aria-hidden=\"true\">";
    for (const Part &part : parts_of(counts)) {
        if (part.count != 0)
            out << "<i class=\"" << part.name << "\" style=\"flex:" << part.count << "\"></i>";
    }
    out << "</div>";
}

std::string in_short(const Report &report, const Counts &counts) {
    if (!report.problem.empty())
        return "not tested";
    const std::string failed =
        counts.failed == 0 ? "nothing failed" : join(counts.failed, " failed");
    if (report.stopped_by.empty())
        return failed;
    return "ended by " + report.stopped_by + (counts.failed == 0 ? "" : ", " + failed);
}

void write_head(std::ostream &out, const Report &report, const Counts &counts) {
    out << "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'\"/>\n<title>"
        << in_text(report.plugin()) << ": " << in_short(report, counts) << "</title>\n<style>\n"
        << std::string_view(reinterpret_cast<const char *>(embedded_html_style),
                            embedded_html_style_size)
        << "</style>\n</head>\n";
}

void write_summary(std::ostream &out, const Report &report, const Counts &counts) {
    out << "<header>\n<h1>" << in_text(report.plugin())
        << " <span class=\"quiet\">and pi.h</span></h1>\n<p class=\"quiet\"><code>"
        << in_text(report.found.path) << "</code></p>\n<p class=\"quiet\">" << utc(report.begin)
        << " UTC, seed " << report.options.seed;
    if (report.options.repeat > 1)
        out << ", each test " << report.options.repeat << " times";
    if (const std::string text = not_run(report); !text.empty())
        out << "; " << text;
    out << "</p>\n<ul class=\"counts\">\n";
    for (const Part &part : parts_of(counts))
        out << "<li class=\"" << part.name << "\"><b>" << part.count << "</b> "
            << (std::string_view(part.name) == "xfail" ? "failed as expected" : part.name)
            << "</li>\n";
    out << "</ul>\n";
    write_bar(out, counts, "bar large");
    out << "\n</header>\n";
}

struct Cell {
    Counts counts;
    std::size_t first_failure = 0; // its test's number
};

void write_cell(std::ostream &out, const Cell &cell) {
    const Counts &counts = cell.counts;
    out << "<td"
        << (counts.failed != 0  ? " class=\"has-failed\""
            : counts.xfail != 0 ? " class=\"has-xfail\""
                                : "")
        << ">";
    if (counts.all() == 0) {
        out << "<span class=\"quiet\">none</span></td>";
        return;
    }
    const char *between = "";
    for (const Part &part : parts_of(counts)) {
        if (part.count == 0)
            continue;
        const bool linked = std::string_view(part.name) == "failed";
        out << std::exchange(between, ", ");
        if (linked)
            out << "<a href=\"#" << id_of(cell.first_failure) << "\">";
        out << "<span class=\"n-" << part.name << "\">" << part.count << ' ' << part.name
            << "</span>" << (linked ? "</a>" : "");
    }
    write_bar(out, counts, "bar");
    out << "</td>";
}

void write_matrix(std::ostream &out, const Report &report) {
    std::map<std::string, std::map<std::string, Cell>> rows;
    for (std::size_t i = 0; i < report.results.size(); ++i) {
        const TestResult &result = report.results[i];
        Cell &cell = rows[result.test_case.test.area][result.test_case.device];
        if (result.verdict.outcome == Outcome::failed && cell.counts.failed == 0)
            cell.first_failure = i;
        cell.counts.add(result.verdict);
    }
    out << "<section aria-labelledby=\"matrix\">\n<h2 id=\"matrix\">Devices and areas</h2>\n"
           "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-labelledby=\"matrix\">\n"
           "<table>\n<thead><tr><th scope=\"col\">area</th>";
    for (const NamedDevice &device : report.found.devices)
        out << "<th scope=\"col\">" << in_text(device.selector) << "<span class=\"quiet\">"
            << in_text(device.name) << "</span></th>";
    out << "</tr></thead>\n<tbody>\n";
    for (const std::string &area : areas()) {
        const auto row = rows.find(area);
        if (row == rows.end())
            continue;
        out << "<tr><th scope=\"row\">" << area << "</th>";
        for (const NamedDevice &device : report.found.devices)
            write_cell(out, row->second[device.selector]);
        out << "</tr>\n";
    }
    out << "</tbody>\n</table>\n</div>\n"
           "<p class=\"quiet\">A test of a pair counts with its first device.</p>\n</section>\n";
}

void write_block(std::ostream &out, const char *heading, const std::string &text,
                 const char *style = "") {
    out << "<h3>" << heading << "</h3>\n<pre class=\"" << style << "\" tabindex=\"0\">"
        << in_text(text) << "</pre>\n";
}

// Instead of results.
void write_problem(std::ostream &out, const Report &report) {
    out << "<section>\n<h2>Not tested</h2>\n";
    write_block(out, "why", report.problem);
    out << "</section>\n";
}

void write_rules(std::ostream &out, const TestResult &result) {
    const std::vector<std::string> rules = rules_of(result);
    if (rules.empty())
        return;
    out << "<h3>rule</h3>\n<ul>\n";
    for (const std::string &rule : rules)
        out << "<li>" << in_text(rule) << "</li>\n";
    out << "</ul>\n";
}

void write_test(std::ostream &out, const Report &report, std::size_t number, bool open) {
    const TestResult &result = report.results[number];
    out << "<details class=\"" << outcome_name(result.verdict.outcome) << "\" id=\""
        << id_of(number) << "\"" << (open ? " open=\"open\"" : "") << ">\n<summary><b>"
        << in_text(result.test_case.test.id()) << "</b> <span class=\"quiet\">on "
        << in_text(result.test_case.place()) << "</span><span class=\"reason\">"
        << in_text(first_line(result.verdict.reason))
        << "</span></summary>\n<div class=\"body\">\n";
    write_block(out, "why", result.verdict.reason);
    write_rules(out, result);
    if (!result.output.empty())
        write_block(out, "output", result.output);
    write_block(out, "again", command_of(report.options, result), "again");
    out << "<p class=\"quiet\">seed " << result.seed;
    if (report.options.repeat > 1)
        out << ", repetition " << result.repetition << " of " << report.options.repeat << ", "
            << result.failures << " failed";
    if (!result.expected_by.empty())
        out << ", expectation " << in_text(result.expected_by);
    out << ", " << std::fixed << std::setprecision(2) << result.seconds
        << " s</p>\n</div>\n</details>\n";
}

void write_tests(std::ostream &out, const Report &report, Outcome outcome, const char *heading) {
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < report.results.size(); ++i) {
        if (report.results[i].verdict.outcome == outcome)
            numbers.push_back(i);
    }
    if (numbers.empty())
        return;
    // A short list is open, a long one folded.
    constexpr std::size_t few = 3;
    out << "<section>\n<h2>" << heading << "</h2>\n";
    for (const std::size_t number : numbers)
        write_test(out, report, number, outcome == Outcome::failed && numbers.size() <= few);
    out << "</section>\n";
}

void write_skips(std::ostream &out, const Report &report) {
    std::map<std::string, std::vector<const TestResult *>> reasons;
    for (const TestResult &result : report.results) {
        if (result.verdict.outcome == Outcome::skipped)
            reasons[result.verdict.reason].push_back(&result);
    }
    if (reasons.empty())
        return;
    out << "<section>\n<h2>Skipped</h2>\n";
    for (const auto &[reason, results] : reasons) {
        out << "<details class=\"skipped\">\n<summary>" << in_text(reason)
            << " <span class=\"quiet count\">" << results.size() << tests(results.size())
            << "</span></summary>\n<div class=\"body\"><ul>\n";
        for (const TestResult *result : results)
            out << "<li>" << in_text(result->test_case.test.id()) << " <span class=\"quiet\">on "
                << in_text(result->test_case.place()) << "</span></li>\n";
        out << "</ul></div>\n</details>\n";
    }
    out << "</section>\n";
}

void write_without_match(std::ostream &out, const Report &report) {
    if (report.without_match.empty())
        return;
    out << "<section>\n<h2>Expectations of other devices</h2>\n<ul>\n";
    for (const Expectation &line : report.without_match)
        out << "<li>" << in_text(line.where) << ": <code>" << in_text(line.pattern)
            << "</code></li>\n";
    out << "</ul>\n</section>\n";
}

} // namespace

void write_html(std::ostream &out, const Report &report) {
    const Counts counts = count(report.results);
    write_head(out, report, counts);
    out << "<body>\n";
    write_summary(out, report, counts);
    out << "<main>\n";
    if (!report.problem.empty())
        write_problem(out, report);
    else
        write_matrix(out, report);
    write_tests(out, report, Outcome::failed, "Failed");
    write_tests(out, report, Outcome::xfail, "Failed as expected");
    write_skips(out, report);
    write_without_match(out, report);
    out << "</main>\n</body>\n</html>\n";
}

} // namespace pi::suite
