// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a plugin's author knows of a plugin, in files of lines
//
//     # a comment
//     memory: a pool *                         | unsupported | the driver has no pools
//     event: * on acme:1:*                     | xfail       | ticket 812
//
// A pattern (glob.hpp) matches a test when it matches "area: sentence", or that with its place,
// "area: sentence on acme:0:0" (of pairs: "... on acme:0:0 -> acme:0:1, one context"). Of several lines that
// match a test the first counts, in the order of the files and of the lines in them.
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

/// What one line says.
struct Expectation {
    enum class Kind { unsupported, xfail };
    std::string pattern;
    Kind kind = Kind::unsupported;
    std::string reason;
    std::string where; // "acme.expect:12"

    bool matches(const TestCase &test_case) const;
    /// Whether it matches the test on some device, which need not be on this machine.
    bool may_match(const ConformanceTest &test) const;
};

class Expectations {
public:
    /// Adds the lines of a file that is called so. Lines that are not understood, and patterns that match
    /// none of the tests, are told in problems().
    void read(std::istream &file, const std::string &name,
              const std::vector<ConformanceTest> &tests);
    /// The same with a file that is to be opened.
    void read_file(const std::string &name, const std::vector<ConformanceTest> &tests);

    /// A sentence for each mistake, with file and line; with one there must be no run.
    const std::vector<std::string> &problems() const { return problems_; }

    /// What matches none of these cases: of devices that are not here.
    std::vector<Expectation> without_match(const std::vector<TestCase> &cases) const;

    /// Whether a failure of this test is xfail.
    bool may_fail(const TestCase &test_case) const;

    /// Makes of a test's result what it is beside what is expected of it.
    void judge(TestResult &result) const;

private:
    const Expectation *find(const TestCase &test_case) const;

    std::vector<Expectation> lines_;
    std::vector<std::string> problems_;
};

} // namespace pi::suite
