// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes, as each file that PI reads: a simulated machine, costs of links, expectations of a
// plugin, a log of calls, a case. Each is parsed or refused with a sentence.
#include "input.hpp"

#include "cases.hpp"
#include "expectations.hpp"
#include "links.hpp"
#include "replay.hpp"
#include "temporary.hpp"

#include <pi/runtime/calibrate.hpp>

#include <cctype>
#include <fstream>
#include <iterator>

namespace pi::fuzz {
namespace {

constexpr const char *immodest[] = {"gate", "EventCreateHost", "KiB", "MiB", "GiB", "delay"};

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
                    continue; // there is no link
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
    const runtime::TopologyDescription places = runtime::unconnected_places(2);
    const auto loaded = runtime::load_costs(file.path(), places);
    if (!loaded.costs) {
        if (loaded.message.empty()) {
            finding("costs are refused without a reason");
        }
        return;
    }
    const pi_test::TextFile copy;
    runtime::save_costs(*loaded.costs, places, copy.path());
    const auto again = runtime::load_costs(copy.path(), places);
    if (!again.costs) {
        finding("costs that were saved are refused: ", again.message);
    }
    for (runtime::PlaceIndex from = 0; from < places.places.size(); ++from) {
        if (again.costs->callback_seconds(from) != loaded.costs->callback_seconds(from)) {
            finding("a callback's latency is another one when it was saved");
        }
        for (runtime::PlaceIndex to = 0; to < places.places.size(); ++to) {
            if (again.costs->link(from, to) != loaded.costs->link(from, to)) {
                finding("a link costs something else when it was saved");
            }
        }
    }
}

/// Whether it can be run here: no huge numbers, and no wait for an event that another thread would
/// have to signal.
bool is_modest(const pi_run::Json &json) {
    if (json.is_number_unsigned()) {
        const auto number = json.get<uint64_t>();
        return number <= 1 << 16 || number >= uint64_t{1} << 48;
    }
    if (!json.is_structured()) {
        return json != "piEventCreateHost";
    }
    return std::all_of(json.begin(), json.end(), is_modest);
}

void read_log(const std::string &text) {
    const pi_test::TextFile file(text);
    bool any = false;
    try {
        pi_run::Log log(file.path());
        while (const auto line = log.next()) {
            if (pi_run::describe(*line).empty()) {
                finding("line ", line->number, " of a log is nothing");
            }
            if (!is_modest(line->content)) {
                return;
            }
            any = true;
        }
        if (!any) {
            return;
        }
        pi_run::Replay replay("host", true, [](const std::string &line) {
            if (line.empty()) {
                finding("a call is not printed");
            }
        });
        pi_run::Log again(file.path());
        replay.run(again);
    } catch (const pi_run::Refusal &refusal) {
        if (std::string_view(refusal.what()).empty()) {
            finding("a log is refused without a reason");
        }
    }
}

/// Whether a case can be run here: no large numbers, and nothing that waits for a gate.
bool is_modest(const std::string &text) {
    size_t digits = 0;
    for (const char letter : text) {
        digits = std::isxdigit(static_cast<unsigned char>(letter)) != 0 ? digits + 1 : 0;
        if (digits > 5) {
            return false;
        }
    }
    return std::none_of(std::begin(immodest), std::end(immodest),
                        [&](const char *word) { return text.find(word) != std::string::npos; });
}

void read_case(const std::string &text) {
    const pi_test::TextFile file(text);
    try {
        const pi_run::Case parsed(text);
        if (is_modest(text)) {
            pi_run::run_case_file(file.path(), "host");
        }
    } catch (const pi_run::Refusal &refusal) {
        if (std::string_view(refusal.what()).empty()) {
            finding("a case is refused without a reason");
        }
    }
}

void read_expectations(const std::string &text) {
    std::istringstream stream(text);
    suite::Expectations expectations;
    expectations.read(stream, "some.expect", {});
}

} // namespace

std::vector<std::vector<uint8_t>> generated_inputs() {
    return {};
}

} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const std::string text(reinterpret_cast<const char *>(data), size);
    pi::fuzz::read_machine(text);
    pi::fuzz::read_costs(text);
    pi::fuzz::read_expectations(text);
    pi::fuzz::read_log(text);
    pi::fuzz::read_case(text);
    return 0;
}
