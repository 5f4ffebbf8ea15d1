// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.hpp"

#include "text.hpp"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <ctime>
#include <iomanip>
#include <map>
#include <string_view>

namespace pi::suite {
namespace {

using nlohmann::json;

// UTF-8 whatever a test has printed, by way of the JSON library, which replaces what is none.
std::string valid_utf8(const std::string &text) {
    const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

enum class Where { attribute, text };

// What XML has no way to say: most control characters and the two that are no characters.
bool is_forbidden(std::string_view rest) {
    const auto code = static_cast<unsigned char>(rest[0]);
    return code < 0x20 || code == 0x7F || rest.substr(0, 3) == "\xEF\xBF\xBE" ||
           rest.substr(0, 3) == "\xEF\xBF\xBF";
}

// A reader takes line ends and tabs of an attribute for spaces, and a carriage return for a line end.
std::string xml(const std::string &text, Where where = Where::attribute) {
    const std::map<char, const char *> entities{{'&', "&amp;"},
                                                {'<', "&lt;"},
                                                {'>', "&gt;"},
                                                {'"', "&quot;"},
                                                {'\r', "&#13;"},
                                                {'\n', where == Where::text ? "\n" : "&#10;"},
                                                {'\t', where == Where::text ? "\t" : "&#9;"}};
    const std::string valid = valid_utf8(text);
    std::string out;
    for (std::size_t i = 0; i < valid.size(); ++i) {
        const std::string_view rest = std::string_view(valid).substr(i);
        if (const auto entity = entities.find(valid[i]); entity != entities.end()) {
            out += entity->second;
        } else if (is_forbidden(rest)) {
            out += '?';
            i += rest[0] == '\xEF' ? 2 : 0;
        } else {
            out += valid[i];
        }
    }
    return out;
}

double seconds_of(const std::vector<TestResult> &results) {
    double seconds = 0;
    for (const TestResult &result : results)
        seconds += result.seconds;
    return seconds;
}

std::string utc(std::time_t time) {
    std::tm parts{};
    gmtime_r(&time, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
    return text;
}

json json_of(const Report &report, const TestResult &result) {
    json test{{"area", result.test.law.area},    {"name", result.test.law.name},
              {"device", result.test.place()},   {"result", outcome_name(result.verdict.outcome)},
              {"reason", result.verdict.reason}, {"seconds", result.seconds},
              {"seed", report.options.seed}};
    if (result.verdict.outcome == Outcome::failed) {
        test["broke_off"] = result.verdict.broke_off;
        test["output"] = result.output;
        test["again"] = command_of(report.options, result.test);
    }
    return test;
}

// The attributes that a run and its only suite have in common.
std::string junit_counts(const Report &report) {
    const Counts counts = count(report.results);
    return join("tests=\"", counts.all(), "\" failures=\"", counts.failed - counts.broke_off,
                "\" errors=\"", counts.broke_off, "\" skipped=\"", counts.skipped, "\" time=\"",
                std::fixed, std::setprecision(3), seconds_of(report.results), "\"");
}

void write_junit_property(std::ostream &out, const char *name, const std::string &value) {
    out << "      <property name=\"" << name << "\" value=\"" << xml(value) << "\"/>\n";
}

void write_junit_test(std::ostream &out, const Report &report, const TestResult &result) {
    const std::string name = join(result.test.law.name, " [", result.test.place(), "]");
    out << "    <testcase classname=\"" << xml(report.found.name + "." + result.test.law.area)
        << "\" name=\"" << xml(name) << "\" time=\"" << result.seconds << "\"";
    const std::string reason = xml(result.verdict.reason);
    const char *what = result.verdict.broke_off ? "error" : "failure";
    if (result.verdict.outcome == Outcome::passed)
        out << "/>\n";
    else if (result.verdict.outcome == Outcome::skipped)
        out << ">\n      <skipped message=\"" << reason << "\"/>\n    </testcase>\n";
    else
        out << ">\n      <" << what << " message=\"" << reason << "\" type=\"" << what << "\">"
            << xml(join(result.verdict.reason,
                        "\nagain: ", command_of(report.options, result.test)),
                   Where::text)
            << "</" << what << ">\n      <system-out>" << xml(result.output, Where::text)
            << "</system-out>\n    </testcase>\n";
}

} // namespace

void write_json(std::ostream &out, const Report &report) {
    const Counts counts = count(report.results);
    json devices = json::array();
    for (const NamedDevice &device : report.found.devices)
        devices.push_back({{"selector", device.selector}, {"name", device.name}});
    json tests = json::array();
    for (const TestResult &result : report.results)
        tests.push_back(json_of(report, result));
    const json document{
        {"plugin", report.found.name}, {"path", report.found.path}, {"devices", devices},
        {"seed", report.options.seed}, {"passed", counts.passed},   {"failed", counts.failed},
        {"skipped", counts.skipped},   {"not_run", report.not_run}, {"tests", tests}};
    out << document.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

void write_junit(std::ostream &out, const Report &report) {
    const std::string name = xml("pi-conformance " + report.found.name);
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
    out << "    </properties>\n";
    for (const TestResult &result : report.results)
        write_junit_test(out, report, result);
    out << "  </testsuite>\n</testsuites>\n";
}

} // namespace pi::suite
