// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bounded_memory PLUGIN CALLS [LEAK]
//
// Makes that many calls of a plugin in several threads, and checks that the process does not have
// more memory at the end than after its first quarter. PI_LAYERS and the like apply. With LEAK it
// leaks that many bytes per call itself, and must fail. Exit codes: 0 the memory is bounded, 1 it
// is not, 2 a call did something wrong.
#include "work.hpp"

#include <malloc.h>
#include <unistd.h>

#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <thread>

namespace {

using namespace bounded;

constexpr unsigned thread_count = 3;
/// How many loaders are created and released in the meantime.
constexpr unsigned loaders = 20;
/// How much more there may be at the end, for any number of calls: of allocated memory, and of the
/// process's resident memory, which includes the allocator's gaps. 3 bytes for each of 225,000
/// calls exceed the first.
constexpr long allocated_bound = 512 << 10;
constexpr long resident_bound = 4 << 20;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool measured = false; // a sanitizer keeps freed memory
#else
constexpr bool measured = true;
#endif

struct Memory {
    long allocated;
    long resident;
};

Memory memory_now() {
    malloc_trim(0);
    const struct mallinfo2 info = mallinfo2();
    long pages = 0;
    long resident = 0;
    std::ifstream("/proc/self/statm") >> pages >> resident;
    return {static_cast<long>(info.uordblks + info.hblkhd), resident * sysconf(_SC_PAGESIZE)};
}

std::atomic<void *> leaked = nullptr; // the compiler must not see that it is unused

void leak(uint64_t bytes) {
    leaked = bytes != 0 ? std::malloc(bytes) : nullptr;
}

/// In steps of one thread, so that the injected leak consists of small blocks.
void work(Worker &worker, uint64_t calls, uint64_t leak_per_call) {
    while (worker.calls() < calls) {
        const uint64_t before = worker.calls();
        worker.work_until(before + 1);
        leak(leak_per_call * (worker.calls() - before));
    }
    worker.settle();
}

} // namespace

int main(int argc, char **argv) {
    if (argc < 3) {
        std::fprintf(stderr, "usage: bounded_memory PLUGIN CALLS [LEAK]\n");
        return 2;
    }
    const uint64_t calls = std::strtoull(argv[2], nullptr, 10) / thread_count;
    const uint64_t leak_per_call = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 0;
    const auto begin = std::chrono::steady_clock::now();
    std::atomic<uint64_t> warnings{0};
    const Place place = open_plugin(argv[1], warnings);
    std::atomic<uint64_t> made{0};
    Memory warm{};
    Memory end{};
    {
        std::barrier meeting(thread_count + 1);
        std::vector<std::thread> threads;
        for (unsigned i = 0; i < thread_count; ++i) {
            threads.emplace_back([&, i] {
                Worker worker(place, i);
                for (const uint64_t part : {calls / 4, calls}) {
                    work(worker, part, leak_per_call);
                    meeting.arrive_and_wait(); // all are done: the main thread measures
                    meeting.arrive_and_wait();
                }
                made += worker.calls();
            });
        }
        for (Memory *at : {&warm, &end}) {
            for (unsigned i = 0; i < loaders / 2; ++i) {
                piLoaderRelease(open_plugin(argv[1], warnings).loader);
            }
            meeting.arrive_and_wait();
            *at = memory_now();
            meeting.arrive_and_wait();
        }
        for (std::thread &thread : threads) {
            thread.join();
        }
    }
    const pi_result released = piLoaderRelease(place.loader);
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    std::printf("%llu calls in %.1f s; allocated %ld KiB after a quarter, %+ld KiB at the end; "
                "resident %ld KiB, %+ld KiB; %llu warnings\n",
                static_cast<unsigned long long>(made), seconds, warm.allocated >> 10,
                (end.allocated - warm.allocated) / 1024, warm.resident >> 10,
                (end.resident - warm.resident) / 1024, static_cast<unsigned long long>(warnings));
    if (released != PI_SUCCESS || warnings != 0) {
        return 2;
    }
    const bool bounded = !measured || (end.allocated - warm.allocated <= allocated_bound &&
                                       end.resident - warm.resident <= resident_bound);
    return bounded == (leak_per_call == 0) ? 0 : 1;
}
