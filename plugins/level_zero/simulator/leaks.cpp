// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaks.hpp"
#include "driver.hpp"

#include "simulator/leaks.hpp"

#include <algorithm>

namespace pi::level_zero::simulated {

namespace {

using drivers::add_leaks, drivers::count_of;

/// Live objects, and the contexts and build logs themselves.
std::vector<std::string> all_leaks() {
    Driver &all = driver();
    std::vector<std::string> lines;
    for (const auto &[key, context] : all.contexts)
        for (std::string &line : leaks_of(*context))
            lines.push_back(std::move(line));
    add_leaks(lines, all.contexts.size(), "context");
    add_leaks(lines,
              std::count_if(all.allocations.begin(), all.allocations.end(),
                            [](const auto &entry) { return entry.second->imported; }),
              "imported pointer");
    add_leaks(lines, all.logs.size(), "build log");
    return lines;
}

__attribute__((destructor)) void report_at_exit() {
    drivers::report_at_exit("Level Zero", driver, all_leaks);
}

} // namespace

std::vector<std::string> leaks_of(const Context &context) {
    Driver &all = driver();
    std::vector<std::string> lines;
    add_leaks(lines, count_of(all.queues, context), "command queue");
    add_leaks(lines, count_of(all.lists, context), "command list");
    add_leaks(lines, count_of(all.fences, context), "fence");
    add_leaks(lines, count_of(all.pools, context), "event pool");
    add_leaks(lines, count_of(all.events, context), "event");
    add_leaks(lines, count_of(all.modules, context), "module");
    add_leaks(lines, count_of(all.kernels, context), "kernel");
    add_leaks(lines, count_of(all.images, context), "image");
    add_leaks(lines, count_of(all.samplers, context), "sampler");
    add_leaks(lines,
              std::count_if(all.allocations.begin(), all.allocations.end(),
                            [&](const auto &entry) {
                                return entry.second->context.get() == &context &&
                                       !entry.second->variable;
                            }),
              "allocation");
    return lines;
}

} // namespace pi::level_zero::simulated

int pi_simulated_level_zero_leaks(char *text, size_t size) {
    using namespace pi::level_zero::simulated;
    const Lock lock(driver().mutex);
    return pi::drivers::copy_leaks(all_leaks(), text, size);
}
