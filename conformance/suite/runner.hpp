// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "expectations.hpp"
#include "options.hpp"
#include "verdict.hpp"

#include <stop_token>
#include <string>
#include <vector>

namespace pi::suite {

struct NamedDevice {
    std::string selector;
    std::string name;
};

/// The plugin and its devices. `problem` says why they cannot be tested, or is "".
struct Discovery {
    std::string problem;
    std::string name;
    std::string path;
    std::vector<NamedDevice> devices;
    /// One sentence for each device of --require that is not tested: the reason.
    std::vector<std::string> missing;
};

/// Lists the plugin's devices, in a process of its own, which a stop request ends.
Discovery discover_devices(const Options &options, const std::stop_token &stop);

/// The tests that the options select.
std::vector<ConformanceTest> wanted_tests(const Options &options);

/// Each test on each device; tests of pairs on each ordered pair of places.
std::vector<TestCase> make_cases(const std::vector<ConformanceTest> &tests,
                                 const std::vector<NamedDevice> &devices);

/// Called while cases run, one call at a time.
class RunListener {
public:
    virtual ~RunListener() = default;
    /// The case's first repetition begins.
    virtual void started(const TestCase &test_case) = 0;
    /// Its last repetition is done. Not called for a case that is not among the results.
    virtual void ended(const TestResult &result) = 0;
};

/// Runs each case options.repeat times, options.jobs at a time, and compares it with the
/// expectations. The seed of a repetition is options.seed plus the number of those before it. No
/// case starts after a stop request, which also ends running cases, or after a failure with
/// options.fail_fast; then a case that has not failed and has repetitions left is not among the
/// results.
std::vector<TestResult> run_cases(const Options &options, const Expectations &expectations,
                                  const std::vector<TestCase> &cases, RunListener &listener,
                                  const std::stop_token &stop);

/// The command that repeats the reported repetition.
std::string command_of(const Options &options, const TestResult &result);

} // namespace pi::suite
