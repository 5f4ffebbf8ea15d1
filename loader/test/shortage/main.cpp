// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// shortage_sweep allocations|threads PLUGIN [STRIDE]: runs a program of calls repeatedly, through a
// loader with only this plugin. In each run another allocation of the loader or the plugin fails,
// or the start of another thread; then it and all later ones. Every failure is reported, nothing
// hangs, no byte is wrong, and afterwards everything works. Every STRIDE-th request fails (default
// 1). PI_LAYERS and the like apply.
#include "scenario.hpp"

#include "interposed.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <unistd.h>

using namespace shortage;

namespace {

std::array<char, 256> where{}; ///< of this run, for messages when the program ends

void say_where(int) {
    static_cast<void>(write(STDERR_FILENO, where.data(), std::string_view(where.data()).size()));
    std::_Exit(3);
}

/// The scarce resource.
struct Resource {
    const char *name;
    pi_test::Shortage &shortage;
    uint32_t stride;
};

/// Calls run() with each request failing in turn; run(begin) returns once the resource is available
/// again.
template <class Run>
void sweep(const char *what, const Resource &resource, bool lasts, Run &&run) {
    uint32_t number = 1;
    for (bool failed = true; failed; number += resource.stride) {
        std::snprintf(where.data(), where.size(), "%s: hangs or crashes, %s %u%s fails\n", what,
                      resource.name, number, lasts ? " and each later one" : "");
        describe_run(where.data());
        alarm(60);
        failed = run([&] { resource.shortage.begin(number, lasts); });
    }
    alarm(0);
    std::printf("%s: %u %ss%s\n", what, number - resource.stride - 1, resource.name,
                lasts ? ", with each later one" : "");
}

} // namespace

int main(int argc, char **argv) {
    const std::string_view of = argc > 2 ? argv[1] : "";
    if (of != "allocations" && of != "threads") {
        std::fprintf(stderr, "shortage_sweep allocations|threads PLUGIN [STRIDE]\n");
        return 2;
    }
    // As the loader opens it.
    const std::string plugin = std::filesystem::canonical(argv[2]).string();
    const bool of_threads = of == "threads";
    if (of_threads)
        expect_lack_of_threads();
    const Resource resource{
        of_threads ? "thread" : "allocation", of_threads ? threads : memory,
        static_cast<uint32_t>(argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1)};
    for (const int signal : {SIGALRM, SIGABRT, SIGSEGV})
        std::signal(signal, say_where);
    const auto end = [&] { return resource.shortage.end(); };
    for (const bool lasts : {false, true}) {
        // A first run, so that one-time allocations are done.
        { const Machine first(plugin.c_str()); }
        own_code.find(std::array{std::string_view("libpi_loader.so.1"), std::string_view(plugin)});
        if (own_code.count() != 2) {
            std::fprintf(stderr, "the code of the loader or of %s is not found\n", plugin.c_str());
            return 1;
        }
        sweep("opening", resource, lasts, [&](auto &&begin) {
            begin();
            return open_and_close(plugin.c_str(), end);
        });
        sweep("working", resource, lasts, [&](auto &&begin) {
            // An instance starts its threads once, and a layer never learns what it could not
            // record.
            const Machine machine(plugin.c_str());
            begin();
            return Scenario(machine).run(end);
        });
    }
    return failures() ? 1 : 0;
}
