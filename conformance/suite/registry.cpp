// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "registry.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>

namespace pi::suite {
namespace {

// Filled by the registrations before main, only read afterwards.
std::vector<ConformanceTest> &registered() {
    static std::vector<ConformanceTest> tests;
    return tests;
}

} // namespace

std::string ConformanceTest::id() const {
    return std::string(area) + ": " + name;
}

const std::vector<std::string> &areas() {
    static const std::vector<std::string> names{
        "platform", "device", "context", "queue", "memory",   "connection", "enqueue", "program",
        "kernel",   "image",  "sampler", "event", "lifetime", "errors",     "case"};
    return names;
}

std::vector<ConformanceTest> all_tests() {
    std::vector<ConformanceTest> tests = registered();
    std::set<std::string> ids;
    const auto place = [](const ConformanceTest &test) {
        const auto found = std::find(areas().begin(), areas().end(), test.area);
        if (found == areas().end())
            throw std::logic_error("unknown area of the test \"" + test.id() + "\"");
        return found - areas().begin();
    };
    for (const ConformanceTest &test : tests) {
        place(test);
        if (!ids.insert(test.id()).second)
            throw std::logic_error("two tests have the name \"" + test.id() + "\"");
    }
    std::stable_sort(
        tests.begin(), tests.end(),
        [&](const ConformanceTest &a, const ConformanceTest &b) { return place(a) < place(b); });
    return tests;
}

Registration::Registration(ConformanceTest test) {
    registered().push_back(std::move(test));
}

} // namespace pi::suite
