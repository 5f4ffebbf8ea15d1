// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaks.hpp"
#include "driver.hpp"

#include "simulator/leaks.hpp"

#include <algorithm>

namespace pi::level_zero::simulated {

namespace {

void add_line(std::vector<std::string> &lines, std::ptrdiff_t count, const char *one) {
    if (count > 0)
        lines.push_back(std::to_string(count) + " " + one + (count > 1 ? "s" : ""));
}

template <class Objects>
std::ptrdiff_t count_of(const Objects &objects, const Context &context) {
    return std::count_if(objects.begin(), objects.end(), [&](const auto &entry) {
        return entry.second->context.get() == &context;
    });
}

/// Live objects, and the contexts and build logs themselves.
std::vector<std::string> all_leaks() {
    Driver &all = driver();
    std::vector<std::string> lines;
    for (const auto &[key, context] : all.contexts)
        for (std::string &line : leaks_of(*context))
            lines.push_back(std::move(line));
    add_line(lines, std::distance(all.contexts.begin(), all.contexts.end()), "context");
    add_line(lines,
             std::count_if(all.allocations.begin(), all.allocations.end(),
                           [](const auto &entry) { return entry.second->imported; }),
             "imported pointer");
    add_line(lines, std::distance(all.logs.begin(), all.logs.end()), "build log");
    return lines;
}

/// After the program's static objects are destroyed: objects alive now are leaks.
__attribute__((destructor)) void report_at_exit() {
    if (drivers::is_forked())
        return;
    Driver &all = driver();
    std::vector<std::string> lines;
    {
        const Lock lock(all.mutex);
        lines = all_leaks();
    }
    drivers::report_leaks("Level Zero", lines, all.config.strict);
}

} // namespace

std::vector<std::string> leaks_of(const Context &context) {
    Driver &all = driver();
    std::vector<std::string> lines;
    add_line(lines, count_of(all.queues, context), "command queue");
    add_line(lines, count_of(all.lists, context), "command list");
    add_line(lines, count_of(all.fences, context), "fence");
    add_line(lines, count_of(all.pools, context), "event pool");
    add_line(lines, count_of(all.events, context), "event");
    add_line(lines, count_of(all.modules, context), "module");
    add_line(lines, count_of(all.kernels, context), "kernel");
    add_line(lines, count_of(all.images, context), "image");
    add_line(lines, count_of(all.samplers, context), "sampler");
    add_line(lines,
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
