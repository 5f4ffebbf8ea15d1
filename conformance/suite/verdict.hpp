// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "registry.hpp"

#include <cstdint>
#include <string>

namespace pi::suite {

/// `xfail`: it failed, as a file of expectations says (expectations.hpp).
enum class Outcome { passed, failed, skipped, xfail };

/// "passed", "failed", "skipped", "xfail"
const char *outcome_name(Outcome outcome);

/// What became of one test, and why when it did not pass.
struct Verdict {
    Outcome outcome = Outcome::failed;
    std::string reason;
    /// Of a failure: the test did not end by itself with a result, but crashed, hung or left.
    bool broke_off = false;
};

/// A test on a device, or on a pair of places.
struct TestCase {
    ConformanceTest test;
    std::string device;
    std::string peer; // "" for a test of one device
    bool one_context = true;

    /// "opencl:0:0", or "opencl:0:0 -> opencl:0:1, two contexts"
    std::string place() const;
};

/// A case that has been run, once or several times. It has failed if it failed once, and is skipped if
/// it was skipped each time.
struct TestResult {
    TestCase test_case;
    Verdict verdict;
    std::string output;
    double seconds = 0; // of all repetitions together
    /// Which repetition, from 1, the verdict and the output are of, and its seed: the first that failed,
    /// or else the first that was not skipped, or else the first.
    unsigned repetition = 1;
    uint64_t seed = 0;
    /// How many repetitions failed.
    unsigned failures = 0;
    /// The line that says what is expected of it, "acme.expect:12", or "".
    std::string expected_by;
};

} // namespace pi::suite
