// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How concurrent threads that use the host runtime slow each other down.
#include "runtime_machine.hpp"

#include <algorithm>
#include <thread>

namespace pi_bench {
namespace {

constexpr std::chrono::seconds patience{60};
constexpr const char *one_thread = "one thread that does its part alone, target ratio 1.3";

/// The work of each thread.
using Use = void (*)(const Buffer &buffer, PlaceIndex place, uint64_t count);

void acquire_up_to_date(const Buffer &buffer, PlaceIndex place, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        buffer.acquire(place, Access::read).release();
    }
}

/// The host writes, and the bytes go to the place.
void transfer(const Buffer &buffer, PlaceIndex place, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
        own(buffer, host_place);
        Acquisition use = buffer.acquire(place, Access::read);
        use.wait(patience);
        use.release();
    }
}

/// One thread per buffer; all but the first repeat it `others_count` times. All sides of a row
/// start the same number of threads, even without work.
void run(const std::vector<Buffer> &buffers, Use use, PlaceIndex place, uint64_t count,
         uint64_t others_count) {
    std::vector<std::thread> others;
    for (size_t index = 1; index < buffers.size(); ++index) {
        others.emplace_back([&, index] { use(buffers[index], place, others_count); });
    }
    use(buffers[0], place, count);
    for (std::thread &other : others) {
        other.join();
    }
}

void compare_with_one(Session &session, const std::string &name, Unit unit,
                      const std::vector<Buffer> &buffers, Use use, PlaceIndex place) {
    session.compare(
        name + ", against one thread", one_thread, unit,
        [&](uint64_t count) { run(buffers, use, place, count, count); },
        [&](uint64_t count) { run(buffers, use, place, count, 0); });
}

/// Each thread with its own storage, compared with one thread, and with threads that share nothing:
/// other work on the machine slows those equally.
void bench_own_storages(Session &session, const Machine &machine, unsigned threads) {
    const std::string name =
        std::to_string(threads) + " threads that acquire and release storages of their own";
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
    compare_with_one(session, name, Unit::nanoseconds, of_one_runtime, acquire_up_to_date,
                     host_place);
    session.compare(
        name + ", against a runtime per thread", "as many threads with a runtime each",
        Unit::nanoseconds,
        [&](uint64_t count) { run(of_one_runtime, acquire_up_to_date, host_place, count, count); },
        [&](uint64_t count) { run(of_several, acquire_up_to_date, host_place, count, count); });
}

/// Each thread with a range of one storage, whose lock they share.
void bench_ranges(Session &session, const Machine &machine, unsigned threads) {
    constexpr uint64_t size = 4096;
    const Runtime runtime(machine.topology);
    const Storage storage(runtime, {.size = threads * size});
    std::vector<Buffer> ranges;
    for (unsigned index = 0; index < threads; ++index) {
        ranges.push_back(storage.buffer(index * size, size));
        own(ranges.back(), host_place);
    }
    compare_with_one(session,
                     std::to_string(threads) +
                         " threads that acquire and release ranges of one storage",
                     Unit::nanoseconds, ranges, acquire_up_to_date, host_place);
}

/// Each thread with its own storage, whose bytes go to one device.
void bench_transfers(Session &session, const Machine &machine, unsigned threads) {
    const PlaceIndex place = machine.places.back(); // the host plugin's own devices come first
    const Runtime runtime(machine.topology);
    std::vector<Buffer> buffers;
    for (unsigned index = 0; index < threads; ++index) {
        buffers.push_back(
            Storage(runtime, {.size = 64 << 10, .routes = mask_of(RouteKind::host_bounce)})
                .buffer());
        transfer(buffers.back(), place, 1);
    }
    compare_with_one(session,
                     std::to_string(threads) + " threads that bring 64 KiB of their own to " +
                         machine.name(place),
                     Unit::microseconds, buffers, transfer, place);
}

} // namespace

void bench_threads(Session &session, const Machine &machine) {
    const unsigned processors = std::max(2U, std::thread::hardware_concurrency());
    for (unsigned threads = 2; threads <= processors; threads *= 2) {
        bench_own_storages(session, machine, threads);
        bench_ranges(session, machine, threads);
        bench_transfers(session, machine, threads);
    }
}

} // namespace pi_bench
