// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The registry of conformance tests. A test is a function with an area and a sentence:
//
//     CONFORMANCE_TEST("memory", "a copy moves every byte of its regions and no other") {
//         pi_queue queue = ...
//     }
//
// Its body uses `fixture` (fixture.hpp) and require() (require.hpp). It runs once for each device,
// each time in a process of its own. A CONFORMANCE_TEST_PAIRS runs for each ordered pair of places
// (device, context): fixture.src() and fixture.dst().
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace pi::suite {

class Fixture;

struct ConformanceTest {
    const char *area;
    const char *name;
    bool of_pairs;
    std::function<void(Fixture &fixture)> function;

    /// "memory: a copy moves every byte of its regions and no other"
    std::string id() const;
};

/// The areas, in the order of reports.
const std::vector<std::string> &areas();

/// All registered tests, by area. Throws std::logic_error if two have the same name or an area is
/// unknown.
std::vector<ConformanceTest> all_tests();

/// Registers a test before main begins.
struct Registration {
    explicit Registration(ConformanceTest test);
};

#define PI_SUITE_JOIN_(a, b) a##b
#define PI_SUITE_JOIN(a, b) PI_SUITE_JOIN_(a, b)
#define PI_SUITE_TEST(area, name, pairs, function)                                                 \
    static void function(::pi::suite::Fixture &fixture);                                           \
    static const ::pi::suite::Registration PI_SUITE_JOIN(function, _registration){                 \
        ::pi::suite::ConformanceTest{area, name, pairs, &function}};                               \
    static void function([[maybe_unused]] ::pi::suite::Fixture &fixture)

#define CONFORMANCE_TEST(area, name)                                                               \
    PI_SUITE_TEST(area, name, false, PI_SUITE_JOIN(test_, __LINE__))
#define CONFORMANCE_TEST_PAIRS(area, name)                                                         \
    PI_SUITE_TEST(area, name, true, PI_SUITE_JOIN(test_, __LINE__))

} // namespace pi::suite
