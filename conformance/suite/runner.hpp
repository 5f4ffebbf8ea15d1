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

/// What is there to test. `problem` says why it cannot be, or is "".
struct Discovery {
    std::string problem;
    std::string name;
    std::string path;
    std::vector<NamedDevice> devices;
    /// Of each device that --require names and that is not tested, why: a sentence.
    std::vector<std::string> missing;
};

/// Asks the plugin for its devices, in a process of its own, which is ended when a stop is asked for.
Discovery discover_devices(const Options &options, const std::stop_token &stop);

/// The tests that the options want.
std::vector<ConformanceTest> wanted_tests(const Options &options);

/// Each test on each device; tests of pairs on each ordered pair of places.
std::vector<TestCase> make_cases(const std::vector<ConformanceTest> &tests,
                                 const std::vector<NamedDevice> &devices);

/// What is told while cases run, one call at a time.
class RunListener {
public:
    virtual ~RunListener() = default;
    /// This case's first repetition begins.
    virtual void started(const TestCase &test_case) = 0;
    /// All its repetitions are done that are to be. Not called for a case that is not among the results.
    virtual void ended(const TestResult &result) = 0;
};

/// Runs each case options.repeat times, options.jobs at a time, and measures it by the expectations. The
/// seed of a repetition is options.seed plus the number of those before it. With options.fail_fast none
/// is started after a failure, and none after a stop was asked for, which ends those under way; a case
/// that has not failed and was not run as often as wished is not among the results then.
std::vector<TestResult> run_cases(const Options &options, const Expectations &expectations,
                                  const std::vector<TestCase> &cases, RunListener &listener,
                                  const std::stop_token &stop);

/// What to type to run this one again: the repetition that is told.
std::string command_of(const Options &options, const TestResult &result);

} // namespace pi::suite
