// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// allocation_sweep PLUGIN [STRIDE]: a program of calls through a loader that has this plugin alone,
// again and again. In each run another allocation of the loader's or the plugin's finds no memory;
// then it and all later ones. Whatever fails says so, nothing hangs, no byte is wrong, and
// afterwards everything works. Every STRIDE-th allocation fails (1).
#include "scenario.hpp"

#include "allocations.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <unistd.h>

using namespace shortage;

namespace {

std::array<char, 256> where{}; ///< of this run, for what ends the program

void say_where(int) {
    static_cast<void>(write(STDERR_FILENO, where.data(), std::string_view(where.data()).size()));
    std::_Exit(3);
}

/// Calls run() with each allocation failing in turn; run() returns once memory is there again.
template <class Run>
void sweep(const char *what, bool lasts, uint32_t stride, Run &&run) {
    uint32_t allocation = 1;
    for (bool failed = true; failed; allocation += stride) {
        std::snprintf(where.data(), where.size(), "%s: hangs or crashes, allocation %u%s fails\n",
                      what, allocation, lasts ? " and each later one" : "");
        describe_run(where.data());
        alarm(60);
        memory.begin(allocation, lasts);
        failed = run();
    }
    alarm(0);
    std::printf("%s: %u allocations%s\n", what, allocation - stride - 1,
                lasts ? ", with each later one" : "");
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 2) {
        std::fprintf(stderr, "allocation_sweep PLUGIN [STRIDE]\n");
        return 2;
    }
    const char *const plugin = argv[1];
    const auto stride = static_cast<uint32_t>(argc > 2 ? std::strtoul(argv[2], nullptr, 10) : 1);
    for (const int signal : {SIGALRM, SIGABRT, SIGSEGV})
        std::signal(signal, say_where);
    const auto end = [] { return memory.end(); };
    for (const bool lasts : {false, true}) {
        // Once before, so that what a process does once has its memory, and is found.
        { const Machine first(plugin); }
        own_code.find(std::array{std::string_view("libpi_loader.so.1"), std::string_view(plugin)});
        sweep("opening", lasts, stride, [&] { return open_and_close(plugin, end); });
        const Machine machine(plugin);
        sweep("working", lasts, stride, [&] { return Scenario(machine).run(end); });
    }
    return failures() ? 1 : 0;
}
