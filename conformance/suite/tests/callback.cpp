// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callbacks: what they may do, and how often they are called.

#include "checks.hpp"
#include "command_cases.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "registry.hpp"

#include <atomic>
#include <chrono>
#include <future>
#include <memory>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("lifetime", "a callback may enqueue, signal and release") {
    const Bytes bytes = fixture.random_bytes(4096);
    const Mem src = fixture.make_buffer(fixture.place(), bytes);
    const Mem dst = fixture.make_buffer(4096);
    Queue first = fixture.make_queue();
    Queue second = fixture.make_queue();
    const Queue reader = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    Event second_gate = fixture.make_host_event();
    Event held = fixture.barrier(first, {gate});
    const Event behind = fixture.barrier(second, {second_gate});
    Event copied;
    const auto done = fixture.on_complete(held, [&](pi_event, pi_result result) {
        require_equal(result, PI_SUCCESS, "the result that the callback was given");
        copied = fixture.copy(first, src, 0, dst, 0, 4096);
        fixture.signal(second_gate);
        second_gate.reset();
        first.reset();
        second.reset();
        held.reset();
    });
    require_success(piQueueFlush(first), "piQueueFlush");
    fixture.signal(gate);
    fixture.wait(*done, "the callback");
    fixture.check_callbacks();
    fixture.wait({copied, behind});
    fixture.require_contents(reader, dst, bytes, "what was copied from inside a callback");
}

CONFORMANCE_TEST("lifetime",
                 "a callback may release the last reference of an object of every kind") {
    Context context = fixture.make_context({fixture.device()});
    Everything all(fixture, {fixture.device(), context});
    const Event gate = fixture.make_host_event(); // of a context that outlives it
    Event held = fixture.fill(all.queue, all.mem, 0, 64, Bytes(1, std::byte{1}), {gate});
    const auto done = fixture.on_complete(held, [&](pi_event, pi_result result) {
        require_equal(result, PI_SUCCESS, "the result that the callback was given");
        all.release();
        release(context);
        release(held);
    });
    require_success(piQueueFlush(all.queue), "piQueueFlush");
    fixture.signal(gate);
    fixture.wait(*done, "the callback");
    fixture.check_callbacks();
}

CONFORMANCE_TEST("lifetime", "other threads get through their calls while a callback runs") {
    const CommandCases commands = make_command_cases(fixture);
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    // Also if a call fails, commands end before their memory is released.
    const std::unique_ptr<pi_queue_s, decltype(&piQueueFinish)> busy(queue.get(), &piQueueFinish);
    const Event gate = fixture.make_host_event();
    const Event second_gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    const Event behind = fixture.barrier(other, {second_gate});
    std::vector<Event> started;
    const auto call_everything = [&] {
        const Queue made = fixture.make_queue();
        const Mem mem = fixture.make_buffer(64);
        for (const auto &command : commands)
            started.push_back(command->start(queue));
        started.push_back(fixture.fill(made, mem, 0, 64, Bytes(1, std::byte{1}), {held}));
        require(fixture.is_complete(held), "the event of a callback that runs is not complete");
        fixture.on_complete(held, [](pi_event, pi_result) {});
        fixture.signal(second_gate);
        require_success(piQueueFlush(queue), "piQueueFlush while a callback runs");
    };
    std::future<void> calls;
    const auto done = fixture.on_complete(held, [&](pi_event, pi_result result) {
        require_equal(result, PI_SUCCESS, "the result that the callback was given");
        calls = std::async(std::launch::async, call_everything);
        require(calls.wait_for(std::chrono::milliseconds(fixture.patience()) / 2) ==
                    std::future_status::ready,
                "another thread's calls do not return while a callback runs");
    });
    require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.signal(gate);
    fixture.wait(*done, "the callback");
    fixture.check_callbacks();
    calls.get();
    fixture.wait(behind);
    for (const Event &event : started)
        fixture.wait(event, "what another thread has enqueued while a callback ran");
    for (const auto &command : commands) {
        command->require_done(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("lifetime", "a chain of callbacks that enqueue may be of any length") {
    constexpr int links = 200;
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(256));
    Flag end;
    std::atomic<int> calls{0};
    std::function<void(pi_event, pi_result)> next = [&](pi_event, pi_result result) {
        require_equal(result, PI_SUCCESS, "a link's result");
        const int call = ++calls;
        if (call == links) {
            end.set();
            return;
        }
        const Event event = fixture.fill(queue, mem, static_cast<uint64_t>(call), 1,
                                         Bytes(1, static_cast<std::byte>(call)));
        fixture.on_complete(event, next);
        require_success(piQueueFlush(queue), "piQueueFlush in a callback");
    };
    {
        const Event event = fixture.barrier(queue);
        fixture.on_complete(event, next);
        require_success(piQueueFlush(queue), "piQueueFlush");
    }
    const bool ended = end.wait_for(fixture.patience());
    fixture.check_callbacks();
    require(ended, "the chain stopped after ", calls.load(), " of ", links, " callbacks");
    Bytes expected(256);
    for (int i = 1; i < links; ++i)
        expected[static_cast<std::size_t>(i)] = static_cast<std::byte>(i);
    fixture.require_contents(queue, mem, expected, "what the chain has filled");
}

CONFORMANCE_TEST("lifetime", "a blocking call inside a callback is refused and does not wait") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    const Event gate = fixture.make_host_event();
    const Event unsignalled = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    const Event waiting = fixture.barrier(other, {unsignalled});
    Bytes into(64);
    const auto done = fixture.on_complete(held, [&](pi_event event, pi_result) {
        require_error(piEventWait(waiting, PI_TIMEOUT_NEVER), PI_ERROR_WOULD_BLOCK,
                      "piEventWait in a callback");
        require_error(piQueueFinish(other), PI_ERROR_WOULD_BLOCK, "piQueueFinish in a callback");
        auto barrier = pi::desc<pi_barrier_desc>();
        barrier.flags = PI_COMMAND_BLOCKING;
        require_error(try_enqueue(other, barrier), PI_ERROR_WOULD_BLOCK,
                      "a blocking barrier in a callback");
        const pi_region region = linear(0, 0, into.size());
        auto read = pi::desc<pi_buffer_read_desc>();
        read.flags = PI_COMMAND_BLOCKING;
        read.mem = mem;
        read.host_ptr = into.data();
        read.region_count = 1;
        read.regions = &region;
        require_error(try_enqueue(other, read), PI_ERROR_WOULD_BLOCK,
                      "a blocking read in a callback");
        const std::byte one{1};
        auto fill = pi::desc<pi_buffer_fill_desc>();
        fill.flags = PI_COMMAND_BLOCKING;
        fill.mem = mem;
        fill.pattern = &one;
        fill.pattern_size = 1;
        fill.size = 64;
        require_error(try_enqueue(other, fill), PI_ERROR_WOULD_BLOCK,
                      "a blocking fill in a callback");
        require_success(piEventWait(event, PI_TIMEOUT_NEVER),
                        "piEventWait in a callback for the event itself, which is complete");
    });
    require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.signal(gate);
    fixture.wait(*done, "the callback");
    fixture.check_callbacks();
    fixture.signal(unsignalled);
    fixture.wait(waiting);
    fixture.require_contents(other, mem, Bytes(64), "what a fill that was refused has not filled");
}

CONFORMANCE_TEST("lifetime", "a callback is called once for each time that it was set") {
    constexpr int callbacks = 50;
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    std::atomic<int> calls{0};
    std::vector<std::shared_ptr<Flag>> flags;
    const auto set = [&] {
        for (int i = 0; i < callbacks; ++i)
            flags.push_back(fixture.on_complete(held, [&](pi_event, pi_result) { ++calls; }));
    };
    set();
    fixture.signal(gate);
    fixture.wait(held);
    set(); // the event is complete by now
    for (const auto &flag : flags)
        fixture.wait(*flag, "a callback");
    require_equal(calls.load(), 2 * callbacks, "how often callbacks were called");
}

} // namespace
} // namespace pi::suite
