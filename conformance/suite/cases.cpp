// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cases.hpp"

#include "fixture.hpp"
#include "require.hpp"

#include <pi/run/case.hpp>

#include <string_view>

namespace pi::suite {
namespace {

struct EmbeddedCase {
    const char *file;
    const char *title;
    const unsigned char *text;
    const std::size_t *size;
};

#include "embedded_cases.inc" // made from the folder's files: embedded_cases

void run(const EmbeddedCase &embedded, Fixture &fixture) {
    const pi_run::Case parsed(
        std::string(reinterpret_cast<const char *>(embedded.text), *embedded.size));
    const std::vector<pi_device> devices = fixture.devices();
    const pi_run::CaseResult result = parsed.run(devices);
    const std::string text = join(embedded.file, ":", result.line, ": ", result.text);
    if (result.verdict == pi_run::Verdict::failed)
        throw Failure{text};
    if (result.verdict == pi_run::Verdict::unsupported)
        throw Skip{"not supported: " + text};
}

} // namespace

std::vector<ConformanceTest> case_tests() {
    std::vector<ConformanceTest> tests;
    for (const EmbeddedCase &embedded : embedded_cases)
        tests.push_back({"case", embedded.title, false,
                         [&embedded](Fixture &fixture) { run(embedded, fixture); }});
    return tests;
}

} // namespace pi::suite
