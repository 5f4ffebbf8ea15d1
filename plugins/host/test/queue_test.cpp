// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Order, host events, failures, lifetimes.
#include "fixture.hpp"

#include <atomic>
#include <random>
#include <thread>

using namespace pi_test;

namespace {

Owned<pi_event> fill(pi_queue queue, pi_mem mem, uint8_t value, uint64_t size,
                     const std::vector<pi_event> &waits = {}) {
    Owned<pi_event> event;
    const auto d = fill_desc(mem, &value, 1, 0, size);
    OK(piEnqueueMemBufferFill(queue, &d, static_cast<uint32_t>(waits.size()), waits.data(),
                              event.out()));
    return event;
}

Owned<pi_event> barrier(pi_queue queue, const std::vector<pi_event> &waits = {}) {
    Owned<pi_event> event;
    OK(piEnqueueBarrier(queue, nullptr, static_cast<uint32_t>(waits.size()), waits.data(),
                        event.out()));
    return event;
}

Owned<pi_event> events_wait(pi_queue queue, const std::vector<pi_event> &waits = {}) {
    Owned<pi_event> event;
    OK(piEnqueueEventsWait(queue, nullptr, static_cast<uint32_t>(waits.size()), waits.data(),
                           event.out()));
    return event;
}

std::string error_text(pi_event event) {
    return info_text(piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT);
}

pi_result result(pi_event event) {
    return info<pi_result>(piEventGetInfo, event, PI_EVENT_INFO_RESULT);
}

} // namespace

TEST_CASE("an in-order queue runs commands one after another, however large") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    for (uint64_t size : {UINT64_C(16), UINT64_C(200'000)}) {
        const Owned<pi_mem> mem = host.make_buffer(size);
        for (int i = 1; i <= 50; ++i)
            fill(queue, mem, static_cast<uint8_t>(i), size);
        OK(piQueueFinish(queue));
        const std::vector<std::byte> bytes = contents(host, mem);
        CHECK(bytes == std::vector<std::byte>(size, std::byte{50}));
    }
}

TEST_CASE("an out-of-order queue overtakes a delayed command") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue(PI_QUEUE_OUT_OF_ORDER);
    const Owned<pi_mem> mem = host.make_buffer(64), other = host.make_buffer(64);
    const Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> held = fill(queue, mem, 1, 64, {gate});
    const Owned<pi_event> passing = fill(queue, other, 2, 64);
    OK(piEventWait(passing, patience));
    CHECK(status(held) == PI_EVENT_QUEUED);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(held, patience));
}

TEST_CASE("an in-order queue does not overtake a delayed command") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(64);
    const Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> held = fill(queue, mem, 1, 64, {gate});
    const Owned<pi_event> behind = fill(queue, mem, 2, 64);
    OK(piQueueFlush(queue));
    REFUSED(PI_ERROR_TIMEOUT, "not complete", piEventWait(behind, 20'000'000));
    CHECK(status(behind) == PI_EVENT_QUEUED);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(behind, patience));
    CHECK(status(held) == PI_EVENT_COMPLETE);
    CHECK(contents(host, mem)[0] == std::byte{2});
}

TEST_CASE("a barrier separates the commands before it from those behind") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue(PI_QUEUE_OUT_OF_ORDER);
    const Owned<pi_mem> mem = host.make_buffer(64);
    const Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> held = fill(queue, mem, 1, 64, {gate});
    const Owned<pi_event> wall = barrier(queue);
    const Owned<pi_event> behind = fill(queue, mem, 2, 64);
    CHECK(status(wall) == PI_EVENT_QUEUED);
    CHECK(status(behind) == PI_EVENT_QUEUED);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(behind, patience));
    CHECK(status(wall) == PI_EVENT_COMPLETE);
    CHECK(contents(host, mem)[0] == std::byte{2});
}

TEST_CASE("waiting for events delays nothing else in an out-of-order queue") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue(PI_QUEUE_OUT_OF_ORDER);
    const Owned<pi_mem> mem = host.make_buffer(64);
    const Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> held = fill(queue, mem, 1, 64, {gate});
    const Owned<pi_event> all = events_wait(queue);
    const Owned<pi_event> later = fill(queue, mem, 2, 64);
    OK(piEventWait(later, patience));
    CHECK(status(all) == PI_EVENT_QUEUED);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(all, patience));
    CHECK(status(held) == PI_EVENT_COMPLETE);
}

TEST_CASE("every object may be released once a delayed command names it") {
    Host host;
    std::vector<std::byte> back(300);
    Owned<pi_event> last;
    {
        Owned<pi_queue> queue = host.make_queue();
        Owned<pi_event> gate = host.make_host_event();
        const pi_event handle = gate;
        OK(piEventRetain(handle)); // to signal it at the end
        {
            const Owned<pi_mem> a = host.make_buffer(1000), b = host.make_buffer(1000);
            const Owned<pi_mem> view = make_view(b, 500, 300);
            fill(queue, a, 8, 1000, {gate});
            const pi_region into = range(0, 0, 300), out = range(0, 0, 300);
            const auto copy = copy_desc(a, view, into);
            OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
            const auto read = read_desc(view, back.data(), out);
            OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, last.out()));
        }
        gate.reset();
        queue.reset();
        host.context.reset();
        REFUSED(PI_ERROR_TIMEOUT, "not complete", piEventWait(last, 0));
        OK(piEventSignalHost(handle, PI_SUCCESS));
        piEventRelease(handle);
    }
    OK(piEventWait(last, patience));
    CHECK(back == std::vector<std::byte>(300, std::byte{8}));
}

TEST_CASE("a failure fails its dependents, with the root's text") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue(PI_QUEUE_OUT_OF_ORDER);
    const Owned<pi_mem> mem = host.make_buffer(std::vector<std::byte>(64, std::byte{3}));
    const Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> first = fill(queue, mem, 1, 64, {gate});
    const Owned<pi_event> second = fill(queue, mem, 2, 64, {first});
    OK(piEventSignalHost(gate, PI_ERROR_DEVICE_LOST));
    REFUSED(PI_ERROR_DEPENDENCY_FAILED, "signalled by the application",
            piEventWait(second, patience));
    CHECK(result(gate) == PI_ERROR_DEVICE_LOST);
    CHECK(result(first) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(error_text(second) == error_text(gate));
    // After an event that has already failed, too.
    const Owned<pi_event> third = fill(queue, mem, 2, 64, {second});
    REFUSED(PI_ERROR_DEPENDENCY_FAILED, "signalled by the application",
            piEventWait(third, patience));
    CHECK(contents(host, mem)[0] == std::byte{3});
}

TEST_CASE("a failure does not fail its successors in the queue") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(64);
    const Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> failing = fill(queue, mem, 1, 64, {gate});
    const Owned<pi_event> next = fill(queue, mem, 2, 64);
    OK(piEventSignalHost(gate, PI_ERROR_OUT_OF_RESOURCES));
    OK(piQueueFinish(queue));
    OK(piEventWait(next, 0));
    REFUSED(PI_ERROR_DEPENDENCY_FAILED, "", piEventWait(failing, 0));
    CHECK(contents(host, mem)[0] == std::byte{2});
}

TEST_CASE("an abandoned host event fails its dependents") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(64);
    Owned<pi_event> gate = host.make_host_event();
    const Owned<pi_event> held = fill(queue, mem, 1, 64, {gate});
    OK(piEventRetain(gate));
    piEventRelease(gate);
    CHECK(status(held) == PI_EVENT_QUEUED);
    gate.reset();
    REFUSED(PI_ERROR_DEPENDENCY_FAILED, "before it was signalled", piEventWait(held, patience));
}

TEST_CASE("a host event is signalled once, a command's never") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(64);
    const Owned<pi_event> event = host.make_host_event();
    CHECK(info<uint32_t>(piEventGetInfo, event, PI_EVENT_INFO_COMMAND) == 0);
    CHECK(info<pi_queue>(piEventGetInfo, event, PI_EVENT_INFO_QUEUE) == nullptr);
    REFUSED(PI_ERROR_INVALID_VALUE, "result is 3", piEventSignalHost(event, 3));
    OK(piEventSignalHost(event, PI_SUCCESS));
    REFUSED(PI_ERROR_INVALID_OPERATION, "signalled before", piEventSignalHost(event, PI_SUCCESS));
    const Owned<pi_event> command = fill(queue, mem, 1, 64);
    REFUSED(PI_ERROR_INVALID_OPERATION, "of a command", piEventSignalHost(command, PI_SUCCESS));
    OK(piEventWait(command, patience));
    CHECK(info<uint32_t>(piEventGetInfo, command, PI_EVENT_INFO_COMMAND) ==
          PI_TYPE_BUFFER_FILL_DESC);
    CHECK(info<pi_queue>(piEventGetInfo, command, PI_EVENT_INFO_QUEUE) == queue);
    CHECK(info<pi_context>(piEventGetInfo, command, PI_EVENT_INFO_CONTEXT) == host.context);
}

TEST_CASE("64 gated queues that are signalled in reverse order all finish") {
    const Host host;
    constexpr int count = 64;
    std::vector<Owned<pi_queue>> queues;
    std::vector<Owned<pi_event>> gates, ends;
    std::vector<Owned<pi_mem>> buffers;
    for (int i = 0; i < count; ++i) {
        queues.push_back(host.make_queue(i % 2 ? PI_QUEUE_OUT_OF_ORDER : 0));
        gates.push_back(host.make_host_event());
        const uint64_t size = i % 3 ? 64 : 100'000;
        buffers.push_back(host.make_buffer(size));
        // Each also waits for the end of the queue before.
        std::vector<pi_event> waits = {gates.back()};
        if (i)
            waits.push_back(ends.back());
        const Owned<pi_event> first =
            fill(queues.back(), buffers.back(), static_cast<uint8_t>(i), size, waits);
        ends.push_back(
            fill(queues.back(), buffers.back(), static_cast<uint8_t>(i + 1), size, {first}));
    }
    for (int i = count; i-- > 0;)
        OK(piEventSignalHost(gates[i], PI_SUCCESS));
    for (int i = 0; i < count; ++i) {
        OK(piEventWait(ends[i], patience));
        CHECK(contents(host, buffers[i]).back() == std::byte(i + 1));
    }
}

TEST_CASE("a chain of 20,000 delayed commands runs to its end") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(4);
    const Owned<pi_event> gate = host.make_host_event();
    fill(queue, mem, 0, 4, {gate});
    Owned<pi_event> last;
    for (int i = 0; i < 20'000; ++i)
        last = fill(queue, mem, static_cast<uint8_t>(i), 4);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piEventWait(last, patience));
    CHECK(contents(host, mem)[0] == std::byte(static_cast<uint8_t>(19'999)));
}

TEST_CASE("random graphs over several queues keep every required order") {
    // Each command copies a counter one further in a chain of cells: a cell is right only if its
    // source was ready.
    const uint32_t seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const Host host;
    constexpr uint64_t cells = 300, cell = 512;
    std::vector<Owned<pi_queue>> queues;
    for (int i = 0; i < 4; ++i)
        queues.push_back(host.make_queue(i % 2 ? PI_QUEUE_OUT_OF_ORDER : 0));
    std::vector<std::byte> begin(cells * cell, std::byte{0});
    std::fill(begin.begin(), begin.begin() + cell, std::byte{0xAB});
    const Owned<pi_mem> mem = host.make_buffer(begin);
    const Owned<pi_event> gate = host.make_host_event();
    std::vector<Owned<pi_event>> ready;
    for (uint64_t to = 1; to < cells; ++to) {
        const uint64_t from = random() % to;
        std::vector<pi_event> waits = {gate};
        if (from)
            waits.push_back(ready[from - 1]);
        const pi_region region = range(from * cell, to * cell, cell);
        const auto d = copy_desc(mem, mem, region);
        Owned<pi_event> event;
        OK(piEnqueueMemBufferCopy(queues[random() % queues.size()], &d,
                                  static_cast<uint32_t>(waits.size()), waits.data(), event.out()));
        ready.push_back(std::move(event));
    }
    OK(piEventSignalHost(gate, PI_SUCCESS));
    for (const Owned<pi_queue> &queue : queues)
        OK(piQueueFinish(queue));
    CHECK(contents(host, mem) == std::vector<std::byte>(cells * cell, std::byte{0xAB}));
}

TEST_CASE("many threads may share a queue") {
    const Host host;
    const Owned<pi_queue> queue = host.make_queue(PI_QUEUE_OUT_OF_ORDER);
    constexpr int threads = 8, rounds = 200;
    const Owned<pi_mem> mem = host.make_buffer(threads * 64);
    std::atomic<int> failures{0};
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t)
        running.emplace_back([&, t] {
            for (int i = 0; i < rounds; ++i) {
                const auto value = static_cast<uint8_t>(t);
                const auto d = fill_desc(mem, &value, 1, uint64_t(t) * 64, 64,
                                         i % 2 ? PI_COMMAND_BLOCKING : 0);
                pi_event event = nullptr;
                failures += piEnqueueMemBufferFill(queue, &d, 0, nullptr, &event) != PI_SUCCESS;
                failures += piEventWait(event, patience) != PI_SUCCESS;
                piEventRelease(event);
            }
        });
    for (std::thread &thread : running)
        thread.join();
    CHECK(failures == 0);
    const std::vector<std::byte> bytes = contents(host, mem);
    for (int t = 0; t < threads; ++t)
        CHECK(bytes[t * 64 + 63] == std::byte(t));
}

TEST_CASE("profiling times ascend, and are refused where there are none") {
    const Host host;
    const Owned<pi_queue> profiled = host.make_queue(PI_QUEUE_PROFILING), plain = host.make_queue();
    const Owned<pi_mem> mem = host.make_buffer(1 << 20);
    const auto times = [](pi_event event) {
        std::vector<uint64_t> values;
        for (pi_profiling_info name :
             {PI_PROFILING_QUEUED, PI_PROFILING_SUBMIT, PI_PROFILING_START, PI_PROFILING_END})
            values.push_back(info<uint64_t>(piEventGetProfilingInfo, event, name));
        return values;
    };
    uint64_t before = 0, after = 0;
    OK(piDeviceGetGlobalTimestamps(host.device, &before, nullptr));
    const Owned<pi_event> small = fill(profiled, mem, 1, 64),
                          large = fill(profiled, mem, 1, 1 << 20);
    const Owned<pi_event> marker = barrier(profiled);
    auto d = pi::desc<pi_timestamp_desc>();
    Owned<pi_event> timestamp;
    OK(piEnqueueTimestamp(plain, &d, 0, nullptr, timestamp.out()));
    OK(piQueueFinish(profiled));
    OK(piQueueFinish(plain));
    OK(piDeviceGetGlobalTimestamps(host.device, &after, nullptr));
    for (pi_event event :
         {pi_event(small), pi_event(large), pi_event(marker), pi_event(timestamp)}) {
        const std::vector<uint64_t> values = times(event);
        CHECK(std::is_sorted(values.begin(), values.end()));
        CHECK(values.front() >= before);
        CHECK(values.back() <= after);
    }
    CHECK(times(large)[2] >= times(small)[3]);
    uint64_t value = 0;
    const Owned<pi_event> unprofiled = fill(plain, mem, 1, 64);
    OK(piQueueFinish(plain));
    REFUSED(PI_ERROR_PROFILING_UNAVAILABLE, "PI_QUEUE_PROFILING",
            piEventGetProfilingInfo(unprofiled, PI_PROFILING_END, 8, &value, nullptr));
    REFUSED(PI_ERROR_PROFILING_UNAVAILABLE, "host event",
            piEventGetProfilingInfo(host.make_host_event(), PI_PROFILING_END, 8, &value, nullptr));
    REFUSED(PI_ERROR_INVALID_ENUMERATION, "9",
            piEventGetProfilingInfo(small, 9, 8, &value, nullptr));
}
