// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-conformance: tests a plugin against pi.h. This process never loads the plugin: each
// test does, in a process of its own.

#include "child.hpp"
#include "expectations.hpp"
#include "interruption.hpp"
#include "options.hpp"
#include "process.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "text.hpp"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <unistd.h>

namespace {

using namespace pi::suite;

// Without a terminal.
constexpr std::chrono::seconds longest_silence{15};

int list_tests(const std::vector<ConformanceTest> &tests) {
    for (const ConformanceTest &test : tests)
        std::cout << test.id() << (test.of_pairs ? " [pairs]" : "") << '\n';
    return 0;
}

template <typename Write>
bool write_file(const std::string &path, Write &&write) {
    if (path.empty())
        return true;
    std::ofstream file(path);
    write(file);
    file.close();
    if (!file)
        std::cerr << "cannot write " << path << '\n';
    return static_cast<bool>(file);
}

// The devices and results of a run.
struct Run {
    std::time_t begin = std::time(nullptr);
    Discovery found;
    std::vector<TestCase> cases;
    std::vector<TestResult> results;
    const char *stopped_by = ""; // a signal's name
};

void print_begin(const Options &options, const Run &run) {
    std::cout << "plugin " << run.found.name << " (" << run.found.path << "), " << run.cases.size()
              << " tests on " << run.found.devices.size()
              << (run.found.devices.size() == 1 ? " device" : " devices")
              << (options.repeat > 1 ? join(", ", options.repeat, " times") : "") << ", seed "
              << options.seed << std::endl;
}

// Runs no test if the plugin cannot be tested, or a required device is absent.
Run run_tests(const Options &options, const std::vector<ConformanceTest> &tests,
              const Expectations &expectations) {
    const Interruption interruption;
    end_what_programs_leave();
    Run run;
    run.found = discover_devices(options, interruption.token());
    if (run.found.problem.empty() && run.found.missing.empty()) {
        run.cases = make_cases(tests, run.found.devices);
        print_begin(options, run);
        Progress progress(run.cases.size(), progress_columns(),
                          std::min(longest_silence, std::chrono::seconds(options.timeout)));
        run.results = run_cases(options, expectations, run.cases, progress, interruption.token());
    }
    run.stopped_by = interruption.signal_name();
    return run;
}

// Why no test was run: sentences, or none.
std::vector<std::string> why_none(const Options &options, const Run &run) {
    if (run.found.problem.empty())
        return run.found.missing;
    const std::string plugin = "plugin " + options.plugin + ": ";
    if (*run.stopped_by != '\0')
        return {join(plugin, run.stopped_by, " came while its devices were listed")};
    std::vector<std::string> sentences{plugin + run.found.problem};
    for (const std::string &selector : options.required)
        sentences.push_back(join("--require ", selector, ": there is no device at all"));
    return sentences;
}

// False when a file cannot be written.
bool write_files(const Report &report) {
    const Options &options = report.options;
    bool written =
        write_file(options.json_file, [&](std::ostream &out) { write_json(out, report); });
    written &= write_file(options.junit_file, [&](std::ostream &out) { write_junit(out, report); });
    written &= write_file(options.html_file, [&](std::ostream &out) { write_html(out, report); });
    return written;
}

// Reports why no test was run, also in the files: reports of an earlier run would be confused with
// it.
void report_problem(const Options &options, const Run &run,
                    const std::vector<std::string> &sentences) {
    std::string problem;
    for (const std::string &sentence : sentences) {
        std::cerr << sentence << '\n';
        problem += (problem.empty() ? "" : "\n") + sentence;
    }
    const std::vector<Expectation> none;
    write_files({options, run.found, run.results, none, 0, run.stopped_by, run.begin, problem});
}

// The output is lost, so the run must not count as a success.
int cannot_print(int exit_code) {
    std::cerr << "cannot write to standard output\n";
    return std::max(exit_code, 1);
}

int run_suite(const Options &options) {
    const std::vector<ConformanceTest> tests = wanted_tests(options);
    if (tests.empty()) {
        report_problem(options, {}, {"no test matches; --list prints all"});
        return 2;
    }
    if (options.list)
        return list_tests(tests);
    Expectations expectations;
    for (const std::string &file : options.expect_files)
        expectations.read_file(file, all_tests());
    if (!expectations.problems().empty()) {
        report_problem(options, {}, expectations.problems());
        return 2;
    }
    const Run run = run_tests(options, tests, expectations);
    if (const std::vector<std::string> sentences = why_none(options, run); !sentences.empty()) {
        report_problem(options, run, sentences);
        return 1;
    }
    const std::vector<Expectation> without_match =
        expectations.without_match(make_cases(all_tests(), run.found.devices));
    const std::size_t not_run = run.cases.size() - run.results.size();
    const Report report{options, run.found,      run.results, without_match,
                        not_run, run.stopped_by, run.begin,   ""};
    const bool written = write_files(report);
    print_report(std::cout, report, isatty(STDOUT_FILENO) != 0);
    return count(run.results).failed == 0 && report.stopped_by.empty() && written ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
    int exit_code = 0;
    const std::optional<Options> options = parse_options(argc, argv, exit_code);
    if (!options)
        return exit_code;
    try {
        if (options->discover)
            return discover(*options);
        const int result = options->run_test.empty() ? run_suite(*options) : run_test(*options);
        // In a test's process a plugin may have broken standard output; the result is written
        // elsewhere.
        return options->result_fd >= 0 || std::cout.flush() ? result : cannot_print(result);
    } catch (const std::exception &exception) {
        std::cerr << "pi-conformance: " << exception.what() << '\n';
        return 1;
    }
}
