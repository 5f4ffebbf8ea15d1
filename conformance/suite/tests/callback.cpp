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

using Body = std::function<void(pi_event)>;
/// Runs the body in a callback, and waits until it has returned.
using RunInCallback = std::function<void(const Body &)>;

// Calls test(how, run) for each way in which a callback comes: of a command, set before and after
// its completion; of a host event's signal, and of its last release without one.
void for_each_callback(
    Fixture &fixture, const std::function<void(const std::string &, const RunInCallback &)> &test) {
    const auto wait_for = [&](pi_event event, const Body &body, const auto &cause) {
        const auto done =
            fixture.on_complete(event, [&](pi_event reported, pi_result) { body(reported); });
        cause();
        fixture.wait(*done, "a callback");
        fixture.check_callbacks();
    };
    const Queue queue = fixture.make_queue();
    const auto nothing = [] {};
    test("a callback of a command", [&](const Body &body) {
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        wait_for(held, body, [&] { fixture.signal(gate); });
    });
    test("a callback that is set on a complete event", [&](const Body &body) {
        const Event complete = fixture.barrier(queue);
        fixture.wait(complete);
        wait_for(complete, body, nothing);
    });
    test("a callback of a host event that is signalled", [&](const Body &body) {
        const Event event = fixture.make_host_event();
        wait_for(event, body, [&] { fixture.signal(event); });
    });
    test("a callback of an abandoned host event", [&](const Body &body) {
        Event event = fixture.make_host_event();
        wait_for(event, body, [&] { event.reset(); });
    });
}

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
    for_each_callback(fixture, [&](const std::string &, const RunInCallback &run) {
        Context context = fixture.make_context({fixture.device()});
        Everything all(fixture, {fixture.device(), context});
        Event gate = fixture.make_host_event();
        Event held = fixture.fill(all.queue, all.mem, 0, 64, Bytes(1, std::byte{1}), {gate});
        run([&](pi_event) {
            fixture.signal(gate);
            suite::release(gate);
            suite::release(held);
            all.release();
            suite::release(context);
        });
    });
    // The last references of the event's own objects.
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

CONFORMANCE_TEST("lifetime", "a host function may release the last reference of every object") {
    fixture.need(PI_CAPABILITY_HOST_FUNCTION, "PI_CAPABILITY_HOST_FUNCTION");
    Everything all(fixture, fixture.place());
    Event gate = fixture.make_host_event();
    const Event waited = fixture.barrier(fixture.make_queue(), {gate});
    auto desc = pi::desc<pi_host_function_desc>();
    std::string failure;
    std::function<void()> release_all = [&] {
        try {
            all.release();
        } catch (const Failure &failed) {
            failure = failed.text;
        }
    };
    desc.function = [](void *function) { (*static_cast<std::function<void()> *>(function))(); };
    desc.user_data = &release_all;
    const Event event = fixture.enqueue(all.queue, desc, {waited});
    require_success(piQueueFlush(all.queue), "piQueueFlush");
    fixture.signal(gate);
    fixture.wait(event, "a host function that releases its queue and other objects");
    require(failure.empty(), "in a host function: ", failure);
}

CONFORMANCE_TEST("lifetime", "other threads get through their calls while a callback runs") {
    for_each_callback(fixture, [&](const std::string &how, const RunInCallback &run) {
        const CommandCases commands = make_command_cases(fixture);
        const Queue queue = fixture.make_queue();
        const Queue other = fixture.make_queue();
        // Also if a call fails, commands end before their memory is released.
        const std::unique_ptr<pi_queue_s, decltype(&piQueueFinish)> busy(queue.get(),
                                                                         &piQueueFinish);
        const Event gate = fixture.make_host_event();
        const Event behind = fixture.barrier(other, {gate});
        std::vector<Event> started;
        std::future<void> calls;
        const auto call_everything = [&](pi_event event) {
            const Queue made = fixture.make_queue();
            const Mem mem = fixture.make_buffer(64);
            for (const auto &command : commands)
                started.push_back(command->start(queue));
            started.push_back(fixture.fill(made, mem, 0, 64, Bytes(1, std::byte{1}), {event}));
            require(fixture.is_complete(event), "the event of ", how, " is not complete");
            fixture.on_complete(event, [](pi_event, pi_result) {});
            fixture.signal(gate);
            require_success(piQueueFlush(queue), "piQueueFlush while a callback runs");
        };
        run([&](pi_event event) {
            calls = std::async(std::launch::async, call_everything, event);
            require(calls.wait_for(std::chrono::milliseconds(fixture.patience()) / 2) ==
                        std::future_status::ready,
                    "another thread's calls do not return while ", how, " runs");
        });
        calls.get();
        fixture.wait(behind);
        for (std::size_t i = 0; i < commands.size(); ++i) {
            fixture.wait(started[i], "what another thread has enqueued while a callback ran");
            commands[i]->require_done(other);
            commands[i]->clean_up(other);
        }
        fixture.wait_result(started.back()); // behind an abandoned event it fails
    });
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
    const CommandCases commands = make_command_cases(fixture);
    const Queue other = fixture.make_queue();
    const Queue idle = fixture.make_queue();
    fixture.wait(fixture.barrier(idle));
    const Event unsignalled = fixture.make_host_event();
    const Event waiting = fixture.barrier(other, {unsignalled});
    const auto refuse_all = [&](const std::string &how) {
        require_error(piEventWait(waiting, PI_TIMEOUT_NEVER), PI_ERROR_WOULD_BLOCK,
                      "piEventWait in ", how);
        require_error(piEventWait(waiting, 0), {PI_ERROR_WOULD_BLOCK, PI_ERROR_TIMEOUT},
                      "piEventWait with timeout 0 in ", how);
        require_error(piQueueFinish(other), PI_ERROR_WOULD_BLOCK, "piQueueFinish in ", how);
        if (const pi_result finished = piQueueFinish(idle); finished != PI_SUCCESS)
            require_error(finished, PI_ERROR_WOULD_BLOCK, "piQueueFinish of an idle queue in ",
                          how);
        for (const auto &command : commands)
            require_untouched<pi_event>(join(command->name(), ", blocking, in ", how),
                                        {PI_ERROR_WOULD_BLOCK}, [&](pi_event *out) {
                                            return command->enqueue(other, PI_COMMAND_BLOCKING, 0,
                                                                    nullptr, out);
                                        });
    };
    for_each_callback(fixture, [&](const std::string &how, const RunInCallback &run) {
        run([&](pi_event event) {
            refuse_all(how);
            piEventWait(event, PI_TIMEOUT_NEVER); // which is complete
        });
    });
    if (fixture.can(PI_CAPABILITY_HOST_FUNCTION)) {
        std::string failure;
        std::function<void()> refuse = [&] {
            try {
                refuse_all("a host function");
            } catch (const Failure &failed) {
                failure = failed.text;
            }
        };
        auto desc = pi::desc<pi_host_function_desc>();
        desc.function = [](void *function) { (*static_cast<std::function<void()> *>(function))(); };
        desc.user_data = &refuse;
        fixture.wait(fixture.enqueue(fixture.make_queue(), desc), "a host function");
        require(failure.empty(), "in a host function: ", failure);
    }
    fixture.signal(unsignalled);
    fixture.wait(waiting);
    for (const auto &command : commands) {
        command->require_undone(other);
        command->clean_up(other);
    }
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
