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

/// The outcome of one test, and the reason if it did not pass.
struct Verdict {
    Outcome outcome = Outcome::failed;
    std::string reason;
    /// The failure is a crash, a hang or an exit without a result.
    bool broke_off = false;
};

/// A conformance test on a device, or on a pair of places.
struct TestCase {
    ConformanceTest test;
    std::string device;
    std::string peer; // "" for a test of one device
    bool one_context = true;

    /// "opencl:0:0", or "opencl:0:0 -> opencl:0:1, two contexts"
    std::string place() const;
};

/// The result of a case that ran once or several times. It failed if one repetition failed, and is
/// skipped if all were skipped.
struct TestResult {
    TestCase test_case;
    Verdict verdict;
    std::string output;
    double seconds = 0; // of all repetitions together
    /// The repetition, from 1, of the verdict and the output, and its seed: the first that failed,
    /// else the first that was not skipped, else the first.
    unsigned repetition = 1;
    uint64_t seed = 0;
    /// How many repetitions failed.
    unsigned failures = 0;
    /// The line with its expectation, "acme.expect:12", or "".
    std::string expected_by;
};

} // namespace pi::suite
