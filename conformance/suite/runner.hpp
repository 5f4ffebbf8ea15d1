// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "options.hpp"
#include "verdict.hpp"

#include <functional>
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
};

/// Asks the plugin for its devices, in a process of its own.
Discovery discover_devices(const Options &options);

/// The laws that the options want.
std::vector<Law> wanted_laws(const Options &options);

/// Each law on each device; laws of pairs on each ordered pair of places.
std::vector<Case> make_cases(const std::vector<Law> &laws, const std::vector<NamedDevice> &devices);

/// Runs the cases, options.jobs at a time, and tells of each one when it is done (one at a time). Without
/// options.fail_fast all of them; with it none is started after a failure, and those that were not run
/// are not among the results.
std::vector<TestResult> run_cases(const Options &options, const std::vector<Case> &cases,
                                  const std::function<void(const TestResult &)> &done);

/// What to type to run this one again.
std::string command_of(const Options &options, const Case &test);

} // namespace pi::suite
