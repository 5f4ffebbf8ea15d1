// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several threads retain and release at the same moment: no reference is lost, and one release is
// the last.

#include "checks.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <atomic>
#include <chrono>
#include <iterator>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

namespace pi::suite {
namespace {

constexpr unsigned threads = 2;

// A barrier of threads, which each thread reaches as often as the others.
class Pace {
public:
    void meet() {
        const unsigned mine = arrived_.fetch_add(1) / threads;
        while (arrived_.load() / threads == mine)
            std::this_thread::yield();
    }

private:
    std::atomic<unsigned> arrived_{0};
};

// step(thread, round) on all threads, round by round, at the same moments. It must not throw, or
// the others would wait.
void run_in_step(Fixture &fixture, unsigned rounds,
                 const std::function<void(unsigned, unsigned)> &step) {
    Pace pace;
    fixture.run_threads(threads, [&](unsigned thread) {
        for (unsigned round = 0; round < rounds; ++round) {
            pace.meet();
            step(thread, round);
        }
    });
}

template <typename Handle>
using GetInfo = pi_result (*)(Handle, uint32_t, uint64_t, void *, uint64_t *);

// Counts are for debugging only; they are compared where one thread changes them.
template <typename Handle>
void check_counting(Fixture &fixture, Handle handle, GetInfo<Handle> get, uint32_t name) {
    constexpr unsigned rounds = 4; // threads that meet often wait long on a busy machine
    const char *const kind = Counted<Handle>::name;
    const auto count = [&] { return info_or(get, handle, name, 1u); };
    const uint32_t before = count();
    require_success(Counted<Handle>::retain(handle), "retaining a ", kind);
    const bool counted = count() == before + 1;
    require_success(Counted<Handle>::release(handle), "releasing a ", kind);
    const auto on_threads = [&](pi_result (*change)(Handle), const char *what, auto times) {
        std::mutex mutex;
        std::string failure; // with the text, which only its thread has
        run_in_step(fixture, rounds, [&](unsigned thread, unsigned round) {
            for (unsigned i = 0; times(thread, round, i); ++i)
                if (const pi_result result = change(handle)) {
                    const std::string reported = join(result_name(result), ": ", last_error_text());
                    const std::lock_guard lock(mutex);
                    failure = reported;
                }
        });
        require(failure.empty(), what, " a ", kind, " on ", threads, " threads: ", failure);
    };
    // A count without atomics loses a reference only if two threads are in the call at once: so
    // many rounds, or fewer where calls are slow, as in layers that write each.
    constexpr unsigned least = 500, most = 50'000;
    constexpr std::chrono::milliseconds enough{20};
    unsigned taken[threads][rounds] = {};
    std::chrono::steady_clock::time_point end[threads];
    on_threads(Counted<Handle>::retain, "retaining",
               [&](unsigned thread, unsigned round, unsigned i) {
                   const auto now = [] { return std::chrono::steady_clock::now(); };
                   if (i == 0)
                       end[thread] = now() + enough;
                   taken[thread][round] = i;
                   return i < least || (i < most && (i % least != 0 || now() < end[thread]));
               });
    uint32_t all = 0;
    for (const auto &of_thread : taken)
        all += std::accumulate(std::begin(of_thread), std::end(of_thread), 0U);
    if (counted)
        require_equal(count(), before + all, "the reference count of a ", kind, " that ", threads,
                      " threads have retained");
    on_threads(
        Counted<Handle>::release, "releasing",
        [&](unsigned thread, unsigned round, unsigned i) { return i < taken[thread][round]; });
    if (counted)
        require_equal(count(), before, "the reference count of a ", kind, " that ", threads,
                      " threads have released as often");
}

CONFORMANCE_TEST("lifetime",
                 "no reference is lost when several threads retain and release at once") {
    Everything all(fixture, fixture.place());
    const Event host = fixture.make_host_event();
    const Event command = fixture.barrier(all.queue);
    fixture.wait(command);
    const auto check = [&](auto handle, auto get, uint32_t name) {
        if (handle != nullptr)
            check_counting(fixture, handle, get, name);
    };
    check(fixture.context(), &piContextGetInfo, PI_CONTEXT_INFO_REFERENCE_COUNT);
    check(all.queue.get(), &piQueueGetInfo, PI_QUEUE_INFO_REFERENCE_COUNT);
    for (const Mem *const mem : {&all.mem, &all.view, &all.image})
        check(mem->get(), &piMemGetInfo, PI_MEM_INFO_REFERENCE_COUNT);
    check(host.get(), &piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT);
    check(command.get(), &piEventGetInfo, PI_EVENT_INFO_REFERENCE_COUNT);
    check(all.program.get(), &piProgramGetInfo, PI_PROGRAM_INFO_REFERENCE_COUNT);
    check(all.kernel.get(), &piKernelGetInfo, PI_KERNEL_INFO_REFERENCE_COUNT);
    check(all.sampler.get(), &piSamplerGetInfo, PI_SAMPLER_INFO_REFERENCE_COUNT);
    check(all.pool.get(), &piUsmPoolGetInfo, PI_USM_POOL_INFO_REFERENCE_COUNT);
    if (!all.parts.empty())
        check(all.parts[0].get(), &piDeviceGetInfo, PI_DEVICE_INFO_REFERENCE_COUNT);
    fixture.signal(host);
    fixture.upload(all.queue, all.mem, Bytes(64, std::byte{3}));
    fixture.require_contents(all.queue, all.mem, Bytes(64, std::byte{3}), "the buffer afterwards");
}

CONFORMANCE_TEST("event",
                 "a host event that several threads release at once is abandoned by the last") {
    constexpr unsigned rounds = 10, times = 50;
    const Queue queue = fixture.make_queue();
    std::vector<pi_event> events;
    std::vector<Event> behind;
    for (unsigned round = 0; round < rounds; ++round) {
        Event event = fixture.make_host_event();
        behind.push_back(fixture.events_wait(queue, {event}));
        for (unsigned more = 1; more < threads * times; ++more)
            require_success(piEventRetain(event), "piEventRetain");
        events.push_back(event.take());
    }
    std::atomic<pi_result> worst{PI_SUCCESS};
    run_in_step(fixture, rounds, [&](unsigned, unsigned round) {
        for (unsigned i = 0; i < times; ++i)
            if (const pi_result result = piEventRelease(events[round]))
                worst = result;
    });
    require_success(worst.load(), "piEventRelease on ", threads, " threads");
    for (unsigned round = 0; round < rounds; ++round)
        fixture.require_result(behind[round], PI_ERROR_DEPENDENCY_FAILED,
                               "the result behind an abandoned host event");
}

CONFORMANCE_TEST(
    "event",
    "a host event is abandoned by the last of many releases, even if commands wait for it") {
    constexpr int references = 5;
    const Queue queue = fixture.make_queue();
    Event event = fixture.make_host_event();
    for (int more = 1; more < references; ++more)
        require_success(piEventRetain(event), "piEventRetain");
    std::vector<Event> behind;
    for (int i = 0; i < 2 * references; ++i)
        behind.push_back(fixture.events_wait(queue, {event}));
    const auto done = fixture.on_complete(event, [](pi_event, pi_result) {});
    for (int given = 1; given < references; ++given) {
        require_success(piEventRelease(event), "piEventRelease");
        require(!fixture.is_complete(event) && !done->is_set(), "a host event is complete with ",
                references - given, " of ", references, " references left");
    }
    event.reset();
    for (const Event &one : behind)
        fixture.require_result(one, PI_ERROR_DEPENDENCY_FAILED,
                               "the result behind an abandoned host event");
    fixture.wait(*done, "the callback of an abandoned host event");
}

} // namespace
} // namespace pi::suite
