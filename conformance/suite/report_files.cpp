// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.hpp"

#include "markup.hpp"
#include "text.hpp"

#include <nlohmann/json.hpp>

#include <ctime>
#include <iomanip>

namespace pi::suite {
namespace {

using nlohmann::json;

double seconds_of(const std::vector<TestResult> &results) {
    double seconds = 0;
    for (const TestResult &result : results)
        seconds += result.seconds;
    return seconds;
}

// The sentences of pi.h that the test holds the plugin to, one a line.
std::string rule_text(const TestResult &result) {
    std::string text;
    for (const std::string &rule : rules_of(result))
        text += (text.empty() ? "" : "\n") + rule;
    return text;
}

json json_of(const Report &report, const TestResult &result) {
    json test{{"area", result.test_case.test.area},
              {"name", result.test_case.test.name},
              {"device", result.test_case.place()},
              {"result", outcome_name(result.verdict.outcome)},
              {"reason", result.verdict.reason},
              {"seconds", result.seconds},
              {"seed", result.seed},
              {"repetition", result.repetition},
              {"rule", rule_text(result)}};
    if (!result.expected_by.empty())
        test["expected_by"] = result.expected_by;
    if (result.failures != 0)
        test["failures"] = result.failures;
    if (result.verdict.outcome == Outcome::failed || result.verdict.outcome == Outcome::xfail) {
        test["broke_off"] = result.verdict.broke_off;
        test["output"] = result.output;
        test["again"] = command_of(report.options, result);
    }
    return test;
}

// The attributes that a run and its only suite have in common.
std::string junit_counts(const Report &report) {
    const Counts counts = count(report.results);
    const std::size_t of_the_run = problem_of_run(report).empty() ? 0 : 1;
    return join("tests=\"", counts.all() + of_the_run, "\" failures=\"",
                counts.failed - counts.broke_off, "\" errors=\"", counts.broke_off + of_the_run,
                "\" skipped=\"", counts.skipped + counts.xfail, "\" time=\"", std::fixed,
                std::setprecision(3), seconds_of(report.results), "\"");
}

void write_junit_property(std::ostream &out, const char *name, const std::string &value) {
    out << "      <property name=\"" << name << "\" value=\"" << markup(value) << "\"/>\n";
}

// A problem of the run itself.
void write_junit_error(std::ostream &out, const Report &report, const std::string &problem) {
    out << "    <testcase classname=\"" << markup(report.plugin())
        << ".run\" name=\"the conformance tests run\" time=\"0\">\n      <error message=\""
        << markup(problem) << "\" type=\"error\">" << markup(problem, MarkupIn::text)
        << "</error>\n    </testcase>\n";
}

void write_junit_test(std::ostream &out, const Report &report, const TestResult &result) {
    const std::string name = join(result.test_case.test.name, " [", result.test_case.place(), "]");
    out << "    <testcase classname=\""
        << markup(report.plugin() + "." + result.test_case.test.area) << "\" name=\""
        << markup(name) << "\" time=\"" << result.seconds << "\"";
    const std::string reason = markup(result.verdict.reason);
    const char *what = result.verdict.broke_off ? "error" : "failure";
    if (result.verdict.outcome == Outcome::passed)
        out << "/>\n";
    else if (result.verdict.outcome == Outcome::skipped)
        out << ">\n      <skipped message=\"" << reason << "\"/>\n    </testcase>\n";
    else if (result.verdict.outcome == Outcome::xfail)
        out << ">\n      <skipped type=\"xfail\" message=\"" << reason << "\"/>\n    </testcase>\n";
    else
        out << ">\n      <" << what << " message=\"" << reason << "\" type=\"" << what << "\">"
            << markup(join(result.verdict.reason, "\nrule: ", rule_text(result),
                           "\nagain: ", command_of(report.options, result)),
                      MarkupIn::text)
            << "</" << what << ">\n      <system-out>" << markup(result.output, MarkupIn::text)
            << "</system-out>\n    </testcase>\n";
}

} // namespace

std::string utc(std::time_t time) {
    std::tm parts{};
    gmtime_r(&time, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return text;
}

void write_json(std::ostream &out, const Report &report) {
    const Counts counts = count(report.results);
    json devices = json::array();
    for (const NamedDevice &device : report.found.devices)
        devices.push_back({{"selector", device.selector}, {"name", device.name}});
    json tests = json::array();
    for (const TestResult &result : report.results)
        tests.push_back(json_of(report, result));
    const json document{{"plugin", report.plugin()},
                        {"path", report.found.path},
                        {"devices", devices},
                        {"seed", report.options.seed},
                        {"passed", counts.passed},
                        {"failed", counts.failed},
                        {"skipped", counts.skipped},
                        {"xfail", counts.xfail},
                        {"not_run", report.not_run},
                        {"stopped_by", report.stopped_by},
                        {"problem", report.problem},
                        {"repeat", report.options.repeat},
                        {"tests", tests}};
    out << document.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

void write_junit(std::ostream &out, const Report &report) {
    const std::string name = markup("pi-conformance " + report.plugin());
    const std::string counts = junit_counts(report);
    out << std::fixed << std::setprecision(3) << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        << "<testsuites name=\"" << name << "\" " << counts << ">\n"
        << "  <testsuite name=\"" << name << "\" " << counts << " timestamp=\"" << utc(report.begin)
        << "\">\n    <properties>\n";
    write_junit_property(out, "plugin", report.found.path);
    for (const NamedDevice &device : report.found.devices)
        write_junit_property(out, "device", device.selector + ": " + device.name);
    write_junit_property(out, "seed", join(report.options.seed));
    write_junit_property(out, "not_run", join(report.not_run));
    if (!report.stopped_by.empty())
        write_junit_property(out, "stopped_by", report.stopped_by);
    out << "    </properties>\n";
    if (const std::string problem = problem_of_run(report); !problem.empty())
        write_junit_error(out, report, problem);
    for (const TestResult &result : report.results)
        write_junit_test(out, report, result);
    out << "  </testsuite>\n</testsuites>\n";
}

} // namespace pi::suite
