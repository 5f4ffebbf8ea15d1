// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "options.hpp"

#include "registry.hpp"

#include <pi/command_line/command_line.hpp>

#include <algorithm>
#include <charconv>
#include <iostream>
#include <random>
#include <regex>
#include <system_error>
#include <thread>

namespace pi::suite {
namespace {

std::string check_regex(const std::string &text) {
    try {
        const std::regex regex(text);
    } catch (const std::regex_error &error) {
        return std::string("not a regular expression: ") + error.what();
    }
    return "";
}

std::string check_selector(const std::string &text) {
    return text.empty() ? "a selector is empty, should be like opencl:0:1" : "";
}

// CLI11 accepts negative and too large numbers as others.
std::string check_seed(const std::string &text) {
    uint64_t seed = 0;
    const char *const end = text.data() + text.size();
    const std::from_chars_result read = std::from_chars(text.data(), end, seed);
    return read.ec != std::errc() || read.ptr != end ? "not a number from 0 to 2^64 - 1" : "";
}

void declare(CLI::App &app, Options &options) {
    app.add_option("--plugin", options.plugin,
                   "the plugin to test: a name (\"host\"), or the path of a file")
        ->type_name("NAME_OR_PATH");
    app.add_option("--device", options.device,
                   "the devices to test, plugin[:platform[:device]] and a comma between; all")
        ->type_name("SELECTOR");
    app.add_option("--filter", options.filter, "only tests whose \"area: sentence\" matches")
        ->type_name("REGEX")
        ->check(CLI::Validator(check_regex, ""));
    app.add_option("--area", options.areas, "only tests of this area; may be given again")
        ->type_name("AREA")
        ->check(CLI::IsMember(areas()));
    app.add_option("--seed", options.seed,
                   "the seed of all random choices; if absent, a new one, which is printed")
        ->check(CLI::Validator(check_seed, ""));
    app.add_option("--json", options.json_file, "writes the results to this file")
        ->type_name("FILE");
    app.add_option("--junit", options.junit_file, "writes the results to this file, as JUnit XML")
        ->type_name("FILE");
    app.add_option("--html", options.html_file, "writes the results to this file, as a page")
        ->type_name("FILE");
    app.add_option("--repeat", options.repeat, "how often each test is run, with seeds that differ")
        ->capture_default_str()
        ->check(CLI::Range(1u, 1000000u));
    app.add_option("--require", options.required,
                   "devices that must be among those tested, as for --device; may be given again")
        ->type_name("SELECTOR")
        ->allow_extra_args(false)
        ->check(CLI::Validator(check_selector, ""));
    app.add_option("--expect", options.expect_files,
                   "a file of tests that are unsupported or known to fail; may be given again")
        ->type_name("FILE")
        ->allow_extra_args(false);
    app.add_option("--jobs", options.jobs, "tests run at once; one a core")
        ->check(CLI::Range(1u, 1024u));
    app.add_option("--timeout", options.timeout, "seconds that one test may take")
        ->capture_default_str()
        ->check(CLI::Range(1u, 86400u));
    app.add_flag("--fail-fast", options.fail_fast,
                 "starts no test after a failure, and reports how many were not run");
    app.add_flag("--list", options.list, "lists the tests and runs none");
    CLI::Option *run_test =
        app.add_option("--run-test", options.run_test,
                       "runs one test, \"area: sentence\", in this process, as under a debugger")
            ->type_name("NAME");
    for (const char *of_runs : {"--filter", "--area", "--json", "--junit", "--html", "--repeat",
                                "--require", "--expect", "--jobs", "--fail-fast", "--list"})
        run_test->excludes(of_runs);
    app.add_option("--peer", options.peer,
                   "with --run-test of a pair: the second device, which may be the first")
        ->type_name("SELECTOR");
    app.add_option("--contexts", options.contexts, "with --peer: 1 or 2 contexts")
        ->check(CLI::Range(1u, 2u));
    app.add_flag("--discover", options.discover)->group("");
    app.add_option("--result-fd", options.result_fd)->group("");
}

command_line::Page page() {
    return {
        "pi-conformance",
        "tests a plugin against pi.h",
        {{"Tests",
          "Each test runs in a process of its own: one that crashes, hangs, or leaves objects, "
          "threads, processes or open files behind fails alone. A failed test prints the "
          "command that repeats it, with its seed. The last line is \"N "
          "passed, N failed, N skipped\". SIGINT and SIGTERM end the running tests; the "
          "reports have the results so far, and how many tests were not run.",
          {}},
         {"Areas",
          "A test's name is \"area: sentence\". Begin with the first areas: the later ones need "
          "what the earlier ones test.",
          {{"platform", "the plugin, its platforms and their infos"},
           {"device", "devices, sub-devices, their infos and memory scopes"},
           {"context", "contexts, and which devices they accept"},
           {"queue", "flush, finish, order, out-of-order queues, profiling"},
           {"memory", "buffers, views, maps, USM, imports, exports"},
           {"connection", "pairs of places: the connection query, and copies as it promises"},
           {"enqueue", "commands: regions, wait lists, what is refused; random programs"},
           {"program, kernel", "builds, links, launches and their arguments"},
           {"image, sampler", "formats, regions, views, filters"},
           {"event", "waits, callbacks, host events, failures along wait lists"},
           {"lifetime", "releases while commands run"},
           {"errors", "codes and texts of piGetLastError"},
           {"case", "the texts of conformance/cases, which pi-run runs alone"}}},
         {"One test",
          "The line that begins with \"again:\" below a failure is the command. It runs the test "
          "in "
          "its own process, so that a debugger stops in it: gdb -args pi-conformance --plugin P "
          "--run-test \"memory: ...\" --seed N. --filter with a part of the sentence runs the same "
          "test with its time limit and checks for leaks.",
          {}},
         {"Seeds",
          "Random sizes, regions and programs depend on --seed and the test's name, not on the "
          "other "
          "tests or on --jobs: the same seed repeats a failure. --repeat adds 1 to the "
          "seed for each repetition.",
          {}},
         {"Verdicts",
          "A failure begins with its kind, or with what did not hold.",
          {{"crash:", "a signal ended the test; the calls are in its output"},
           {"hang:", "a function has not returned, or a command is not complete, in time"},
           {"leak:", "objects, threads, files or processes were left at the loader's release"},
           {"ended with exit code", "something else ended the process: a sanitizer, whose summary "
                                    "follows, or an exit in the plugin"}}}},
        {{0, "nothing failed"},
         {1, "something failed, passed although it was expected to fail, or could not be tested: "
             "there is no "
             "such plugin, a required device is absent, a report cannot be written; or a signal "
             "ended the run"},
         {2, "the command line, or a file of expectations, was not understood"}},
        {{"pi-conformance --plugin host",
          "Tests the plugin that a program would find by that name."},
         {"pi-conformance --plugin ./libpi_plugin_acme.so --area memory --json results.json",
          "Tests a file, in one area, and keeps the results for other programs."},
         {"pi-conformance --plugin ./libpi_plugin_acme.so --fail-fast",
          "Stops at the first failure: for a plugin that is being written."},
         {"pi-conformance --list --area queue", "Prints the names of the tests of queues."}},
        {"pi-info", "pi-bench"}};
}

} // namespace

std::optional<Options> parse_options(int argc, char **argv, int &exit_code) {
    Options options;
    std::random_device chance;
    // Short enough to be typed again.
    options.seed = chance();
    options.jobs = std::max(1u, std::thread::hardware_concurrency());

    CLI::App app;
    const command_line::Page all = page();
    command_line::describe(app, all);
    declare(app, options);
    if (const std::optional<int> code = command_line::parse(app, all, argc, argv)) {
        exit_code = *code;
        return std::nullopt;
    }
    if (options.plugin.empty() && !options.list) {
        app.exit(CLI::RequiredError("--plugin"));
        exit_code = command_line::misunderstood;
        return std::nullopt;
    }
    return options;
}

} // namespace pi::suite
