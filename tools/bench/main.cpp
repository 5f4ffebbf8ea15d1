// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// pi-bench measures PI against lower bounds in one run, and prints the ratios.
#include "session.hpp"

#include <pi/command_line/command_line.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <unistd.h>

namespace pi_bench {

void bench_plugin(Session &session) {
    bench_plugin_opencl(session);
    bench_plugin_host(session);
}

namespace {

struct Benchmark {
    const char *name;
    void (*run)(Session &);
    const char *pocl_devices;
};
constexpr std::array benchmarks{Benchmark{"calls", bench_calls, "basic"},
                                Benchmark{"start", bench_start, "basic"},
                                Benchmark{"plugin", bench_plugin, "basic"},
                                Benchmark{"runtime", bench_runtime, "pthread pthread"},
                                Benchmark{"calibrate", bench_calibrate, "pthread pthread"},
                                Benchmark{"cuda", bench_cuda, "basic"},
                                Benchmark{"level_zero", bench_level_zero, "basic"}};

pi::command_line::Page page() {
    return {
        "pi-bench",
        "measures PI against its lower bounds",
        {{"Benchmarks",
          "",
          {{"calls",
            "an exported function of libpi_loader; compared with a hand-written stub and the "
            "OpenCL ICD loader"},
           {"start", "a process from its start to a context on an OpenCL device; compared with one "
                     "that does not use PI"},
           {"plugin",
            "commands on an OpenCL device and on the host plugin; compared with plain OpenCL calls "
            "and with memcpy"},
           {"runtime",
            "data movement by the host runtime; compared with memcpy or with the same commands "
            "without it"},
           {"calibrate",
            "every link between the places of this machine; compared with memcpy. --costs "
            "FILE writes the figures for the host runtime, which chooses routes by "
            "them, and for pi-info --topology and --svg"},
           {"cuda",
            "commands of the plugin cuda; compared with plain driver calls, and pageable with "
            "pinned memory. With the simulated driver in PI_CUDA_LIBRARY it measures only the "
            "cost of calls"},
           {"level_zero",
            "the same for the plugin level_zero, on few bytes; ZE_ENABLE_ALT_DRIVERS may name "
            "the simulated driver"}}},
         {"Figures",
          "Ours and the limit are measured alternately in many short batches of one run. `ours` "
          "and `limit` are medians; the ratio is the median of the ratios of neighbouring batches: "
          "1.0 is perfect, smaller is better. Run it on an idle machine: other load changes the "
          "result. pi-bench sets POCL_DEVICES: to \"basic\" for calls, start and plugin (PoCL's "
          "device that runs commands inside the calls shows their cost best), and to two devices "
          "with threads for runtime and calibrate.",
          {}}},
        {{0, "at least one row was measured"},
         {1, "no row was measured, or a file cannot be written; the message says which"},
         {2, "invalid command line"}},
        {{"pi-bench calls --json calls.json", "Measure calls and write the rows as JSON."},
         {"pi-bench calibrate --costs costs.json", "Measure the links for the host runtime."}},
        {"pi-info", "pi-conformance"}};
}

void declare(CLI::App &app, Options &options) {
    std::vector<std::string> names;
    names.reserve(benchmarks.size());
    for (const Benchmark &benchmark : benchmarks) {
        names.emplace_back(benchmark.name);
    }
    app.add_option("name", options.name, "The benchmark")
        ->required()
        ->type_name("NAME")
        ->check(CLI::IsMember(names));
    app.add_option("--json", options.json, "Also write the rows as JSON, for other programs")
        ->type_name("FILE");
    app.add_option("--costs", options.costs,
                   "File of link costs, which calibrate writes and runtime reads")
        ->type_name("FILE");
    app.add_option("--filter", options.filter,
                   "Measure only rows whose name matches this regular expression")
        ->type_name("RX");
    app.add_option("--device", options.device,
                   "OpenCL device for start and plugin (" + options.device + ")")
        ->type_name("SELECTOR");
    app.add_flag("--quick", options.quick,
                 "Run a few short batches: a smoke test, not a measurement");
}

const Benchmark &benchmark_of(const std::string &name) {
    return *std::find_if(benchmarks.begin(), benchmarks.end(),
                         [&](const Benchmark &benchmark) { return benchmark.name == name; });
}

int measure(Session &session, const Options &options) {
    // Checked before any time is spent.
    std::ofstream file;
    if (!options.json.empty()) {
        file.open(options.json);
        if (!file) {
            throw std::runtime_error("cannot write " + options.json);
        }
    }
    const std::string where = machine();
    const std::string when = date();
    std::printf("pi-bench %s: %s, %s\n", options.name.c_str(), where.c_str(), when.c_str());
    std::fflush(stdout);
    benchmark_of(options.name).run(session);
    session.end_progress();
    std::printf(
        "%s",
        table(session.rows(), session.not_measured(), terminal_columns(STDOUT_FILENO)).c_str());
    if (!options.json.empty()) {
        file << json(where, when, session.rows(), session.not_measured()) << std::flush;
        if (!file) {
            throw std::runtime_error("cannot write " + options.json);
        }
    }
    if (session.rows().empty() && session.not_measured().empty()) {
        std::fprintf(stderr, "pi-bench: no row of %s has a name that matches --filter \"%s\"\n",
                     options.name.c_str(), options.filter.c_str());
    }
    return session.rows().empty() ? 1 : 0;
}

int run(int argc, char **argv) {
    Options options;
    CLI::App app;
    const pi::command_line::Page all = page();
    pi::command_line::describe(app, all);
    declare(app, options);
    if (const std::optional<int> exit_code = pi::command_line::parse(app, all, argc, argv)) {
        return *exit_code;
    }
    // Before any library is opened; also for child processes.
    setenv("POCL_DEVICES", benchmark_of(options.name).pocl_devices, 1);
    try {
        Session session(options);
        return measure(session, options);
    } catch (const std::regex_error &error) {
        std::fprintf(stderr, "pi-bench: --filter \"%s\": %s\n", options.filter.c_str(),
                     error.what());
        return pi::command_line::misunderstood;
    }
}

} // namespace
} // namespace pi_bench

int main(int argc, char **argv) {
    try {
        return pi_bench::run(argc, argv);
    } catch (const std::exception &error) {
        std::fflush(stdout);
        std::fprintf(stderr, "pi-bench: %s\n", error.what());
        return 1;
    }
}
