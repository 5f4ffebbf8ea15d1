// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-run runs cases, and logs of the layer record again, on any plugin.
#include "cases.hpp"
#include "log.hpp"
#include "replay.hpp"
#include "to_case.hpp"

#include <fmt/format.h>
#include <pi/command_line/command_line.hpp>
#include <pi/describe/printable.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <fstream>
#include <vector>

namespace pi_run {
namespace {

enum ExitCode {
    same = 0,
    different = 1,
    misunderstood = pi::command_line::misunderstood,
    incomplete = 3,
    refused = 4
};

pi::command_line::Page page() {
    return {
        "pi-run",
        "runs cases and recorded logs, and reports the first result or byte that is wrong",
        {{"Cases",
          "A case is a text of at most some fifteen lines: places, calls, and the bytes and "
          "results "
          "that they must have. docs/report-a-bug.md shows how to write one. The N-th place of a "
          "case is on the N-th device of the selector, and begins again after the last one.",
          {}},
         {"Logs",
          "PI_LAYERS=record PI_RECORD_FILE=LOG program writes a log. pi-run makes its calls again "
          "in "
          "order, in one thread, and reports each result that differs. The N-th device that the "
          "log "
          "uses is the N-th device of the selector. Not run again are queries (...GetInfo and the "
          "like), waits that timed out, calls that were refused inside a callback, and callbacks "
          "themselves (the log has their calls). The layers of PI_LAYERS wrap the replay, which "
          "prints their names; none of them writes into the log. pi-replay is another name of this "
          "program.",
          {}},
         {"Devices",
          "A selector is a comma-separated list of plugin[:platform[:device]], numbers counted "
          "from "
          "0, '*' for any.",
          {}}},
        {{same, "all results and bytes are right"},
         {different, "some results or bytes differ"},
         {misunderstood, "invalid command line"},
         {incomplete, "nothing differs, but some calls or cases could not be run; the message says "
                      "why"},
         {refused, "a file cannot be read or is not understood, or the selector has too few "
                   "devices"}},
        {{"pi-run bug.pi --device sim:0:0,host", "Run a case on these two devices."},
         {"pi-run calls.jsonl --device sim,host:0:0",
          "Run the log on the first device of sim and on host:0:0."},
         {"pi-run --to-case calls.jsonl > bug.pi", "Write the log as a case."},
         {"pi-run --list calls.jsonl", "Print the log, one call per line."}},
        {"pi-info", "pi-conformance"}};
}

using pi::printable;

struct Options {
    std::vector<std::string> files;
    std::string device;
    bool check_data = false;
    bool list = false;
    bool to_case = false;
    uint64_t line = 0;
};

void report_truncation(const Log &log, const std::string &path) {
    if (log.cut())
        std::fprintf(
            stderr,
            "pi-run: %s:%llu: truncated line, ignored: the program ended while writing it\n",
            path.c_str(), static_cast<unsigned long long>(log.line_number()));
}

int list(const std::string &path) {
    Log log(path);
    while (const std::optional<Line> line = log.next())
        std::puts(printable(describe(*line)).c_str());
    report_truncation(log, path);
    return same;
}

int print_case(const std::string &path, uint64_t line) {
    Log log(path);
    const Converted converted = to_case(log, line);
    std::fputs(converted.text.c_str(), stdout);
    report_truncation(log, path);
    for (const std::string &why : converted.left_out)
        std::fprintf(stderr, "pi-run: %s: %s\n", path.c_str(), printable(why).c_str());
    return converted.left_out.empty() ? same : incomplete;
}

// Prints the layers, in case they were enabled by mistake.
void print_layers(const std::string &layers) {
    if (!layers.empty())
        std::fprintf(stderr, "pi-run: PI_LAYERS=%s: the replay runs with these layers\n",
                     printable(layers).c_str());
}

int replay(const std::string &path, const Options &options) {
    Log log(path);
    Replay replay(options.device, options.check_data, [&](const std::string &text) {
        std::printf("%s:%s\n", path.c_str(), printable(text).c_str());
    });
    print_layers(replay.layers());
    replay.run(log);
    report_truncation(log, path);
    const Counts &counts = replay.counts();
    std::printf("calls run: %llu; other result: %llu; other bytes: %llu; could not run: %llu\n",
                static_cast<unsigned long long>(counts.run),
                static_cast<unsigned long long>(counts.different),
                static_cast<unsigned long long>(counts.other_bytes),
                static_cast<unsigned long long>(counts.could_not_run));
    if (options.check_data)
        std::printf("reads compared: %llu; not compared because they do not block: %llu\n",
                    static_cast<unsigned long long>(counts.compared),
                    static_cast<unsigned long long>(counts.not_compared));
    if (counts.unknown != 0)
        std::printf("reads not compared because earlier calls could not run: %llu\n",
                    static_cast<unsigned long long>(counts.unknown));
    if (counts.different != 0 || counts.other_bytes != 0)
        return different;
    return counts.could_not_run != 0 ? incomplete : same;
}

int run_case(const std::string &path, const Options &options) {
    const CaseResult result = run_case_file(path, options.device);
    switch (result.verdict) {
    case Verdict::passed:
        std::printf("%s: passed\n", path.c_str());
        return same;
    case Verdict::failed:
        std::printf("%s:%llu: failed: %s\n", path.c_str(),
                    static_cast<unsigned long long>(result.line), printable(result.text).c_str());
        return different;
    default:
        std::printf("%s:%llu: not supported: %s\n", path.c_str(),
                    static_cast<unsigned long long>(result.line), printable(result.text).c_str());
        return incomplete;
    }
}

bool is_log(const std::string &path) {
    return std::ifstream(path).peek() == '{';
}

int run_file(const std::string &path, const Options &options) {
    try {
        if (options.list)
            return list(path);
        if (options.to_case)
            return print_case(path, options.line);
        return is_log(path) ? replay(path, options) : run_case(path, options);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        const std::string text = error.what();
        const bool names_file = text.starts_with(path);
        std::fprintf(stderr, "pi-run: %s%s%s\n", names_file ? "" : path.c_str(),
                     names_file ? "" : ": ", printable(text).c_str());
        return refused;
    }
}

int run(int argc, char **argv) {
    Options options;
    CLI::App app;
    const pi::command_line::Page all = page();
    pi::command_line::describe(app, all);
    app.add_option("FILES", options.files, "Cases, or logs of the layer record")
        ->required()
        ->type_name("FILE");
    app.add_option("--device", options.device,
                   "Devices to run it on; default: those of PI_DEVICE_SELECTOR, else all")
        ->type_name("SELECTOR");
    auto *check = app.add_flag("--check-data", options.check_data,
                               "Logs: also compare the bytes of blocking reads and maps");
    auto *list =
        app.add_flag("--list", options.list, "Print a log, one call per line, and run nothing");
    auto *to_case =
        app.add_flag("--to-case", options.to_case, "Print a log as a case, and run nothing");
    app.add_option("--line", options.line,
                   "With --to-case: only the call of that line, and what it depends on")
        ->needs(to_case);
    list->excludes(check)->excludes(to_case);
    if (const std::optional<int> exit_code = pi::command_line::parse(app, all, argc, argv))
        return *exit_code;
    // The worst of all files.
    constexpr std::array ranks{same, incomplete, different, refused};
    auto worst = ranks.begin();
    for (const std::string &file : options.files)
        worst = std::max(worst, std::find(ranks.begin(), ranks.end(), run_file(file, options)));
    return *worst;
}

} // namespace
} // namespace pi_run

int main(int argc, char **argv) {
    try {
        return pi_run::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "pi-run: %s\n", pi::printable(error.what()).c_str());
        return pi_run::refused;
    }
}
