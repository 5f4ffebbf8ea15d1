// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cases of conformance/cases/plugin, as tests of the area "case", by their titles.
#include "fixture.hpp"
#include "registry.hpp"
#include "require.hpp"

#include <pi/run/case.hpp>

#include <string>
#include <vector>

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

std::vector<Registration> register_cases() {
    std::vector<Registration> registrations;
    for (const EmbeddedCase &embedded : embedded_cases)
        registrations.emplace_back(
            ConformanceTest{"case", embedded.title, false,
                            [&embedded](Fixture &fixture) { run(embedded, fixture); }});
    return registrations;
}
const std::vector<Registration> registrations = register_cases();

} // namespace

} // namespace pi::suite
