// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "report.hpp"

#include "text.hpp"

#include <nlohmann/json.hpp>

namespace pi::suite {
namespace {

using nlohmann::json;

// UTF-8 whatever a test has printed, by way of the JSON library, which replaces what is none.
std::string valid_utf8(const std::string &text) {
    const std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    return json::parse(quoted).get<std::string>();
}

// For an attribute or a text; XML knows no control characters but these three.
std::string xml(const std::string &text) {
    std::string out;
    for (const char c : valid_utf8(text)) {
        const auto code = static_cast<unsigned char>(c);
        switch (c) {
        case '&':
            out += "&amp;";
            break;
        case '<':
            out += "&lt;";
            break;
        case '>':
            out += "&gt;";
            break;
        case '"':
            out += "&quot;";
            break;
        case '\n':
            out += "&#10;";
            break;
        case '\t':
            out += "&#9;";
            break;
        default:
            out += code < 0x20 || code == 0x7F ? '?' : c;
        }
    }
    return out;
}

} // namespace

void write_json(std::ostream &out, const Options &options, const std::vector<TestResult> &results) {
    const Counts counts = count(results);
    json tests = json::array();
    for (const TestResult &result : results) {
        tests.push_back({{"area", result.test.law.area},
                         {"name", result.test.law.name},
                         {"device", result.test.place()},
                         {"result", outcome_name(result.verdict.outcome)},
                         {"reason", result.verdict.reason},
                         {"seed", options.seed}});
    }
    const json report{{"passed", counts.passed},
                      {"failed", counts.failed},
                      {"skipped", counts.skipped},
                      {"tests", tests}};
    out << report.dump(2, ' ', false, json::error_handler_t::replace) << '\n';
}

void write_junit(std::ostream &out, const Options &options, const Discovery &found,
                 const std::vector<TestResult> &results) {
    const Counts counts = count(results);
    double seconds = 0;
    for (const TestResult &result : results)
        seconds += result.seconds;
    out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        << "<testsuite name=\"" << xml("pi-conformance " + found.name) << "\" tests=\""
        << counts.all() << "\" failures=\"" << counts.failed << "\" errors=\"0\" skipped=\""
        << counts.skipped << "\" time=\"" << seconds << "\">\n"
        << "  <properties><property name=\"seed\" value=\"" << options.seed
        << "\"/></properties>\n";
    for (const TestResult &result : results) {
        const std::string name = join(result.test.law.name, " [", result.test.place(), "]");
        out << "  <testcase classname=\"" << xml(result.test.law.area) << "\" name=\"" << xml(name)
            << "\" time=\"" << result.seconds << "\">";
        const std::string reason = xml(result.verdict.reason);
        if (result.verdict.outcome == Outcome::skipped)
            out << "<skipped message=\"" << reason << "\"/>";
        if (result.verdict.outcome == Outcome::failed)
            out << "<failure message=\"" << reason << "\">"
                << xml(command_of(options, result.test) + "\n" + result.output) << "</failure>";
        out << "</testcase>\n";
    }
    out << "</testsuite>\n";
}

} // namespace pi::suite
