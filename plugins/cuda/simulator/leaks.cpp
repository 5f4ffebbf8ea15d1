// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "leaks.hpp"
#include "driver.hpp"

#include "simulator/leaks.hpp"

#include <algorithm>

namespace pi::cuda::simulated {

namespace {

using drivers::add_leaks, drivers::count_of;

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
        add_leaks(lines, 1, "context", "device " + std::to_string(context->device->ordinal));
    }
    for (const std::unique_ptr<Device> &device : all.devices) {
        const std::string of = "device " + std::to_string(device->ordinal);
        size_t physical = 0, pools = 0;
        for (const auto &[key, memory] : all.physical)
            physical += memory->device == device.get();
        for (const auto &[key, pool] : all.pools)
            pools += pool->device == device.get() && !pool->is_default;
        add_leaks(lines, physical, "physical memory handle", of);
        add_leaks(lines, pools, "memory pool", of);
    }
    if (const size_t mapped = static_cast<size_t>(
            std::count_if(all.allocations.begin(), all.allocations.end(),
                          [](const auto &entry) { return entry.second->kind == Kind::mapping; })))
        add_leaks(lines, mapped, "mapping", "the process");
    add_leaks(lines, all.reservations.size(), "address reservation", "the process");
    return lines;
}

__attribute__((destructor)) void report_at_exit() {
    drivers::report_at_exit("CUDA", driver, all_leaks);
}

} // namespace

std::vector<std::string> leaks_of(const Context &context) {
    Driver &all = driver();
    const std::string of = "device " + std::to_string(context.device->ordinal);
    std::vector<std::string> lines;
    add_leaks(lines, count_of(all.streams, context), "stream", of);
    add_leaks(lines, count_of(all.events, context), "event", of);
    add_leaks(lines, count_of(all.modules, context), "module", of);
    add_leaks(lines, count_of(all.arrays, context), "array", of);
    add_leaks(lines, count_of(all.textures, context), "texture object", of);
    add_leaks(lines, count_of(all.surfaces, context), "surface object", of);
    add_leaks(lines, count_of(all.links, context), "link state", of);
    add_leaks(lines, allocations_of(context), "allocation", of);
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
