// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Blurs a picture on one device, finds edges on the next, and so on over all backends, and prints
// by which route the bytes reached each device. Begin reading at pipeline.cpp.
#include "kernels.hpp"
#include "machine.hpp"
#include "picture.hpp"
#include "pipeline.hpp"
#include "places.hpp"
#include "report.hpp"
#include "text.hpp"

#include <CLI/CLI.hpp>
#include <pi/runtime/calibrate.hpp>
#include <pi/runtime/error.hpp>

#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>
#include <unistd.h>

namespace image_pipeline {
namespace {

namespace fs = std::filesystem;
using pi::runtime::check;

struct Options {
    std::string picture;
    std::string devices;
    std::string output = "image_pipeline_output";
    std::string json;
    std::string machine;
    std::string costs;
    std::string cubin;
    uint32_t rounds = 2;
    bool list = false;
    bool explain = false;
    bool in_place = false;
};

constexpr const char *footer = R"(
Devices: a comma-separated list of plugin[:platform[:device]] as --list shows them. The stages run
there in this order; a shorter list is repeated. "/own" after a device gives it its own context:
    image_pipeline --devices opencl:0:0,opencl:0:1/own,host
Without a list all devices are used, in an order in which every possible route is taken.

In place: storages between the stages are in memory of the devices by default. With --in-place they
may be in host memory, which CPU devices use in place, so that no byte moves.

Machine: its devices are sim:0:0, sim:0:1 and so on; without a list all of them are used. The
program waits for each transfer and prints its predicted time and its time on the virtual clock.

Costs: routes are chosen by the costs of links: those that the plugins report, or those that
"pi-bench calibrate --costs FILE" measured on this machine. If a file cannot be used, for example
because it is of another machine, the program says why and uses the plugins' costs.

Exit codes: 0 the results equal the CPU reference; 1 they differ, or the picture, the devices or the
output folder cannot be used, as the message says; 2 the command line is wrong.

The form of the --json file is described in examples/image_pipeline/README.md.)";

void declare(CLI::App &app, Options &options) {
    app.add_option("picture", options.picture,
                   "A PNG file of any kind; without one, a harbour at sunset")
        ->type_name("FILE");
    app.add_option("--devices", options.devices, "Devices that run the stages; see below")
        ->type_name("LIST");
    app.add_flag("--list", options.list, "List plugins and devices, then exit");
    app.add_option("--output", options.output,
                   "Folder for the pictures, created if missing (" + options.output + ")")
        ->type_name("FOLDER");
    app.add_option("--rounds", options.rounds,
                   "Rounds; in each round every stage runs one place further on (" +
                       std::to_string(options.rounds) + ")")
        ->type_name("N")
        ->check(CLI::Range(1U, 1000U));
    app.add_option("--machine", options.machine,
                   "Run on the simulated machine that a file describes; see below")
        ->type_name("FILE");
    app.add_option("--costs", options.costs,
                   "Choose routes by the measured costs of a file; see below")
        ->type_name("FILE");
    app.add_option("--cubin", options.cubin,
                   "A module with the kernels for CUDA devices, instead of PTX")
        ->type_name("FILE")
        ->check(CLI::ExistingFile);
    app.add_flag("--in-place", options.in_place, "Allow all storages in host memory; see below");
    app.add_flag("--explain", options.explain,
                 "Print every possible route with its cost, and why routes were refused");
    app.add_option("--json", options.json, "Also write routes, bytes and the comparison to a file")
        ->type_name("FILE");
    app.footer(footer);
}

std::string default_picture() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    const fs::path installed = program.parent_path() / "../share/pi/harbour.png";
    return !error && fs::exists(installed, error) ? installed.string() : SHIPPED_PICTURE;
}

std::string read_file(const std::string &name) {
    std::ifstream stream(name, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

void list_devices(pi_loader loader, std::span<const KernelForm> forms) {
    uint32_t count = 0;
    check(piLoaderGetReports(loader, 0, nullptr, &count), "piLoaderGetReports");
    std::vector<pi_plugin_report> reports(count);
    check(piLoaderGetReports(loader, count, reports.data(), &count), "piLoaderGetReports");
    for (const pi_plugin_report &report : reports) {
        if (report.status != PI_PLUGIN_LOADED) {
            std::printf("plugin %s is not used: %s\n",
                        *report.name != '\0' ? report.name : report.path, report.reason);
        }
    }
    for (const DeviceEntry &entry : find_devices(loader, nullptr, forms)) {
        std::printf("%s%s%s\n", left(entry.selector, 14).c_str(), entry.title.c_str(),
                    entry.kernels.format == 0 ? " (accepts no kernels of this example)" : "");
    }
}

/// Creates the folder and checks that files can be created in it.
void prepare_output(const fs::path &folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
        throw std::runtime_error("cannot make the output folder " + folder.string() + ": " +
                                 error.message());
    }
    const fs::path probe = folder / ".image_pipeline";
    const bool writable = std::ofstream(probe).good();
    fs::remove(probe, error);
    if (!writable) {
        throw std::runtime_error("cannot write to the output folder " + folder.string());
    }
}

void write_pictures(const fs::path &folder, const Picture &picture, const Results &results) {
    const int width = picture.width;
    const int height = picture.height;
    write_png(folder / "blurred.png", PixelFormat::rgba, width, height, results.blurred);
    write_png(folder / "edges.png", PixelFormat::grey, width, height, results.edges);
    write_png(folder / "overlay.png", PixelFormat::rgba, width, height, results.overlay);
    write_png(folder / "histogram.png", PixelFormat::rgba, chart_width, chart_height,
              results.chart);
}

void write_text(const fs::path &file, const std::string &text) {
    std::ofstream stream(file);
    stream << text << std::flush;
    if (!stream) {
        throw std::runtime_error("cannot write " + file.string());
    }
}

/// Returns the exit code.
int work(const Options &options, std::span<const KernelForm> forms) {
    const std::string file = options.picture.empty() ? default_picture() : options.picture;
    const Picture picture = read_png(file);
    prepare_output(options.output);
    const Loader loader(options.machine);
    const std::optional<VirtualClock> clock =
        options.machine.empty() ? std::nullopt : std::optional<VirtualClock>(loader.get());
    const Work work = choose_places(loader.get(), options.devices, forms, clock ? "sim" : nullptr);
    const auto &topology = work.topology->description();
    const std::string name = fs::path(file).filename().string();

    const Report report(topology, isatty(STDOUT_FILENO) != 0, clock.has_value());
    std::printf(
        "%s\n",
        report.introduction(name, picture.width, picture.height, work, options.in_place).c_str());
    PipelineOptions pipeline_options{options.explain, options.in_place, {}, {}};
    if (!options.costs.empty()) {
        const auto measured = pi::runtime::load_costs(options.costs, topology);
        std::printf("%s\n", report.costs(options.costs, measured).c_str());
        pipeline_options.costs = measured.costs;
    }
    std::fflush(stdout);

    const Results expected = reference(picture);
    Summary summary;
    std::vector<RoundReport> rounds;
    Results results;
    if (clock) {
        pipeline_options.virtual_time = [&] { return clock->pass_time(); };
    }
    Pipeline pipeline(work, picture, pipeline_options);
    for (uint32_t i = 0; i < options.rounds; ++i) {
        rounds.push_back(pipeline.run_round(i, results));
        std::printf("%s\n", report.round(i + 1, rounds.back(), i == 0 || options.explain).c_str());
        std::fflush(stdout);
        const WayCounts counts = count_ways(rounds.back());
        for (size_t way = 0; way < counts.size(); ++way) {
            summary.ways.at(way) += counts.at(way);
        }
        if (summary.difference.empty()) {
            summary.difference = first_difference(results, expected);
        }
    }
    summary.counters = pipeline.counters();
    std::printf("%s", report.summary(summary).c_str());

    write_pictures(options.output, picture, results);
    std::printf("%s", report.files(options.output).c_str());
    if (!options.json.empty()) {
        write_text(options.json,
                   to_json(name, picture.width, picture.height, topology, rounds, summary));
    }
    return summary.difference.empty() ? 0 : 1;
}

int run(int argc, char **argv) {
    Options options;
    CLI::App app(
        "Blurs a picture, finds its edges and computes a histogram, each on another device, "
        "and prints\n"
        "by which route the bytes reach each device.\n",
        "image_pipeline");
    declare(app, options);
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    const std::string cubin = options.cubin.empty() ? "" : read_file(options.cubin);
    const std::vector<KernelForm> forms = kernel_forms(cubin);
    if (options.list) {
        list_devices(Loader(options.machine).get(), forms);
        return 0;
    }
    return work(options, forms);
}

} // namespace
} // namespace image_pipeline

int main(int argc, char **argv) {
    try {
        return image_pipeline::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "image_pipeline: %s\n", error.what());
        return 1;
    }
}
