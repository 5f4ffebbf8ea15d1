// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite while one call of the plugin fails in each test, for every function. Each such test
// fails and names the function; the suite does not crash or hang, and its reports are complete.
#include "fault_sweep.hpp"
#include "run_suite.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <sstream>

namespace {

using nlohmann::json;
using pi_test::CallCounts;
using pi_test::Fault;

struct Plugin {
    std::string file;
    std::string device;
    std::string variable; ///< "PI_SIM_MACHINE=..."
};

/// A test and its calls of the plugin.
struct ConformanceTest {
    std::string id;
    bool of_pairs = false;
    CallCounts calls;

    uint64_t all_calls() const {
        uint64_t sum = 0;
        for (const auto &[function, count] : calls) {
            sum += count;
        }
        return sum;
    }
};

std::vector<ConformanceTest> find_tests() {
    constexpr std::string_view pairs = " [pairs]";
    std::vector<ConformanceTest> tests;
    std::istringstream lines(run_suite({"--list"}).output);
    for (std::string line; std::getline(lines, line);) {
        ConformanceTest test{line, line.ends_with(pairs), {}};
        test.id.resize(line.size() - (test.of_pairs ? pairs.size() : 0));
        tests.push_back(std::move(test));
    }
    return tests;
}

/// Runs a test once without a fault and counts its calls.
void count_calls(const Plugin &plugin, ConformanceTest &test) {
    const TemporaryFile log(".jsonl");
    std::vector<std::string> arguments{"--plugin",    plugin.file,  "--device",
                                       plugin.device, "--run-test", test.id};
    if (test.of_pairs) {
        arguments.insert(arguments.end(), {"--peer", plugin.device, "--contexts", "1"});
    }
    run_suite(arguments, {plugin.variable, "PI_LAYERS=record", "PI_RECORD_FILE=" + log.path()});
    constexpr std::string_view key = "\"function\":\"";
    const std::string text = log.text();
    for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at)) {
        at += key.size();
        ++test.calls[text.substr(at, text.find('"', at) - at)];
    }
}

/// A run of the suite: some tests, and the call that fails in each of them.
struct Trial {
    Fault fault;
    std::vector<std::string> tests;
};

/// A regular expression for just these tests.
std::string filter_for(const std::vector<std::string> &tests) {
    std::string filter;
    for (const std::string &test : tests) {
        filter += filter.empty() ? "^(" : "|";
        for (const char c : test) {
            filter += std::string_view("^$\\.*+?()[]{}|").find(c) != std::string_view::npos
                          ? std::string("\\") + c
                          : std::string(1, c);
        }
    }
    return filter + ")$";
}

/// For every function: the shortest test that calls it and a random one, or all; the first and the
/// last call of the shortest test, or some of the longest.
std::vector<Trial> trials_for(const std::vector<ConformanceTest> &tests, bool all, unsigned seed) {
    std::mt19937 random(seed);
    std::map<std::string, std::vector<const ConformanceTest *>> callers;
    for (const ConformanceTest &test : tests) {
        for (const auto &[function, count] : test.calls) {
            callers[function].push_back(&test);
        }
    }
    std::vector<Trial> trials;
    for (auto &[function, by] : callers) {
        std::stable_sort(by.begin(), by.end(),
                         [](const ConformanceTest *a, const ConformanceTest *b) {
                             return a->all_calls() < b->all_calls();
                         });
        std::vector<std::string> ids{by.front()->id};
        uint64_t last = by.front()->calls.at(function);
        for (const ConformanceTest *test : by) {
            if (all && test != by.front()) {
                ids.push_back(test->id);
                last = std::max(last, test->calls.at(function));
            }
        }
        // The loader waits five seconds for leaked objects.
        const bool short_of_time = !all && Fault{function}.is_release();
        if (!all && !short_of_time && by.size() > 1) {
            ids.push_back(by[1 + random() % (by.size() - 1)]->id);
        }
        for (const uint64_t call :
             all ? pi_test::calls_to_fail(last, last < 6) : std::vector<uint64_t>{1, last}) {
            if (call == 1 || call != trials.back().fault.call) {
                trials.push_back({{function, call}, ids});
            }
            if (call == 1 && (last == 1 || short_of_time)) {
                break;
            }
        }
    }
    return trials;
}

/// The error in the report of a failed test, or "". The report need not name a release, as only
/// some tests check that releases succeed: it has the leak. Nor a signal, whose waiters are on
/// other threads.
std::string problem_of(const Fault &fault, const json &test) {
    const std::string reason = test.at("reason");
    const auto says = [&](const std::string &words) {
        return reason.find(words) != std::string::npos;
    };
    // Its process may crash afterwards: commands that it no longer waits for use released memory.
    for (const char *broken : {"crash: ", "hang: ", "ended with exit code"}) {
        if (reason.starts_with(broken) && !says("after this did not hold: ") &&
            !says("after it had failed: ")) {
            return reason;
        }
    }
    const bool reported = says(fault.function) || (fault.is_release() && says("leak: ")) ||
                          (fault.function == "piEventSignalHost" && says("PI_ERROR_TIMEOUT"));
    return reported ? "" : "no function's name: " + reason;
}

/// The error in the report of a run, or "".
std::string problem_of(const Fault &fault, const json &report, const Run &run) {
    std::map<std::string, unsigned> counts{{"passed", 0}, {"failed", 0}, {"skipped", 0}};
    for (const json &test : report.at("tests")) {
        ++counts[test.at("result")];
        const std::string problem = test.at("result") == "failed" ? problem_of(fault, test) : "";
        if (!problem.empty()) {
            return test.at("area").get<std::string>() + ": " + test.at("name").get<std::string>() +
                   ": " + problem;
        }
    }
    std::string last_line;
    for (const char *result : {"passed", "failed", "skipped"}) {
        if (report.at(result) != counts[result]) {
            return std::string("the report counts other ") + result + " than it lists";
        }
        last_line +=
            (last_line.empty() ? "" : ", ") + std::to_string(counts[result]) + " " + result;
    }
    if (run.last_line != last_line) {
        return "the last line is not " + last_line;
    }
    return run.exit_code != (counts["failed"] == 0 ? 0 : 1) ? "a wrong exit code" : "";
}

/// Runs the suite; returns an error, or "". Counts the runs in which a test failed.
std::string run_trial(const Plugin &plugin, const Trial &trial, std::atomic<unsigned> &failed) {
    const TemporaryFile json_file(".json");
    const TemporaryFile junit(".xml");
    const TemporaryFile html(".html");
    const Fault &fault = trial.fault;
    std::vector<std::string> variables{plugin.variable, "PI_LAYERS=fault",
                                       "PI_FAULT=" + fault.text()};
    if (fault.is_release()) {
        // A missing release is not a leak of ours.
        variables.push_back("ASAN_OPTIONS=detect_leaks=0");
    }
    const Run run =
        run_suite({"--plugin", plugin.file, "--device", plugin.device, "--filter",
                   filter_for(trial.tests), "--timeout", "90", "--json=" + json_file.path(),
                   "--junit=" + junit.path(), "--html=" + html.path()},
                  variables);
    const auto reported = [&](const std::string &problem) {
        return fault.text() + ": " + problem + "\n" + run.output;
    };
    failed += run.exit_code == 1 ? 1 : 0;
    if (run.exit_code != 0 && run.exit_code != 1) {
        return reported("exit code " + std::to_string(run.exit_code));
    }
    const json report = json::parse(json_file.text(), nullptr, false);
    if (report.is_discarded()) {
        return reported("no report");
    }
    std::string problem;
    if (report.at("problem") == "") {
        problem = problem_of(fault, report, run);
    } else {
        // No device could be found.
        const auto text = report.at("problem").get<std::string>();
        const bool named = text.find(fault.function + ": ") != std::string::npos;
        problem = run.exit_code == 1 && named ? "" : "not tested: " + text;
    }
    if (problem.empty()) {
        problem = xml_problem(junit.text());
    }
    if (problem.empty() && html.text().find("</html>") == std::string::npos) {
        problem = "a page without an end";
    }
    return problem.empty() ? "" : reported(problem);
}

Plugin draw_plugin() {
    return GENERATE(values<Plugin>(
        {{PI_TEST_HOST_PLUGIN, "host:0:0", "PI_SIM_MACHINE="},
         {PI_TEST_SIM_PLUGIN, "sim:0:0", "PI_SIM_MACHINE=" PI_TEST_MACHINES "/workstation.json"}}));
}

void sweep(const Plugin &plugin, bool all) {
    const unsigned seed = Catch::rngSeed();
    INFO(plugin.file << ", --rng-seed " << seed);
    std::vector<ConformanceTest> tests = find_tests();
    REQUIRE(tests.size() > 100);
    pi_test::in_parallel(tests.size(), [&](size_t i) { count_calls(plugin, tests[i]); });
    const std::vector<Trial> trials = trials_for(tests, all, seed);
    std::vector<std::string> problems(trials.size());
    std::atomic<unsigned> failed{0};
    pi_test::in_parallel(trials.size(),
                         [&](size_t i) { problems[i] = run_trial(plugin, trials[i], failed); });
    for (const std::string &problem : problems) {
        CHECK(problem == "");
    }
    CHECK(trials.size() > 100);
    CHECK(failed > trials.size() / 2); // the faults were met
}

} // namespace

TEST_CASE("the suite names the function whose call fails, and completes its report") {
    sweep(draw_plugin(), false);
}

TEST_CASE("the suite names the function whose call fails, for any call of all tests", "[.night]") {
    sweep(draw_plugin(), true);
}
