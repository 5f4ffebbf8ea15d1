// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text, as each of those that people give to a loader: a device selector, a specification of faults, the value of each
// option. It is understood or refused with a sentence; and what is told of an understood one is understood again.
#include "input.hpp"

#include "config.hpp"
#include "layers/fault/specification.hpp"
#include "selector.hpp"

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

} // namespace
} // namespace pi::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    // Where a text from outside ends at the first 0, these do.
    const std::string_view all(reinterpret_cast<const char *>(data), size);
    const std::string_view text = all.substr(0, all.find('\0'));
    pi::fuzz::select(text);
    pi::fuzz::plan_faults(text);
    pi::fuzz::set_options(text);
    return 0;
}
