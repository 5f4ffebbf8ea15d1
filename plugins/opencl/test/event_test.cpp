// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

using namespace opencl_test;

namespace {

bool reached(const std::function<bool()> &condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!condition()) {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return true;
}

} // namespace

TEST_CASE("a command behind a gate is held, and its objects can be released") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        Event done;
        std::vector<uint8_t> seen(1000, 0);
        Event gate;
        {
            Place place(device);
            Mem mem = place.buffer(1000);
            set_contents(place.queue, mem, std::vector<uint8_t>(1000, 42));
            gate = make_host_event(place.context);
            done = read(place.queue, make_view(mem, 0, 1000), seen.data(), {range(0, 0, 1000)},
                        {{gate}});
        }
        CHECK(pi_test::status(done) == PI_EVENT_QUEUED);
        CHECK(seen[0] == 0);
        OK(piEventSignalHost(gate, PI_SUCCESS));
        wait(done);
        CHECK(seen == std::vector<uint8_t>(1000, 42));
        CHECK(pi_test::status(done) == PI_EVENT_COMPLETE);
    }
}

TEST_CASE("a failed dependency fails all its dependents, and its text reaches the last") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        for (const uint64_t flags : {0, static_cast<int>(PI_QUEUE_OUT_OF_ORDER)}) {
            const Place place(device, flags);
            const Queue other = make_queue(place.context, device, flags);
            const Mem mem = place.buffer(100);
            set_contents(place.queue, mem, std::vector<uint8_t>(100, 1));
            const Event gate = make_host_event(place.context);
            const uint8_t two = 2, three = 3;
            const Event first = fill(place.queue, mem, &two, 1, 0, 100, {{gate}});
            const Event second = fill(other, mem, &two, 1, 0, 100, {{first}});
            const Event third = barrier(place.queue, {{second}});
            // Not in the wait list: ordered behind them by the queue only.
            const Event after = fill(place.queue, mem, &three, 1, 50, 50);
            OK(piEventSignalHost(gate, PI_ERROR_OUT_OF_RESOURCES));
            for (const Event *event : {&first, &second, &third})
                wait_failure(*event, PI_ERROR_DEPENDENCY_FAILED, {"signalled by the application"});
            wait(after);
            std::vector<uint8_t> expected(100, 1);
            std::fill(expected.begin() + 50, expected.end(), 3);
            CHECK(contents(place.queue, mem) == expected);
            // A command that depends on one that has failed already.
            const Event late = make_host_event(place.context);
            OK(piEventSignalHost(late, PI_ERROR_OUT_OF_RESOURCES));
            wait_failure(fill(place.queue, mem, &two, 1, 0, 100, {{late}}),
                         PI_ERROR_DEPENDENCY_FAILED);
            OK(piQueueFinish(place.queue));
            CHECK(contents(place.queue, mem) == expected);
        }
    }
}

TEST_CASE("a released, unsignalled host event fails its dependents") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const Mem mem = place.buffer(16);
    const uint8_t one = 1;
    Event gate = make_host_event(place.context);
    const Event held = fill(place.queue, mem, &one, 1, 0, 16, {{gate}});
    gate.reset();
    wait_failure(held, PI_ERROR_DEPENDENCY_FAILED, {"released before"});
}

TEST_CASE("an in-order queue runs its commands one after another") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(64 * 1024);
        const Event gate = make_host_event(place.context);
        Event last;
        for (uint32_t i = 0; i < 200; ++i)
            last = fill(place.queue, mem, &i, 4, 0, 64 * 1024, i == 50 ? How{{gate}} : How{});
        std::vector<uint8_t> between(4);
        OK(piEventSignalHost(gate, PI_SUCCESS));
        wait(last);
        const std::vector<uint8_t> seen = contents(place.queue, mem);
        const uint32_t expected = 199;
        for (size_t i = 0; i < seen.size(); i += 4)
            REQUIRE(!std::memcmp(&seen[i], &expected, 4));
    }
}

TEST_CASE("an out-of-order queue passes held commands, but not a barrier") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device, PI_QUEUE_OUT_OF_ORDER);
        const Mem mem = place.buffer(100);
        const uint8_t one = 1, two = 2, three = 3;
        const Event gate = make_host_event(place.context);
        const Event held = fill(place.queue, mem, &one, 1, 0, 10, {{gate}});
        wait(fill(place.queue, mem, &two, 1, 10, 10));
        const Event all = events_wait(place.queue);
        wait(fill(place.queue, mem, &two, 1, 20, 10)); // does not wait for events-wait
        const Event fence = barrier(place.queue);
        const Event behind = fill(place.queue, mem, &three, 1, 0, 100);
        CHECK(piEventWait(all, 0) == PI_ERROR_TIMEOUT);
        CHECK(piEventWait(fence, 0) == PI_ERROR_TIMEOUT);
        CHECK(piEventWait(behind, 0) == PI_ERROR_TIMEOUT);
        CHECK(pi_test::status(behind) == PI_EVENT_QUEUED);
        OK(piEventSignalHost(gate, PI_SUCCESS));
        for (const Event *event : {&held, &all, &fence, &behind})
            wait(*event);
        CHECK(contents(place.queue, mem) == std::vector<uint8_t>(100, 3));
    }
}

TEST_CASE("a callback is called once, may enqueue and signal, and may not block") {
    Loader loader;
    struct Work {
        const Place *place;
        pi_mem mem;
        std::atomic<int> calls{0};
        std::atomic<int> wrong{0};
        Event next;
        std::atomic<bool> has_next{false};
        Event gate;
    };
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(64);
        Work work;
        work.place = &place;
        work.mem = mem;
        work.gate = make_host_event(place.context);
        const Event gate = make_host_event(place.context);
        const uint8_t one = 1;
        const Event first = fill(place.queue, mem, &one, 1, 0, 64, {{gate}});
        const Event second = fill(place.queue, mem, &one, 1, 0, 64, {{work.gate}});
        OK(piEventSetCallback(
            first,
            [](pi_event event, pi_result result, void *user_data) {
                Work &self = *static_cast<Work *>(user_data);
                self.wrong += result != PI_SUCCESS || piEventWait(event, PI_TIMEOUT_NEVER) != 0;
                self.wrong += piQueueFinish(self.place->queue) != PI_ERROR_WOULD_BLOCK;
                const uint8_t two = 2;
                auto desc = pi::desc<pi_buffer_fill_desc>();
                desc.mem = self.mem;
                desc.pattern = &two;
                desc.pattern_size = 1;
                desc.size = 32;
                self.wrong += piEnqueueMemBufferFill(self.place->queue, &desc, 0, nullptr,
                                                     self.next.out()) != PI_SUCCESS;
                self.wrong += piEventWait(self.next, PI_TIMEOUT_NEVER) != PI_ERROR_WOULD_BLOCK;
                desc.flags = PI_COMMAND_BLOCKING;
                self.wrong += piEnqueueMemBufferFill(self.place->queue, &desc, 0, nullptr,
                                                     nullptr) != PI_ERROR_WOULD_BLOCK;
                self.wrong += piEventSignalHost(self.gate, PI_SUCCESS) != PI_SUCCESS;
                self.has_next = true;
                ++self.calls;
            },
            &work));
        CHECK(work.calls == 0);
        OK(piEventSignalHost(gate, PI_SUCCESS));
        REQUIRE(reached([&] { return work.has_next.load(); }));
        wait(work.next);
        wait(second);
        CHECK(work.calls == 1);
        CHECK(work.wrong == 0);
        std::vector<uint8_t> expected(64, 1);
        std::fill_n(expected.begin(), 32, 2);
        CHECK(contents(place.queue, mem) == expected);
    }
}

TEST_CASE("a host function runs between the commands around it") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(1024);
        std::vector<uint8_t> host(1024, 5), seen(1024);
        bool blocked = false;
        const Event first = write(place.queue, mem, host.data(), {range(0, 0, 1024)});
        const Event middle = host_function(place.queue, [&] {
            blocked = piQueueFinish(place.queue) == PI_ERROR_WOULD_BLOCK;
            std::fill(host.begin(), host.end(), 6);
        });
        const Event second = write(place.queue, mem, host.data(), {range(0, 512, 512)});
        const Event last = read(place.queue, mem, seen.data(), {range(0, 0, 1024)});
        wait(last);
        CHECK(blocked);
        CHECK(std::count(seen.begin(), seen.begin() + 512, 5) == 512);
        CHECK(std::count(seen.begin() + 512, seen.end(), 6) == 512);
    }
}

TEST_CASE("a wait list with NULL or an invalid event is refused and nothing is enqueued") {
    Loader loader;
    const Place place(loader.devices()[0]);
    const Event gate = make_host_event(place.context);
    Event event;
    const pi_event with_null[] = {gate, nullptr};
    refused(piEnqueueBarrier(place.queue, nullptr, 2, with_null, event.out()),
            PI_ERROR_INVALID_EVENT, {"wait_list[1]", "NULL"});
    const pi_event wrong[] = {reinterpret_cast<pi_event>(place.context.get())};
    refused(piEnqueueBarrier(place.queue, nullptr, 1, wrong, event.out()), PI_ERROR_INVALID_EVENT,
            {"wait_list[0]"});
    refused(piEnqueueBarrier(place.queue, nullptr, 1, nullptr, event.out()),
            PI_ERROR_INVALID_WAIT_LIST);
    CHECK(event.get() == nullptr);
    OK(piQueueFinish(place.queue)); // does not wait for the gate
}

TEST_CASE("events of all contexts, devices and platforms chain at random") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    std::vector<Place> places;
    for (int copies = 0; copies < 2; ++copies)
        for (pi_device device : loader.devices())
            places.emplace_back(device, random.coin() ? PI_QUEUE_OUT_OF_ORDER : 0);
    // One word is passed around: each step reads what the previous one wrote.
    std::vector<Mem> buffers;
    for (const Place &place : places)
        buffers.push_back(place.buffer(8));
    const Event gate = make_host_event(places[0].context);
    std::vector<uint64_t> words(1001, 0);
    words[0] = random.between(1, 1 << 30);
    Event last;
    OK(piEventRetain(gate));
    last = Event(gate.get());
    for (size_t hop = 0; hop < 1000; ++hop) {
        const size_t at = random.below(places.size());
        const pi_queue queue = places[at].queue;
        switch (random.below(4)) {
        case 0: {
            Event written = write(queue, buffers[at], &words[hop], {range(0, 0, 8)}, {{last}});
            last = read(queue, buffers[at], &words[hop + 1], {range(0, 0, 8)}, {{written}});
            break;
        }
        case 1: {
            Event bridged = make_host_event(places[at].context);
            struct Hop {
                uint64_t *from, *to;
                Event bridge;
            };
            auto hop_data = std::make_unique<Hop>();
            hop_data->from = &words[hop];
            hop_data->to = &words[hop + 1];
            OK(piEventRetain(bridged));
            hop_data->bridge = Event(bridged.get());
            OK(piEventSetCallback(
                last,
                [](pi_event, pi_result result, void *user_data) {
                    const std::unique_ptr<Hop> self(static_cast<Hop *>(user_data));
                    *self->to = *self->from;
                    piEventSignalHost(self->bridge, result);
                },
                hop_data.release()));
            last = std::move(bridged);
            break;
        }
        case 2:
            last = host_function(queue, [&words, hop] { words[hop + 1] = words[hop]; }, {{last}});
            break;
        default: {
            Event fence = barrier(queue, {{last}});
            Event written = write(queue, buffers[at], &words[hop], {range(0, 0, 8)}, {{fence}});
            last = read(queue, buffers[at], &words[hop + 1], {range(0, 0, 8)}, {{written}});
        }
        }
    }
    OK(piEventSignalHost(gate, PI_SUCCESS));
    wait(last);
    for (uint64_t word : words)
        REQUIRE(word == words[0]);
}

TEST_CASE("profiling times never decrease, and exist only if requested") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        if (!(info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_QUEUE_FLAGS) &
              PI_QUEUE_PROFILING))
            continue;
        const Place place(device);
        const Queue queue = make_queue(place.context, device, PI_QUEUE_PROFILING);
        const Mem mem = place.buffer(1 << 16);
        const uint8_t one = 1;
        uint64_t time = 0;
        std::vector<Event> events;
        events.push_back(fill(queue, mem, &one, 1, 0, 1 << 16));
        events.push_back(barrier(queue));
        events.push_back(host_function(queue, [] {}));
        for (const Event &event : events) {
            wait(event);
            uint64_t before = 1;
            for (const pi_profiling_info name :
                 {PI_PROFILING_QUEUED, PI_PROFILING_SUBMIT, PI_PROFILING_START, PI_PROFILING_END}) {
                OK(piEventGetProfilingInfo(event, name, sizeof time, &time, nullptr));
                CHECK(time >= before);
                before = time;
            }
        }
        const Event unprofiled = fill(place.queue, mem, &one, 1, 0, 16);
        wait(unprofiled);
        refused(piEventGetProfilingInfo(unprofiled, PI_PROFILING_END, sizeof time, &time, nullptr),
                PI_ERROR_PROFILING_UNAVAILABLE);
    }
}

TEST_CASE("commands of threads that submit, wait and release concurrently complete in order") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        std::vector<Mem> buffers;
        for (int id = 0; id < 4; ++id)
            buffers.push_back(place.buffer(4096));
        for (int id = 0; id < 4; ++id) {
            threads.emplace_back([&, id] {
                auto desc = pi::desc<pi_buffer_fill_desc>();
                desc.mem = buffers[id];
                desc.pattern_size = 4;
                desc.size = 4096;
                for (uint32_t i = 0; i < 100; ++i) {
                    desc.pattern = &i;
                    pi_event event = nullptr;
                    wrong += piEnqueueMemBufferFill(place.queue, &desc, 0, nullptr, &event) != 0;
                    if (i % 3 == 0)
                        wrong += piEventWait(event, PI_TIMEOUT_NEVER) != 0;
                    wrong += piEventRelease(event) != 0;
                }
                wrong += piQueueFinish(place.queue) != 0;
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        CHECK(wrong == 0);
        for (const Mem &mem : buffers)
            CHECK(contents(place.queue, mem)[0] == 99);
    }
}
