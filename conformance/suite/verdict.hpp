// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "registry.hpp"

#include <cstdint>
#include <string>

namespace pi::suite {

enum class Outcome { passed, failed, skipped };

/// "passed", "failed", "skipped"
const char *outcome_name(Outcome outcome);

/// What became of one test, and why when it did not pass.
struct Verdict {
    Outcome outcome = Outcome::failed;
    std::string reason;
    /// Of a failure: the test did not end by itself with a result, but crashed, hung or left.
    bool broke_off = false;
};

/// A law on a device, or on a pair of places.
struct Case {
    Law law;
    std::string device;
    std::string peer; // "" for a law of one device
    bool one_context = true;

    /// "opencl:0:0", or "opencl:0:0 -> opencl:0:1, two contexts"
    std::string place() const;
};

/// A case that has been run.
struct TestResult {
    Case test;
    Verdict verdict;
    std::string output;
    double seconds = 0;
};

} // namespace pi::suite
