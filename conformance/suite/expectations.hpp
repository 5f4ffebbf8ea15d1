// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Expectations of a plugin's author, in files of lines
//
//     # a comment
//     memory: a pool *                         | unsupported | the driver has no pools
//     event: * on acme:1:*                     | xfail       | ticket 812
//
// A pattern (glob.hpp) matches "area: sentence" of a test, or that with its place, "area: sentence
// on acme:0:0" (of pairs: "... on acme:0:0 -> acme:0:1, one context"). The first line that matches
// a test counts, in the order of the files and of their lines.
//
//     expected      the test passes     fails                  is skipped
//     nothing       passed              failed                 skipped
//     xfail         failed: unexpected  xfail, however it      skipped
//                                       failed (a crash, ...)
//     unsupported   failed: it ran      failed: it ran         skipped
#pragma once

#include "verdict.hpp"

#include <istream>
#include <string>
#include <vector>

namespace pi::suite {

/// One line.
struct Expectation {
    enum class Kind { unsupported, xfail };
    std::string pattern;
    Kind kind = Kind::unsupported;
    std::string reason;
    std::string where; // "acme.expect:12"

    bool matches(const TestCase &test_case) const;
    /// Whether it can match the test on some device, of this machine or not.
    bool may_match(const ConformanceTest &test) const;
};

class Expectations {
public:
    /// Adds the lines of a file of this name. Invalid lines, and patterns that match none of the
    /// tests, are in problems().
    void read(std::istream &file, const std::string &name,
              const std::vector<ConformanceTest> &tests);
    /// Opens the file and reads it.
    void read_file(const std::string &name, const std::vector<ConformanceTest> &tests);

    /// A sentence for each error, with file and line; if there is one, do not run.
    const std::vector<std::string> &problems() const { return problems_; }

    /// The lines that match none of these cases: of devices of other machines.
    std::vector<Expectation> without_match(const std::vector<TestCase> &cases) const;

    /// Whether a failure of this test is xfail.
    bool may_fail(const TestCase &test_case) const;

    /// Changes a result by its expectation.
    void judge(TestResult &result) const;

private:
    const Expectation *find(const TestCase &test_case) const;

    std::vector<Expectation> lines_;
    std::vector<std::string> problems_;
};

} // namespace pi::suite
