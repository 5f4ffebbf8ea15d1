// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-conformance: tests a plugin against the laws of pi.h. This process never loads the plugin: each
// test does, in a process of its own.

#include "child.hpp"
#include "expectations.hpp"
#include "interruption.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "report.hpp"
#include "runner.hpp"
#include "text.hpp"

#include <ctime>
#include <exception>
#include <fstream>
#include <iostream>
#include <unistd.h>

namespace {

using namespace pi::suite;

int list_laws(const std::vector<Law> &laws) {
    for (const Law &law : laws)
        std::cout << law.id() << (law.of_pairs ? " [pairs]" : "") << '\n';
    return 0;
}

// False when there is nothing to tell.
bool tell(const std::vector<std::string> &sentences) {
    for (const std::string &sentence : sentences)
        std::cerr << sentence << '\n';
    return !sentences.empty();
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

int run_suite(const Options &options) {
    const std::vector<Law> laws = wanted_laws(options);
    if (options.list)
        return list_laws(laws);
    if (laws.empty()) {
        std::cerr << "no test is called like that; --list tells them\n";
        return 2;
    }
    Expectations expectations;
    for (const std::string &file : options.expect_files)
        expectations.read_file(file, all_laws());
    if (tell(expectations.problems()))
        return 2;
    const Discovery found = discover_devices(options);
    if (!found.problem.empty()) {
        std::cerr << "plugin " << options.plugin << ": " << found.problem << '\n';
        for (const std::string &selector : options.required)
            std::cerr << "--require " << selector << ": there is no device at all\n";
        return 1;
    }
    if (tell(found.missing))
        return 1;
    const bool terminal = isatty(STDOUT_FILENO) != 0;
    const std::vector<Case> cases = make_cases(laws, found.devices);
    std::cout << "plugin " << found.name << " (" << found.path << "), " << cases.size()
              << " tests on " << found.devices.size()
              << (found.devices.size() == 1 ? " device" : " devices")
              << (options.repeat > 1 ? join(", ", options.repeat, " times") : "") << ", seed "
              << options.seed << std::endl;
    const std::time_t begin = std::time(nullptr);
    const char *stopped_by = "";
    const std::vector<TestResult> results = [&] {
        const Interruption interruption;
        std::vector<TestResult> found_so_far;
        {
            Progress progress(cases.size(), progress_columns());
            found_so_far = run_cases(options, expectations, cases, progress, interruption.token());
        }
        stopped_by = interruption.signal_name();
        return found_so_far;
    }();
    const std::vector<Expectation> without_match =
        expectations.without_match(make_cases(all_laws(), found.devices));
    const Report report{options,    found, results, without_match, cases.size() - results.size(),
                        stopped_by, begin};
    bool written =
        write_file(options.json_file, [&](std::ostream &out) { write_json(out, report); });
    written &= write_file(options.junit_file, [&](std::ostream &out) { write_junit(out, report); });
    written &= write_file(options.html_file, [&](std::ostream &out) { write_html(out, report); });
    print_report(std::cout, report, terminal);
    return count(results).failed == 0 && report.stopped_by.empty() && written ? 0 : 1;
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
        if (!options->run_test.empty())
            return run_test(*options);
        return run_suite(*options);
    } catch (const std::exception &exception) {
        std::cerr << "pi-conformance: " << exception.what() << '\n';
        return 1;
    }
}
