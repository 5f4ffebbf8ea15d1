// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "registry.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>

namespace pi::suite {
namespace {

// Filled by the registrations before main, only read afterwards.
std::vector<Law> &registered() {
    static std::vector<Law> laws;
    return laws;
}

} // namespace

std::string Law::id() const {
    return std::string(area) + ": " + name;
}

const std::vector<std::string> &areas() {
    static const std::vector<std::string> names{
        "platform", "device", "context", "queue",   "memory", "connection", "enqueue",
        "program",  "kernel", "image",   "sampler", "event",  "lifetime",   "errors"};
    return names;
}

std::vector<Law> all_laws() {
    std::vector<Law> laws = registered();
    std::set<std::string> ids;
    const auto place = [](const Law &law) {
        const auto found = std::find(areas().begin(), areas().end(), law.area);
        if (found == areas().end())
            throw std::logic_error("there is no area of the law \"" + law.id() + "\"");
        return found - areas().begin();
    };
    for (const Law &law : laws) {
        place(law);
        if (!ids.insert(law.id()).second)
            throw std::logic_error("two laws are called \"" + law.id() + "\"");
    }
    std::stable_sort(laws.begin(), laws.end(),
                     [&](const Law &a, const Law &b) { return place(a) < place(b); });
    return laws;
}

Registration::Registration(Law law) {
    registered().push_back(law);
}

} // namespace pi::suite
