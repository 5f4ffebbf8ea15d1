// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main of all unit tests: Catch2's runner and a listener that counts skipped test cases, which
// Catch2 2.x does not know of. Its last line is `N passed, N failed, N skipped`, in test cases.

#define CATCH_CONFIG_RUNNER
#define CATCH_CONFIG_EXTERNAL_INTERFACES
#include <catch2/catch.hpp>

#include "config.hpp"
#include "skip.hpp"
#include "soak.hpp"

#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace {

struct Counts {
    std::size_t passed = 0;
    std::size_t failed = 0;
    std::size_t skipped = 0;
    bool ran = false;
};

Counts counts;
std::string current_test;
bool current_skipped = false;
unsigned soak_seconds = 0;

void report_skip(std::string_view reason) {
    std::printf("skipped: %s: %.*s\n", current_test.c_str(), static_cast<int>(reason.size()),
                reason.data());
    std::fflush(stdout);
}

class SkipListener : public Catch::TestEventListenerBase {
public:
    using TestEventListenerBase::TestEventListenerBase;

    void testRunStarting(const Catch::TestRunInfo &) override { counts.ran = true; }

    void testCaseStarting(const Catch::TestCaseInfo &info) override {
        current_test = info.name;
        current_skipped = false;
    }

    void testCaseEnded(const Catch::TestCaseStats &stats) override {
        const Catch::Counts &cases = stats.totals.testCases;
        if (cases.failed > 0) {
            ++counts.failed;
        } else if (current_skipped) {
            ++counts.skipped;
        } else if (cases.failedButOk > 0) {
            report_skip("failed, as its tag allows");
            ++counts.skipped;
        } else {
            ++counts.passed;
        }
    }
};

CATCH_REGISTER_LISTENER(SkipListener)

} // namespace

void pi_test::skip(std::string_view reason) {
    current_skipped = true;
    report_skip(reason);
}

std::chrono::seconds pi_test::soak_time() {
    return std::chrono::seconds(soak_seconds);
}

int main(int argc, char **argv) {
    Catch::Session session;
    session.configData().rngSeed = pi_test::default_seed();
    session.cli(session.cli() |
                Catch::clara::Opt(soak_seconds, "seconds")["--soak"](
                    "how long each test of random programs goes on with new seeds"));
    int result = session.applyCommandLine(argc, argv);
    if (result == 0) {
        result = session.run();
    }
    // Not after --list-tests and the like.
    if (counts.ran) {
        std::printf("%zu passed, %zu failed, %zu skipped\n", counts.passed, counts.failed,
                    counts.skipped);
    }
    return result;
}
