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
    return {"pi-replay",
            "runs the calls of a log again, and tells where a result is another",
            {{"Logs and devices",
              "A log is written by PI_LAYERS=record PI_RECORD_FILE=LOG program. Its calls are run "
              "in their "
              "order, by one thread. The devices that it uses are, in the order of their first "
              "use, those that "
              "the selector names: a comma-separated list of plugin[:platform[:device]], numbers "
              "counted "
              "from 0, '*' for any. Questions (...GetInfo and such) are not asked again, nor are "
              "waits that "
              "timed out, what a callback may not do, and callbacks, whose calls are in the log. "
              "The layers of PI_LAYERS are around "
              "the replay, which tells them; none writes into LOG.",
              {}}},
            {{same, "all calls had the results of the log"},
             {different, "some had others"},
             {misunderstood, "the command line was not understood"},
             {incomplete,
              "all that were run had the same, but some could not be run, as the message says"},
             {refused, "the log cannot be read, or there are not the devices to run it"}},
            {{"pi-replay calls.jsonl --device sim,host:0:0",
              "Runs the log; its first device is the first of sim."},
             {"pi-replay --list calls.jsonl", "Shows the log, a call a line."}},
            {"pi-info", "pi-conformance"}};
}

using pi::command_line::printable;

struct Options {
    std::string log;
    std::string device;
    bool check_data = false;
    bool list = false;
};

void tell_cut(const Log &log, const std::string &path) {
    if (log.cut())
        std::fprintf(
            stderr,
            "pi-replay: %s:%llu: is cut off: the program ended while it was written; it is "
            "left out\n",
            path.c_str(), static_cast<unsigned long long>(log.line_number()));
}

int list(const Options &options) {
    Log log(options.log);
    while (const std::optional<Line> line = log.next())
        std::puts(printable(describe(*line)).c_str());
    tell_cut(log, options.log);
    return same;
}

// They are wanted, or forgotten and then the reason for what is found.
void tell_layers(const std::string &layers) {
    if (!layers.empty())
        std::fprintf(stderr, "pi-replay: PI_LAYERS=%s: the replay has these layers\n",
                     printable(layers).c_str());
}

int replay(const Options &options) {
    Log log(options.log);
    Replay replay(options.device, options.check_data, [&](const std::string &text) {
        std::printf("%s:%s\n", options.log.c_str(), printable(text).c_str());
    });
    tell_layers(replay.layers());
    replay.run(log);
    tell_cut(log, options.log);
    const Counts &counts = replay.counts();
    std::printf(
        "%llu calls were run: %llu had another result, %llu gave other bytes; %llu could not be "
        "run\n",
        static_cast<unsigned long long>(counts.run),
        static_cast<unsigned long long>(counts.different),
        static_cast<unsigned long long>(counts.other_bytes),
        static_cast<unsigned long long>(counts.left_out));
    if (options.check_data)
        std::printf("%llu reads were compared; %llu did not block, so their bytes are not known\n",
                    static_cast<unsigned long long>(counts.compared),
                    static_cast<unsigned long long>(counts.not_compared));
    if (counts.unknown != 0)
        std::printf("%llu reads cannot be compared, since calls could not be run\n",
                    static_cast<unsigned long long>(counts.unknown));
    if (counts.different != 0 || counts.other_bytes != 0)
        return different;
    return counts.left_out != 0 ? incomplete : same;
}

int run(int argc, char **argv) {
    Options options;
    CLI::App app;
    const pi::command_line::Page all = page();
    pi::command_line::describe(app, all);
    app.add_option("LOG", options.log, "A log of the layer record")->required()->type_name("FILE");
    app.add_option("--device", options.device,
                   "The devices to run it on; without it those of PI_DEVICE_SELECTOR, else all")
        ->type_name("SELECTOR");
    auto *check = app.add_flag("--check-data", options.check_data,
                               "Compare the bytes that blocking reads and maps give, too");
    app.add_flag("--list", options.list, "Print the log, a call a line, and run nothing")
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
        std::fprintf(stderr, "pi-replay: %s\n", pi::command_line::printable(error.what()).c_str());
        return pi_replay::refused;
    }
}
