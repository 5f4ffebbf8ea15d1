// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --repeat, on a toy that fails with even seeds.

#include "run_suite.hpp"

#include <catch2/catch.hpp>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <regex>

using nlohmann::json;

namespace {

constexpr const char *toy = "lies_at_even_seeds";

std::string only_faulty() {
    return std::string("--filter=") + faulty_test;
}

} // namespace

TEST_CASE(
    "a test that fails in one repetition has failed once, and says in which and by what seed") {
    Run run;
    const json report = report_of_toy(toy, {only_faulty(), "--seed=5", "--repeat=3"}, run);
    INFO(run.output);
    CHECK(run.exit_code == 1);
    CHECK(run.last_line == "0 passed, 1 failed, 0 skipped");
    REQUIRE(report.at("tests").size() == 1);
    const json test = report.at("tests").at(0);
    CHECK(test.at("repetition") == 2);
    CHECK(test.at("seed") == 6);
    CHECK(test.at("failures") == 1);
    CHECK(test.at("reason").get<std::string>().rfind("repetition 2 of 3, seed 6: ", 0) == 0);
    CHECK(report.at("repeat") == 3);
    CHECK(report.at("seed") == 5);
}

TEST_CASE("the first of several failed repetitions is reported, and their number") {
    Run run;
    const json report =
        report_of_toy(toy, {only_faulty(), "--seed=1", "--repeat=6", "--jobs=4"}, run);
    INFO(run.output);
    const json test = test_of(report, faulty_test);
    CHECK(test.at("failures") == 3);
    CHECK(test.at("repetition") == 2);
    CHECK(run.output.find("repetition 2 of 6, seed 2, the first of 3 that failed: ") !=
          std::string::npos);
}

TEST_CASE("a test that passes each time counts once") {
    Run run;
    const json report = report_of_toy("honest", {"--repeat=3", "--seed=8"}, run);
    INFO(run.output);
    Run once;
    const json alone = report_of_toy("honest", {"--seed=8"}, once);
    CHECK(run.exit_code == 0);
    CHECK(run.last_line == once.last_line);
    CHECK(report.at("tests").size() == alone.at("tests").size());
    for (const json &test : report.at("tests")) {
        CHECK_FALSE(test.contains("failures"));
        CHECK(test.at("seed") == 8);
    }
}

TEST_CASE("the printed command repeats the failed repetition alone") {
    Run run;
    const json report = report_of_toy(toy, {only_faulty(), "--seed=5", "--repeat=3"}, run);
    const auto again = test_of(report, faulty_test).at("again").get<std::string>();
    CHECK(without_variables(again) ==
          "pi-conformance --plugin " + toy_file(toy) +
              " --device template:0:0 --run-test 'context: " + faulty_test + "' --seed 6");
    CHECK(run.output.find("again: " + again + "\n") != std::string::npos);
    const auto run_test = [](const char *seed) {
        return run_suite({"--plugin", toy_file(toy), "--device", "template:0:0", "--run-test",
                          std::string("context: ") + faulty_test, "--seed", seed});
    };
    CHECK(run_test("6").exit_code == 1);
    CHECK(run_test("5").exit_code == 0);
}

TEST_CASE("--fail-fast starts no further repetition, and a test that was cut short without a "
          "failure was not run") {
    Run run;
    const json report =
        report_of_toy(toy,
                      {"--seed=5", "--repeat=50", "--fail-fast", "--jobs=1",
                       "--filter=every info name by its type|contexts of one device"},
                      run);
    INFO(run.output);
    CHECK(run.exit_code == 1);
    REQUIRE(report.at("tests").size() == 1);
    CHECK(report.at("tests").at(0).at("repetition") == 2);
    CHECK(report.at("not_run") == 1);
    CHECK(run.output.find("[1 of 2] failed: ") != std::string::npos);
}

#ifndef PI_SANITIZED // a sanitizer needs memory of its own
TEST_CASE("the output of repetitions that are not reported is not stored") {
    // Each prints more than is stored of one.
    const std::string plugin = "--plugin=" + toy_file("floods");
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        execl(PI_CONFORMANCE, "pi-conformance", plugin.c_str(), "--repeat=160", "--jobs=2",
              "--filter=a context has the devices that", nullptr);
        _exit(127);
    }
    int status = 0;
    rusage used{};
    REQUIRE(wait4(pid, &status, 0, &used) == pid);
    CHECK(status == 0);
    CHECK(used.ru_maxrss < 32 * 1024); // in KiB, the most that one of its processes had
}
#endif
