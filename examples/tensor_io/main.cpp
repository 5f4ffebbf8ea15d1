// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An inference-like chain over all devices, on frames and results in the application's memory: in
// place, and with copies in and out. Begin reading at chain.cpp.
#include "chain.hpp"
#include "kernels.hpp"
#include "machine.hpp"
#include "report.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

namespace tensor_io {
namespace {

struct Options {
    std::string devices;
    std::string machine;
    std::string cubin;
    std::string memory = "aligned";
    std::string report = "text";
    uint32_t frames = 32;
    uint32_t ring = 4;
    Shape shape{640, 480};
};

const std::map<std::string, SlotMemory> memories{{"aligned", SlotMemory::aligned},
                                                 {"unaligned", SlotMemory::unaligned},
                                                 {"unimportable", SlotMemory::unimportable}};

constexpr const char *footer = R"(
Devices: a comma-separated list of plugin[:platform[:device]] and of the word "application", which
is this program itself at the host. The stages take turns: stage s of frame f runs at element s + f
modulo the length. "/own" after a device gives it its own context. Without a list: all devices, then
the application.

Machine: its devices are sim:0:0, sim:0:1 and so on; without a list all of them and the application
are used. Times are those of its virtual clock.

Memory: "aligned" slots are whole pages, "unaligned" ones begin at byte 20 of a page, "unimportable"
ones may not be imported by devices.

Exit codes: 0 all results equal the plain computation; 1 they differ, or the devices cannot be used,
as the message says; 2 the command line is wrong.

The form of --report json is described in examples/tensor_io/README.md.)";

void declare(CLI::App &app, Options &options) {
    const auto up_to = [](int limit) { return CLI::Range(1, limit); };
    app.add_option("--devices", options.devices, "Devices that run the stages; see below")
        ->type_name("LIST");
    app.add_option("--machine", options.machine,
                   "Run on the simulated machine that a file describes; see below")
        ->type_name("FILE");
    app.add_option("--frames", options.frames,
                   "Frames each way (" + std::to_string(options.frames) + ")")
        ->type_name("N")
        ->check(up_to(100'000));
    app.add_option("--ring", options.ring,
                   "Slots of each of the application's rings (" + std::to_string(options.ring) +
                       ")")
        ->type_name("N")
        ->check(up_to(1000));
    app.add_option("--width", options.shape.width,
                   "Pixels (" + std::to_string(options.shape.width) + ")")
        ->type_name("N")
        ->check(up_to(8192));
    app.add_option("--height", options.shape.height,
                   "Pixels (" + std::to_string(options.shape.height) + ")")
        ->type_name("N")
        ->check(up_to(8192));
    app.add_option("--memory", options.memory, "Kind of slots (aligned); see below")
        ->type_name("KIND")
        ->check(CLI::IsMember(memories));
    app.add_option("--report", options.report, "text or json, on standard output (text)")
        ->type_name("FORM")
        ->check(CLI::IsMember({"text", "json"}));
    app.add_option("--cubin", options.cubin,
                   "A module with the kernels for CUDA devices, instead of PTX")
        ->type_name("FILE")
        ->check(CLI::ExistingFile);
    app.footer(footer);
}

std::string read_file(const std::string &name) {
    std::ifstream stream(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// "19.2 GB/s" of a machine file's host, in bytes per second; 0 if unknown.
double host_bandwidth(const std::string &machine) {
    std::ifstream stream(machine);
    const auto file = nlohmann::json::parse(stream, nullptr, false);
    const auto text = file.value("/host/bandwidth"_json_pointer, std::string());
    const std::map<std::string, double> units{
        {"kB/s", 1e3}, {"MB/s", 1e6}, {"GB/s", 1e9}, {"TB/s", 1e12}};
    const size_t space = std::min(text.find(' '), text.size());
    const auto unit = units.find(text.substr(std::min(space + 1, text.size())));
    return unit == units.end() ? 0 : std::stod(text.substr(0, space)) * unit->second;
}

double wall_milliseconds() {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// Both ways for each frame, one right after the other, alternating which is first.
class Comparison {
public:
    Comparison(const Loader &loader, const Work &work, const Options &options)
        : loader_(loader), options_(options) {
        report_.shape = options.shape;
        report_.ring = options.ring;
        report_.memory = options.memory;
        report_.simulated = !options.machine.empty();
        ChainOptions chain{
            options.shape,    {}, memories.at(options.memory), options.ring, wall_milliseconds,
            report_.simulated};
        if (report_.simulated) {
            clock_.emplace(loader.get());
            report_.host_bandwidth = host_bandwidth(options.machine);
            chain.clock = [this] { return clock_->pass_time(); };
        }
        for (const Way way : {Way::zero_copy, Way::copy_in_copy_out}) {
            chain.way = way;
            chains_.at(static_cast<size_t>(way)) = std::make_unique<Chain>(work, chain);
        }
    }

    RunReport run() {
        for (uint32_t frame = 0; frame < options_.frames; ++frame) {
            if (frame % options_.ring == 0) { // the camera is one ring ahead
                fill(frame);
            }
            std::vector<uint8_t> pixels(options_.shape.pixels());
            take_picture(options_.shape, frame, pixels.data());
            const Results expected = reference(options_.shape, pixels);
            for (size_t i = 0; i < way_count; ++i) {
                run(frame, (i + frame) % way_count, expected);
            }
        }
        for (size_t way = 0; way < way_count; ++way) {
            report_.ways.at(way).counters = chains_.at(way)->counters();
        }
        return report_;
    }

private:
    /// Calls a function, and adds its cache maintenance to the way's.
    template <class Work>
    void counted(WayReport &way, Work work) {
        const auto count = [&](const char *function) {
            return report_.simulated ? loader_.calls_of(function) : 0;
        };
        const uint64_t flushes = count("piMemFlush");
        const uint64_t invalidates = count("piMemInvalidate");
        work();
        way.flushes += count("piMemFlush") - flushes;
        way.invalidates += count("piMemInvalidate") - invalidates;
    }

    void fill(uint32_t frame) {
        for (size_t way = 0; way < way_count; ++way) {
            WayReport &report = report_.ways.at(way);
            counted(report, [&] {
                for (uint32_t i = frame; i < std::min(frame + options_.ring, options_.frames);
                     ++i) {
                    report.fills.push_back(chains_.at(way)->fill(i));
                }
            });
        }
    }

    void run(uint32_t frame, size_t way, const Results &expected) {
        WayReport &report = report_.ways.at(way);
        Results results;
        counted(report, [&] { report.frames.push_back(chains_.at(way)->run(frame, results)); });
        if (report_.difference.empty()) {
            report_.difference = first_difference(results, expected);
            if (!report_.difference.empty()) {
                report_.difference = "frame " + std::to_string(frame) + ": " + report_.difference;
            }
        }
    }

    const Loader &loader_;
    const Options &options_;
    std::optional<VirtualClock> clock_;
    std::array<std::unique_ptr<Chain>, way_count> chains_;
    RunReport report_;
};

int run(int argc, char **argv) {
    Options options;
    CLI::App app(
        "Runs an inference-like chain over frames in the application's memory, in place and "
        "with\n"
        "copies in and out, and prints which bytes moved in both ways.\n",
        "tensor_io");
    declare(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const std::string cubin = options.cubin.empty() ? "" : read_file(options.cubin);
    const bool simulated = !options.machine.empty();
    const Loader loader(options.machine, simulated);
    const Work work = choose_places(loader.get(), options.devices, kernel_forms(cubin),
                                    simulated ? "sim" : nullptr, true);
    const RunReport report = Comparison(loader, work, options).run();
    std::printf("%s",
                (options.report == "json" ? to_json(report, work) : to_text(report, work)).c_str());
    return report.difference.empty() ? 0 : 1;
}

} // namespace
} // namespace tensor_io

int main(int argc, char **argv) {
    try {
        return tensor_io::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "tensor_io: %s\n", error.what());
        return 1;
    }
}
