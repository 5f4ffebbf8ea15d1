// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text, as each that people pass to a loader: a device selector, a specification of faults, the
// value of each option, a plugin's manifest. It is parsed or refused with a sentence; and what is
// parsed and printed can be parsed again.
#include "input.hpp"

#include "../support/temporary.hpp"

#include "config.hpp"
#include "discovery.hpp"
#include "layers/fault/specification.hpp"
#include "selector.hpp"
#include "text.hpp"

#include <filesystem>
#include <fstream>

namespace pi::fuzz {
namespace {

void select(std::string_view text) {
    std::vector<loader::SelectorElement> elements;
    if (!loader::parse_selector(text, elements).empty()) {
        return;
    }
    for (const loader::SelectorElement &element : elements) {
        std::vector<loader::SelectorElement> again;
        const std::string problem = loader::parse_selector(element.text, again);
        if (!problem.empty() || again.size() != 1) {
            finding("\"", element.text, "\" of a good selector is none: ", problem);
        }
        if (again[0].plugin != element.plugin || again[0].platform != element.platform ||
            again[0].device != element.device) {
            finding("\"", element.text, "\" means something else alone");
        }
    }
}

void plan_faults(std::string_view text) {
    std::vector<loader::fault::Fault> faults;
    if (!loader::fault::parse(text, faults).empty()) {
        return;
    }
    for (const loader::fault::Fault &fault : faults) {
        if (fault.first == 0 || fault.last < fault.first) {
            finding("\"", fault.text, "\" is for calls ", fault.first, " to ", fault.last);
        }
        std::vector<loader::fault::Fault> again;
        const std::string problem = loader::fault::parse(fault.text, again);
        if (!problem.empty() || again.size() != 1 || again[0].function != fault.function ||
            again[0].first != fault.first || again[0].last != fault.last ||
            again[0].action != fault.action || again[0].result != fault.result ||
            again[0].delay != fault.delay) {
            finding("\"", fault.text, "\" means something else alone: ", problem);
        }
    }
}

void set_options(std::string_view text) {
    for (const loader::Variable &variable : loader::variables()) {
        loader::Configuration configuration;
        const bool taken = configuration.set(variable.name, text).empty();
        const char *value = configuration.get(variable.name);
        if (taken && !text.empty() && (value == nullptr || value != text)) {
            finding(variable.name,
                    " was taken and is another one: ", value == nullptr ? "none" : value);
        }
        if (!taken && value != nullptr) {
            finding(variable.name, " was refused and is set: ", value);
        }
    }
}

/// A prefix like that of an installed PI, with one manifest.
class Prefix {
public:
    Prefix() {
        std::filesystem::create_directories(folder_ / "lib");
        std::filesystem::create_directories(folder_ / "share/pi/plugins.d");
    }
    loader::Candidate find(std::string_view manifest) const {
        std::ofstream(folder_ / "share/pi/plugins.d/some.json", std::ios::binary) << manifest;
        loader::Services services{
            .configuration = {}, .log = {PI_LOG_OFF, nullptr, nullptr}, .stall_warning_delay = {}};
        loader::SearchRequest request;
        request.loader_file = (folder_ / "lib/libpi_loader.so").string();
        const auto found = loader::find_plugins(request, services);
        if (found.size() != 1) {
            finding("a manifest gives ", found.size(), " plugins");
        }
        return found[0];
    }

private:
    pi_test::TemporaryFolder temporary_;
    const std::filesystem::path folder_ = temporary_.path();
};

void read_manifest(std::string_view text) {
    static const Prefix prefix;
    const loader::Candidate candidate = prefix.find(text);
    if (!candidate.reason.empty()) {
        return;
    }
    if (!loader::is_plugin_name(candidate.name)) {
        finding("a manifest's name is \"", candidate.name, "\"");
    }
    if (!candidate.path.starts_with('/') || candidate.path.find('\0') != std::string::npos) {
        finding("a manifest's path is \"", candidate.path, "\"");
    }
}

} // namespace

std::vector<std::vector<uint8_t>> generated_inputs() {
    return {};
}

} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // As texts from outside, these end at the first 0.
    const std::string_view all(reinterpret_cast<const char *>(data), size);
    const std::string_view text = all.substr(0, all.find('\0'));
    pi::fuzz::select(text);
    pi::fuzz::plan_faults(text);
    pi::fuzz::set_options(text);
    pi::fuzz::read_manifest(all);
    return 0;
}
