// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Failing each function's calls in turn, by the layer fault, in programs that are run for it.
#pragma once

#include <pi/pi_loader.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace pi_test {

/// A program's number of calls to each function of a plugin.
using CallCounts = std::map<std::string, uint64_t>;

/// One call that fails.
struct Fault {
    std::string function;
    uint64_t call = 1;
    std::string what = "fail(BACKEND)";

    /// In the format of PI_FAULT.
    std::string text() const { return function + ":" + std::to_string(call) + "=" + what; }
    /// An object whose release fails stays; only the loader's warning reports it.
    bool is_release() const { return function.ends_with("Release"); }
};

/// The first, second, middle and last of `count` calls; or all.
inline std::vector<uint64_t> calls_to_fail(uint64_t count, bool all) {
    std::set<uint64_t> calls{1, std::min<uint64_t>(2, count), (count + 1) / 2, count};
    for (uint64_t call = 1; all && call <= count; ++call) {
        calls.insert(call);
    }
    return {calls.begin(), calls.end()};
}

/// The call counts of the layer `fault`, which the loader must have; the largest count of several
/// plugins.
inline CallCounts call_counts(pi_loader loader) {
    uint32_t plugin_count = 0;
    piPluginsGet(loader, 0, nullptr, &plugin_count);
    std::vector<pi_plugin> plugins(plugin_count);
    piPluginsGet(loader, plugin_count, plugins.data(), &plugin_count);
    CallCounts most;
    for (pi_plugin plugin : plugins) {
        uint32_t count = 0;
        piLoaderGetCallCounts(loader, plugin, 0, nullptr, &count);
        std::vector<pi_call_count> counts(count);
        piLoaderGetCallCounts(loader, plugin, count, counts.data(), &count);
        for (const pi_call_count &each : counts) {
            most[each.function] = std::max(most[each.function], each.count);
        }
    }
    return most;
}
inline uint64_t calls_of(pi_loader loader, const std::string &function) {
    const CallCounts counts = call_counts(loader);
    const auto found = counts.find(function);
    return found == counts.end() ? 0 : found->second;
}

/// work(i) for each i below count, by several threads: what is run is another process, and many of
/// them wait for objects that are left.
template <class Work>
void in_parallel(size_t count, Work work) {
    std::atomic<size_t> next{0};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < std::min<size_t>(8, count); ++i) {
        threads.emplace_back([&] {
            for (size_t index = 0; (index = next++) < count;) {
                work(index);
            }
        });
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
}

} // namespace pi_test
