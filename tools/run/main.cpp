// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-replay runs a log of the layer record again, on any plugin.
#include "log.hpp"
#include "replay.hpp"

#include <fmt/format.h>
#include <pi/command_line/command_line.hpp>
#include <pi/describe/printable.hpp>

#include <cstdio>
#include <exception>

namespace pi_replay {
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
        "pi-replay",
        "runs the calls of a log again and reports each result that differs",
        {{"Logs and devices",
          "PI_LAYERS=record PI_RECORD_FILE=LOG program writes a log. pi-replay runs its calls in "
          "order, in one thread. The N-th device that the log uses is the N-th device of the "
          "selector, a comma-separated list of plugin[:platform[:device]], numbers "
          "counted "
          "from 0, '*' for any. Not run again are queries (...GetInfo and the like), waits that "
          "timed out, calls that were refused inside a callback, and callbacks themselves (the log "
          "has their calls). The layers of PI_LAYERS wrap the replay, which prints their names; "
          "none of them writes into LOG.",
          {}}},
        {{same, "all calls had the results of the log"},
         {different, "some results or bytes differ"},
         {misunderstood, "invalid command line"},
         {incomplete, "no result differs, but some calls could not be run; the message says why"},
         {refused, "the log cannot be read, or the selector has too few devices"}},
        {{"pi-replay calls.jsonl --device sim,host:0:0",
          "Run the log on the first device of sim and on host:0:0."},
         {"pi-replay --list calls.jsonl", "Print the log, one call per line."}},
        {"pi-info", "pi-conformance"}};
}

using pi::printable;

struct Options {
    std::string log;
    std::string device;
    bool check_data = false;
    bool list = false;
};

void report_truncation(const Log &log, const std::string &path) {
    if (log.cut())
        std::fprintf(
            stderr,
            "pi-replay: %s:%llu: truncated line, ignored: the program ended while writing it\n",
            path.c_str(), static_cast<unsigned long long>(log.line_number()));
}

int list(const Options &options) {
    Log log(options.log);
    while (const std::optional<Line> line = log.next())
        std::puts(printable(describe(*line)).c_str());
    report_truncation(log, options.log);
    return same;
}

// Prints the layers, in case they were enabled by mistake.
void print_layers(const std::string &layers) {
    if (!layers.empty())
        std::fprintf(stderr, "pi-replay: PI_LAYERS=%s: the replay runs with these layers\n",
                     printable(layers).c_str());
}

int replay(const Options &options) {
    Log log(options.log);
    Replay replay(options.device, options.check_data, [&](const std::string &text) {
        std::printf("%s:%s\n", options.log.c_str(), printable(text).c_str());
    });
    print_layers(replay.layers());
    replay.run(log);
    report_truncation(log, options.log);
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

int run(int argc, char **argv) {
    Options options;
    CLI::App app;
    const pi::command_line::Page all = page();
    pi::command_line::describe(app, all);
    app.add_option("LOG", options.log, "A log of the layer record")->required()->type_name("FILE");
    app.add_option("--device", options.device,
                   "Devices to run it on; default: those of PI_DEVICE_SELECTOR, else all")
        ->type_name("SELECTOR");
    auto *check = app.add_flag("--check-data", options.check_data,
                               "Also compare the bytes of blocking reads and maps");
    app.add_flag("--list", options.list, "Print the log, one call per line, and run nothing")
        ->excludes(check);
    if (const std::optional<int> exit_code = pi::command_line::parse(app, all, argc, argv))
        return *exit_code;
    return options.list ? list(options) : replay(options);
}

} // namespace
} // namespace pi_replay

int main(int argc, char **argv) {
    try {
        return pi_replay::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "pi-replay: %s\n", pi::printable(error.what()).c_str());
        return pi_replay::refused;
    }
}
