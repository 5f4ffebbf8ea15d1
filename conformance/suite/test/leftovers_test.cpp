// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads and file descriptors that outlive the loader.

#include "run_suite.hpp"

#include <catch2/catch.hpp>

#include <regex>

namespace {

// A test that makes one context.
Run run_on(const char *toy, std::vector<std::string> arguments = {}) {
    arguments.push_back("--plugin=" + toy_file(toy));
    arguments.emplace_back("--filter=a context has the devices that");
    return run_suite(arguments);
}

} // namespace

TEST_CASE("a thread that each use leaves is a failure with its name") {
    const Run run = run_on("leaves_thread");
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("leak: each use leaves more behind the loader's release: ") !=
          std::string::npos);
    CHECK(run.output.find("toy-worker)\n") != std::string::npos);
    CHECK(run.output.find("file descriptor") == std::string::npos);
}

TEST_CASE("a thread that stays in a call of the driver is a hang of that call, not a leak") {
    const Run run = run_on("hangs_in_driver");
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(std::regex_search(
        run.output, std::regex("\n    hang: toyDriverSynchronize \\(libtoy_driver\\.so\\) has "
                               "not returned after [0-9]+ s; each use leaves more")));
    CHECK(run.output.find("leak: ") == std::string::npos);
}

TEST_CASE("a file descriptor that each use leaves is a failure with its target") {
    const Run run = run_on("leaves_file");
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("leak: each use leaves more behind the loader's release: ") !=
          std::string::npos);
    CHECK(run.output.find("/dev/null)\n") != std::string::npos);
    CHECK(run.output.find(" thread") == std::string::npos);
}

TEST_CASE("resources that a library keeps once per process are not a failure") {
    const Run run = run_toy("keeps_both", {});
    INFO(run.output);
    CHECK(run.exit_code == 0);
}

TEST_CASE("the command that repeats a test finds leaks, too") {
    const Run run =
        run_suite({"--plugin=" + toy_file("leaves_file"), "--device=template:0:0",
                   "--run-test=context: a context of no devices is refused", "--seed=1"});
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("leak: each use leaves more") != std::string::npos);
}

TEST_CASE("a test with a timeout of a few seconds is checked for leaks, too") {
    for (const char *toy : {"leaves_thread", "leaves_file"}) {
        const Run run = run_on(toy, {"--timeout=3"});
        INFO(run.output);
        CHECK(run.exit_code == 1);
        CHECK(run.output.find("leak: each use leaves more") != std::string::npos);
    }
}

TEST_CASE(
    "a process that each use leaves is a failure with its name, and ended, whatever its group") {
    const Run run = run_on("leaves_process");
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.output.find("leak: each use leaves more behind the loader's release: 1 process (") !=
          std::string::npos);
    CHECK(processes_with(toy_file("leaves_process")) == 0);
}
