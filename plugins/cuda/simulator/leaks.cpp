// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaks.hpp"
#include "driver.hpp"

#include "simulator/leaks.hpp"

#include <algorithm>

namespace pi::cuda::simulated {

namespace {

void add_line(std::vector<std::string> &lines, size_t count, const char *one,
              const std::string &of) {
    if (count > 0)
        lines.push_back(std::to_string(count) + " " + one + (count > 1 ? "s" : "") + " of " + of);
}

template <class Objects>
size_t count_of(const Objects &objects, const Context &context) {
    return static_cast<size_t>(
        std::count_if(objects.begin(), objects.end(),
                      [&](const auto &entry) { return entry.second->context.get() == &context; }));
}

/// Variables belong to their module, and arrays have their own memory: neither counts as an
/// allocation of the program.
size_t allocations_of(const Context &context) {
    size_t count = 0;
    for (const auto &[address, allocation] : driver().allocations)
        count += allocation->context.get() == &context && allocation->kind != Kind::variable &&
                 allocation->kind != Kind::mapping;
    return count;
}

/// Live objects, and those lost with their contexts.
std::vector<std::string> all_leaks() {
    Driver &all = driver();
    std::vector<std::string> lines = all.leaked;
    for (const auto &[key, context] : all.contexts) {
        if (context->error != CUDA_SUCCESS)
            continue;
        for (std::string &line : leaks_of(*context))
            lines.push_back(std::move(line));
        add_line(lines, 1, "context", "device " + std::to_string(context->device->ordinal));
    }
    for (const std::unique_ptr<Device> &device : all.devices) {
        const std::string of = "device " + std::to_string(device->ordinal);
        size_t physical = 0, pools = 0;
        for (const auto &[key, memory] : all.physical)
            physical += memory->device == device.get();
        for (const auto &[key, pool] : all.pools)
            pools += pool->device == device.get() && !pool->is_default;
        add_line(lines, physical, "physical memory handle", of);
        add_line(lines, pools, "memory pool", of);
    }
    if (const size_t mapped = static_cast<size_t>(
            std::count_if(all.allocations.begin(), all.allocations.end(),
                          [](const auto &entry) { return entry.second->kind == Kind::mapping; })))
        add_line(lines, mapped, "mapping", "the process");
    add_line(lines, all.reservations.size(), "address reservation", "the process");
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
    drivers::report_leaks("CUDA", lines, all.config.strict);
}

} // namespace

std::vector<std::string> leaks_of(const Context &context) {
    Driver &all = driver();
    const std::string of = "device " + std::to_string(context.device->ordinal);
    std::vector<std::string> lines;
    add_line(lines, count_of(all.streams, context), "stream", of);
    add_line(lines, count_of(all.events, context), "event", of);
    add_line(lines, count_of(all.modules, context), "module", of);
    add_line(lines, count_of(all.arrays, context), "array", of);
    add_line(lines, count_of(all.textures, context), "texture object", of);
    add_line(lines, count_of(all.surfaces, context), "surface object", of);
    add_line(lines, count_of(all.links, context), "link state", of);
    add_line(lines, allocations_of(context), "allocation", of);
    return lines;
}

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

int pi_simulated_cuda_leaks(char *text, size_t size) {
    const Lock lock(driver().mutex);
    return drivers::copy_leaks(all_leaks(), text, size);
}

} // namespace pi::cuda
