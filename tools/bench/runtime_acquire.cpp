// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the host runtime takes where nothing is to be done.
#include "runtime_machine.hpp"

#include <algorithm>
#include <thread>

namespace pi_bench {
namespace {

/// Beside what the project aims at: there is nothing that does as much to compare with.
constexpr double acquire_aim = 150; // nanoseconds

} // namespace

void bench_acquire(Session &session, const Machine &machine) {
    for (const PlaceIndex place : {host_place, machine.places.front()}) {
        for (const bool logged : {false, true}) {
            const std::string name = "acquire and release, up to date, at " + machine.name(place) +
                                     (logged ? ", logged" : "");
            if (!session.wants(name)) {
                continue;
            }
            RuntimeOptions options;
            options.log_capacity = logged ? options.log_capacity : 0;
            const Runtime runtime(machine.topology, options);
            const Storage storage(runtime, {.size = 1 << 20});
            const Buffer buffer = storage.buffer();
            own(buffer, place);
            const Batch ours = [&](uint64_t count) {
                for (uint64_t i = 0; i < count; ++i) {
                    buffer.acquire(place, Access::read).release();
                }
            };
            session.beside(name, "150 ns, the aim", Unit::nanoseconds, ours, acquire_aim);
        }
    }
}

namespace {

/// Threads, each with a storage of its own, beside one thread, and beside threads that share nothing: what else runs
/// on the machine takes from those as much.
void bench_threads(Session &session, const Machine &machine, unsigned threads) {
    const std::string name =
        std::to_string(threads) + " threads that acquire and release storages of their own";
    const std::string alone = name + ", beside one";
    const std::string apart = name + ", beside runtimes of their own";
    if (!session.wants(alone) && !session.wants(apart)) {
        return;
    }
    std::vector<Runtime> runtimes;
    std::vector<Buffer> of_one_runtime;
    std::vector<Buffer> of_several;
    for (unsigned index = 0; index < threads; ++index) {
        runtimes.emplace_back(machine.topology);
        of_one_runtime.push_back(Storage(runtimes.front(), {.size = 4096}).buffer());
        of_several.push_back(Storage(runtimes.back(), {.size = 4096}).buffer());
        own(of_one_runtime.back(), host_place);
        own(of_several.back(), host_place);
    }
    const auto use = [](const Buffer &buffer, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            buffer.acquire(host_place, Access::read).release();
        }
    };
    // As many threads are started on all sides, even without work.
    const auto run = [&](const std::vector<Buffer> &buffers, uint64_t count,
                         uint64_t others_count) {
        std::vector<std::thread> others;
        for (unsigned index = 1; index < threads; ++index) {
            others.emplace_back([&, index] { use(buffers[index], others_count); });
        }
        use(buffers[0], count);
        for (std::thread &other : others) {
            other.join();
        }
    };
    const Batch ours = [&](uint64_t count) { run(of_one_runtime, count, count); };
    if (session.wants(alone)) {
        session.compare(alone, "one thread that does its part alone, aim 1.3", Unit::nanoseconds,
                        ours, [&](uint64_t count) { run(of_one_runtime, count, 0); });
    }
    if (session.wants(apart)) {
        session.compare(apart, "as many threads with a runtime each", Unit::nanoseconds, ours,
                        [&](uint64_t count) { run(of_several, count, count); });
    }
}

} // namespace

void bench_threads(Session &session, const Machine &machine) {
    const unsigned processors = std::max(2U, std::thread::hardware_concurrency());
    for (unsigned threads = 2; threads <= processors; threads *= 2) {
        bench_threads(session, machine, threads);
    }
}

} // namespace pi_bench
