// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the start of a process to a context on its first device. Each measurement is a new process,
// with and without PI in turn; the files are in the page cache, nothing else is warm. The time runs
// from just before the spawn until the process has its context, so exec and the dynamic linker
// count, and the vendors' clean-up at exit does not.
#include "equipment.hpp"
#include "process.hpp"
#include "session.hpp"

#include <array>

namespace pi_bench {
namespace {

constexpr const char *limit_name =
    "a small program that calls OpenCL itself: dlopen, platforms, devices, context";

using Command = std::vector<std::string>;

/// The order of the two alternates.
void compare_starts(Session &session, const std::string &name, const Command &ours,
                    const Command &limit) {
    if (!session.wants(name)) {
        return;
    }
    const Effort effort = session.process_effort();
    Times times;
    const auto begin = std::chrono::steady_clock::now();
    time_start(ours);
    time_start(limit);
    for (uint32_t i = 0; i < effort.batches; ++i) {
        if (i >= effort.fewest && std::chrono::steady_clock::now() - begin > effort.most) {
            break;
        }
        if (i % 2 == 0) {
            times.ours.push_back(time_start(ours));
        }
        times.limit.push_back(time_start(limit));
        if (i % 2 == 1) {
            times.ours.push_back(time_start(ours));
        }
    }
    session.add({name, median(times.ours) / 1e6, median(times.limit) / 1e6, limit_name,
                 median(ratios(times.ours, times.limit)), "ms"});
}

} // namespace

void bench_start(Session &session) {
    session.attempt("start to the first OpenCL device", [&] {
        std::string plugin;
        std::string library;
        {
            const pi::Loader loader = pi::Loader::create();
            plugin = plugin_file(loader, "opencl");
            library = variable(loader, "PI_OPENCL_LIBRARY");
        }
        const Command plain{equipment("pi_bench_start_opencl"),
                            library.empty() ? "libOpenCL.so.1" : library};
        const std::string program = equipment("pi_bench_start_pi");
        compare_starts(session, "start to the first OpenCL device, its plugin alone",
                       {program, session.device(), plugin}, plain);
        compare_starts(session, "start to the first OpenCL device, all plugins",
                       {program, session.device()}, plain);
    });
}

} // namespace pi_bench
