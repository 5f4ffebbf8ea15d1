// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command graph of the sdk's C half, through the template plugin.

#include "machine.hpp"
#include "random_regions.hpp"

#include <pthread.h>

#include <atomic>
#include <thread>

using namespace template_test;

namespace {

/// The arguments of a callback.
struct Seen {
    std::atomic<int> calls{0};
    std::atomic<pi_result> result{1};
    static void PI_CALL callback(pi_event, pi_result result, void *user_data) {
        auto *self = static_cast<Seen *>(user_data);
        self->result = result;
        ++self->calls;
    }
};

/// Runs the body on a thread with a small stack, on which a recursion through 10,000 events would
/// crash.
template <class Body>
void on_small_stack(Body body) {
    pthread_attr_t attributes;
    pthread_t thread;
    REQUIRE(pthread_attr_init(&attributes) == 0);
    REQUIRE(pthread_attr_setstacksize(&attributes, 256 * 1024) == 0);
    const auto run = [](void *argument) -> void * {
        (*static_cast<Body *>(argument))();
        return nullptr;
    };
    REQUIRE(pthread_create(&thread, &attributes, run, &body) == 0);
    REQUIRE(pthread_join(thread, nullptr) == 0);
    pthread_attr_destroy(&attributes);
}

} // namespace

TEST_CASE("a command waits until all its dependencies are complete") {
    const Machine machine(GENERATE(false, true));
    const Bytes bytes = RandomRegions(1).bytes(16);
    const Mem src = machine.buffer(bytes), dst = machine.buffer(Bytes(16));
    const Event first = machine.host_event(), second = machine.host_event();
    Event copied;
    REQUIRE(Machine::copy(machine.queue, src, dst, {range(0, 0, 16)}, {first, second},
                          copied.out()) == PI_SUCCESS);
    CHECK(piEventSignalHost(second, PI_SUCCESS) == PI_SUCCESS);
    CHECK(status(copied) == PI_EVENT_QUEUED);
    CHECK(piEventWait(copied, 0) == PI_ERROR_TIMEOUT);
    CHECK(piEventWait(copied, 1000) == PI_ERROR_TIMEOUT);
    CHECK(machine.read_back(dst) == Bytes(16));
    CHECK(piEventSignalHost(first, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventWait(copied, patience) == PI_SUCCESS);
    CHECK(status(copied) == PI_EVENT_COMPLETE);
    CHECK(machine.read_back(dst) == bytes);
}

TEST_CASE("an in-order queue keeps its order behind a delayed command") {
    const Machine machine(GENERATE(false, true));
    const Mem one = machine.buffer(Bytes(4, 1)), two = machine.buffer(Bytes(4, 2));
    const Mem dst = machine.buffer(Bytes(4));
    const Event gate = machine.host_event();
    Event last;
    REQUIRE(Machine::copy(machine.queue, one, dst, {range(0, 0, 4)}, {gate}) == PI_SUCCESS);
    REQUIRE(Machine::copy(machine.queue, two, dst, {range(0, 0, 2)}, {}, last.out()) == PI_SUCCESS);
    CHECK(status(last) == PI_EVENT_QUEUED);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piQueueFinish(machine.queue) == PI_SUCCESS);
    CHECK(machine.read_back(dst) == Bytes{2, 2, 1, 1});
}

TEST_CASE("every object of a delayed command may be released at once") {
    const bool threads = GENERATE(false, true);
    const Machine machine(threads);
    Bytes target(16);
    auto desc = buffer_desc(16);
    desc.flags = PI_MEM_USE_HOST_PTR;
    desc.host_ptr = target.data();
    const Bytes bytes = RandomRegions(1).bytes(16);
    const Event gate = machine.host_event();
    Event done;
    {
        Mem src = machine.buffer(bytes), dst;
        REQUIRE(piMemBufferCreate(machine.context, machine.device, &desc, dst.out()) == PI_SUCCESS);
        Queue queue = machine.make_queue();
        Event middle;
        std::vector<pi_region> regions{range(0, 0, 8), range(8, 8, 8)};
        REQUIRE(Machine::wait_for(queue, {gate}, middle.out()) == PI_SUCCESS);
        REQUIRE(Machine::copy(queue, src, dst, regions, {middle}, done.out()) == PI_SUCCESS);
        regions.assign(2, pi_region{});
    }
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(done, patience) == PI_SUCCESS);
    CHECK(target == bytes);
}

TEST_CASE("a chain of 10,000 events needs no deep stack") {
    const bool threads = GENERATE(false, true);
    const Machine machine(threads);
    const Event gate = machine.host_event();
    const int length = threads ? 500 : 10000;
    pi_event last = gate;
    piEventRetain(last);
    // Every other one in its own queue: only the wait list connects them.
    const Queue queues[] = {machine.make_queue(), machine.make_queue()};
    for (int i = 0; i < length; ++i) {
        pi_event next = nullptr;
        REQUIRE(Machine::wait_for(queues[i % 2], {last}, &next) == PI_SUCCESS);
        piEventRelease(last);
        last = next;
    }
    const Event end(last);
    CHECK(status(end) == PI_EVENT_QUEUED);
    pi_result signalled = 1;
    on_small_stack([&] { signalled = piEventSignalHost(gate, PI_ERROR_DEVICE_LOST); });
    REQUIRE(signalled == PI_SUCCESS);
    CHECK(piEventWait(end, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(last_error() == "signalled by the application with -68");
}

TEST_CASE("10,000 callbacks that each signal the next event need no deep stack") {
    const Machine machine;
    constexpr int length = 10000;
    std::vector<Event> events;
    for (int i = 0; i <= length; ++i)
        events.push_back(machine.host_event());
    const auto signal_next = [](pi_event, pi_result result, void *user_data) {
        piEventSignalHost(static_cast<pi_event>(user_data), result);
    };
    for (int i = 0; i < length; ++i)
        REQUIRE(piEventSetCallback(events[i], signal_next, static_cast<pi_event>(events[i + 1])) ==
                PI_SUCCESS);
    pi_result signalled = 1;
    on_small_stack([&] { signalled = piEventSignalHost(events.front(), PI_SUCCESS); });
    REQUIRE(signalled == PI_SUCCESS);
    CHECK(piEventWait(events.back(), patience) == PI_SUCCESS);
}

TEST_CASE("a failure propagates along wait lists with its root's text, not along the queue") {
    const Machine machine(GENERATE(false, true));
    const Bytes bytes(8, 5);
    const Mem src = machine.buffer(bytes), dst = machine.buffer(Bytes(8)),
              free = machine.buffer(Bytes(8));
    const Event gate = machine.host_event();
    Event failed, second, follower;
    REQUIRE(Machine::copy(machine.queue, src, dst, {range(0, 0, 8)}, {gate}, failed.out()) ==
            PI_SUCCESS);
    REQUIRE(Machine::wait_for(machine.queue, {failed}, second.out()) == PI_SUCCESS);
    REQUIRE(Machine::copy(machine.queue, src, free, {range(0, 0, 8)}, {}, follower.out()) ==
            PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_ERROR_DEVICE_LOST) == PI_SUCCESS);
    CHECK(piEventWait(gate, patience) == PI_ERROR_DEVICE_LOST);
    CHECK(piEventWait(follower, patience) == PI_SUCCESS);
    for (pi_event event : {static_cast<pi_event>(failed), static_cast<pi_event>(second)}) {
        CHECK(piEventWait(event, patience) == PI_ERROR_DEPENDENCY_FAILED);
        CHECK(last_error() == "signalled by the application with -68");
        CHECK(info_text(piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT) ==
              "signalled by the application with -68");
    }
    CHECK(info_text(piEventGetInfo, follower, PI_EVENT_INFO_ERROR_TEXT).empty());
    CHECK(piQueueFinish(machine.queue) == PI_SUCCESS);
    CHECK(machine.read_back(dst) == Bytes(8));
    CHECK(machine.read_back(free) == bytes);

    // A command that waits for an old failure fails at once.
    Event late;
    REQUIRE(Machine::wait_for(machine.queue, {second}, late.out()) == PI_SUCCESS);
    CHECK(piEventWait(late, patience) == PI_ERROR_DEPENDENCY_FAILED);
}

TEST_CASE("a host event is signalled once, with success or an error") {
    const Machine machine;
    const Event event = machine.host_event();
    Event command;
    REQUIRE(Machine::wait_for(machine.queue, {}, command.out()) == PI_SUCCESS);
    CHECK(piEventSignalHost(command, PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
    CHECK(piEventSignalHost(event, 1) == PI_ERROR_INVALID_VALUE);
    CHECK(piEventSignalHost(event, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventSignalHost(event, PI_SUCCESS) == PI_ERROR_INVALID_OPERATION);
    pi_queue queue = machine.queue;
    CHECK(piEventGetInfo(event, PI_EVENT_INFO_QUEUE, sizeof queue, &queue, nullptr) == PI_SUCCESS);
    CHECK(queue == nullptr);
}

TEST_CASE("an abandoned host event fails its dependents") {
    const Machine machine(GENERATE(false, true));
    Event gate = machine.host_event(), waiter;
    Seen seen;
    REQUIRE(piEventSetCallback(gate, Seen::callback, &seen) == PI_SUCCESS);
    REQUIRE(Machine::wait_for(machine.queue, {gate}, waiter.out()) == PI_SUCCESS);
    REQUIRE(piEventRetain(gate) == PI_SUCCESS);
    REQUIRE(piEventRelease(gate) == PI_SUCCESS);
    CHECK(status(waiter) == PI_EVENT_QUEUED);
    gate.reset();
    CHECK(piEventWait(waiter, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(last_error().find("released before it was signalled") != std::string::npos);
    CHECK(seen.calls == 1);
    CHECK(seen.result == PI_ERROR_ABANDONED);
}

TEST_CASE("a callback is called exactly once, before or after the event is complete") {
    const Machine machine(GENERATE(false, true));
    const Event gate = machine.host_event();
    Event event;
    REQUIRE(Machine::wait_for(machine.queue, {gate}, event.out()) == PI_SUCCESS);
    Seen before, twice, after;
    REQUIRE(piEventSetCallback(event, Seen::callback, &before) == PI_SUCCESS);
    REQUIRE(piEventSetCallback(event, Seen::callback, &twice) == PI_SUCCESS);
    REQUIRE(piEventSetCallback(event, Seen::callback, &twice) == PI_SUCCESS);
    CHECK(piEventSetCallback(event, nullptr, nullptr) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(before.calls == 0);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    REQUIRE(piEventWait(event, patience) == PI_SUCCESS);
    REQUIRE(piEventSetCallback(event, Seen::callback, &after) == PI_SUCCESS);
    CHECK(after.calls == 1);
    for (int i = 0; i < 3000 && (before.calls < 1 || twice.calls < 2); ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(before.calls == 1);
    CHECK(twice.calls == 2);
    CHECK(before.result == PI_SUCCESS);
}

TEST_CASE("a callback may do anything but block, and release its own event") {
    const Machine machine;
    const Event other = machine.host_event();
    struct State {
        const Machine &machine;
        pi_event unsignalled;
        pi_result wait = 1, finish = 1, blocking = 1, ask = 1, own = 1, enqueue = 1;
        Event enqueued;
    } state{machine, other};
    const Event gate = machine.host_event();
    Event held;
    pi_event event = nullptr;
    REQUIRE(Machine::wait_for(machine.queue, {other}, held.out()) == PI_SUCCESS);
    REQUIRE(Machine::wait_for(machine.make_queue(), {gate}, &event) == PI_SUCCESS);
    const auto callback = [](pi_event self, pi_result, void *user_data) {
        auto *s = static_cast<State *>(user_data);
        auto desc = pi::desc<pi_barrier_desc>();
        desc.flags = PI_COMMAND_BLOCKING;
        s->wait = piEventWait(s->unsignalled, patience);
        s->ask = piEventWait(s->unsignalled, 0);
        s->own = piEventWait(self, patience);
        s->finish = piQueueFinish(s->machine.queue);
        s->blocking = piEnqueueBarrier(s->machine.queue, &desc, 0, nullptr, nullptr);
        s->enqueue = Machine::wait_for(s->machine.make_queue(), {}, s->enqueued.out());
        piEventRelease(self);
    };
    REQUIRE(piEventSetCallback(event, callback, &state) == PI_SUCCESS);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    CHECK(state.wait == PI_ERROR_WOULD_BLOCK);
    CHECK(state.finish == PI_ERROR_WOULD_BLOCK);
    CHECK(state.blocking == PI_ERROR_WOULD_BLOCK);
    CHECK(state.ask == PI_ERROR_TIMEOUT);
    CHECK(state.own == PI_SUCCESS);
    CHECK(state.enqueue == PI_SUCCESS);
    CHECK(piEventWait(state.enqueued, patience) == PI_SUCCESS);
    CHECK(piEventSignalHost(other, PI_SUCCESS) == PI_SUCCESS);
}

TEST_CASE("a delayed map has its address when it is complete") {
    const Machine machine(GENERATE(false, true));
    const Mem mem = machine.buffer(Bytes(8, 3));
    const Event gate = machine.host_event(), bad = machine.host_event();
    Event mapped, failed;
    void *pointer = nullptr, *never = nullptr;
    REQUIRE(Machine::map(machine.queue, mem, 2, 4, PI_MAP_READ, &pointer, {gate}, mapped.out()) ==
            PI_SUCCESS);
    REQUIRE(Machine::map(machine.queue, mem, 0, 8, PI_MAP_READ, &never, {bad}, failed.out()) ==
            PI_SUCCESS);
    CHECK(pointer == nullptr);
    REQUIRE(piEventSignalHost(gate, PI_SUCCESS) == PI_SUCCESS);
    CHECK(piEventSignalHost(bad, PI_ERROR_TIMEOUT) == PI_ERROR_INVALID_VALUE);
    REQUIRE(piEventSignalHost(bad, PI_ERROR_BACKEND) == PI_SUCCESS);
    REQUIRE(piEventWait(mapped, patience) == PI_SUCCESS);
    REQUIRE(pointer != nullptr);
    CHECK(*static_cast<unsigned char *>(pointer) == 3);
    CHECK(piEventWait(failed, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK(never == nullptr);
    CHECK(Machine::unmap(machine.queue, mem, pointer) == PI_SUCCESS);
    CHECK(piQueueFinish(machine.queue) == PI_SUCCESS);
    // The failed map mapped nothing.
    CHECK(Machine::unmap(machine.queue, mem, pointer) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("threads may enqueue, signal and wait at once") {
    const uint64_t seed = GENERATE(1, 2, 3);
    const Machine machine(GENERATE(false, true));
    CAPTURE(seed);
    constexpr int threads = 4, rounds = 100;
    const Mem mem = machine.buffer(Bytes(threads * 2));
    std::vector<Event> gates;
    for (int i = 0; i < rounds; ++i)
        gates.push_back(machine.host_event());
    std::atomic<int> failures{0}, callbacks{0};
    const auto count = [](pi_event, pi_result, void *user_data) {
        ++*static_cast<std::atomic<int> *>(user_data);
    };
    std::vector<std::thread> workers;
    for (int worker = 0; worker < threads; ++worker)
        workers.emplace_back([&, worker] {
            RandomRegions random(seed * 100 + worker);
            for (int round = 0; round < rounds; ++round) {
                const pi_event gate = gates[round];
                const pi_region region = range(worker * 2, worker * 2 + 1, 1);
                Event copied, waited;
                const bool ok =
                    Machine::copy(machine.queue, mem, mem, {region}, {gate}, copied.out()) ==
                        PI_SUCCESS &&
                    Machine::wait_for(machine.queue, {copied, gate}, waited.out()) == PI_SUCCESS &&
                    piEventSetCallback(copied, count, &callbacks) == PI_SUCCESS;
                // One of them opens the gate, whichever comes first; or the main thread does,
                // later.
                if (random.between(0, 2) == 0)
                    piEventSignalHost(gate, PI_SUCCESS);
                if (!ok)
                    ++failures;
            }
        });
    for (const Event &gate : gates)
        piEventSignalHost(gate, PI_SUCCESS);
    for (std::thread &worker : workers)
        worker.join();
    CHECK(failures == 0);
    CHECK(piQueueFinish(machine.queue) == PI_SUCCESS);
    for (int i = 0; i < 3000 && callbacks < threads * rounds; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    CHECK(callbacks == threads * rounds);
}
