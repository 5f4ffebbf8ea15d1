// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes, as each of the files that PI reads: a simulated machine, what links cost, what is expected of a plugin. They are
// understood or refused with a sentence.
#include "input.hpp"

#include "expectations.hpp"
#include "links.hpp"
#include "text_file.hpp"

#include <pi/runtime/calibrate.hpp>

#include <fstream>

namespace pi::fuzz {
namespace {

void read_machine(const std::string &text) {
    try {
        const sim::Document document("machine.json", text);
        const sim::Machine machine = sim::read_machine(document, "machine.json");
        const sim::Links links(machine);
        const auto sites = static_cast<sim::Site>(machine.devices.size());
        if (sites == 0) {
            finding("a machine without devices was taken");
        }
        for (sim::Site from = 0; from <= std::min<sim::Site>(sites, 4); ++from) {
            for (sim::Site to = 0; to <= std::min<sim::Site>(sites, 4); ++to) {
                if (from != sim::host_site && to != sim::host_site && from != to &&
                    links.find(from, to) == nullptr) {
                    continue; // nothing goes there
                }
                const size_t channels = links.channels(from, to).size();
                if (channels == 0 || channels > PI_CONNECTION_MAX_CHANNELS) {
                    finding("a transfer takes ", channels, " channels");
                }
                if (links.speed(from, to).bandwidth == 0) {
                    finding("a transfer never ends");
                }
            }
        }
    } catch (const sdk::Error &error) {
        if (error.code() != PI_ERROR_INVALID_VALUE) {
            finding("a machine file is refused with ", error.code(), ": ", error.text());
        }
    }
}

void read_costs(const std::string &text) {
    const pi_test::TextFile file(text);
    const auto loaded = runtime::load_costs(file.path(), runtime::unconnected_places(2));
    if (!loaded.costs && loaded.message.empty()) {
        finding("costs are refused without a reason");
    }
}

void read_expectations(const std::string &text) {
    std::istringstream stream(text);
    suite::Expectations expectations;
    expectations.read(stream, "some.expect", {});
}

} // namespace
} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text(reinterpret_cast<const char *>(data), size);
    pi::fuzz::read_machine(text);
    pi::fuzz::read_costs(text);
    pi::fuzz::read_expectations(text);
    return 0;
}
