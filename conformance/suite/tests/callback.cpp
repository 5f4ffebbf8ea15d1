// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Callbacks: what they may do, and how often they are called.

#include "checks.hpp"
#include "command_cases.hpp"
#include "everything.hpp"
#include "fixture.hpp"
#include "host_memory.hpp"
#include "kernels.hpp"
#include "registry.hpp"

#include <atomic>
#include <chrono>
#include <exception>
#include <future>
#include <memory>

namespace pi::suite {
namespace {

// How a plugin calls the application: when an event completes, when a callback is set on an event
// that is complete, within the signal or the last release of a host event, and by a host function.
// The same rules hold inside each.
enum class Way { callback, late_callback, signal, last_release, host_function };

std::vector<Way> ways(Fixture &fixture) {
    std::vector<Way> all{Way::callback, Way::late_callback, Way::signal, Way::last_release};
    if (fixture.can(PI_CAPABILITY_HOST_FUNCTION))
        all.push_back(Way::host_function);
    return all;
}

const char *name_of(Way way) {
    return way == Way::callback        ? " in a callback"
           : way == Way::late_callback ? " in a callback that was set on a complete event"
           : way == Way::signal        ? " in a callback of a host event that is signalled"
           : way == Way::last_release  ? " in a callback of a host event that is abandoned"
                                       : " in a host function";
}

struct HostCall {
    std::function<void()> body;
    std::exception_ptr failure;
    Flag done;
};

void PI_CALL run_host_call(void *user_data) {
    const std::unique_ptr<std::shared_ptr<HostCall>> call(
        static_cast<std::shared_ptr<HostCall> *>(user_data));
    try {
        (*call)->body();
    } catch (...) {
        (*call)->failure = std::current_exception();
    }
    (*call)->done.set();
}

void run_in_host_function(Fixture &fixture, pi_queue queue, const std::function<void()> &body) {
    const auto call = std::make_shared<HostCall>();
    call->body = body;
    auto desc = pi::desc<pi_host_function_desc>();
    desc.function = &run_host_call;
    desc.user_data = new std::shared_ptr<HostCall>(call);
    const Event gate = fixture.make_host_event(); // it may release the queue
    fixture.enqueue(queue, desc, {gate});
    require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.signal(gate);
    fixture.wait(call->done, "a host function");
    if (call->failure)
        std::rethrow_exception(call->failure);
}

void run_in_callback_of_host_event(Fixture &fixture, Way way, const std::function<void()> &body) {
    Event event = fixture.make_host_event();
    const auto done = fixture.on_complete(event, [&](pi_event, pi_result) { body(); });
    if (way == Way::signal)
        fixture.signal(event);
    else
        event.reset();
    fixture.wait(*done, "a host event's callback");
    fixture.check_callbacks();
}

/// Has the plugin call the body, behind a command of the queue, and waits until it returns. What
/// fails there fails the test. The body may release the queue.
void run_inside(Fixture &fixture, Way way, pi_queue queue, const std::function<void()> &body) {
    if (way == Way::host_function)
        return run_in_host_function(fixture, queue, body);
    if (way == Way::signal || way == Way::last_release) {
        fixture.wait(fixture.barrier(queue));
        return run_in_callback_of_host_event(fixture, way, body);
    }
    const Event gate = fixture.make_host_event();
    Event event = fixture.barrier(queue, {gate});
    const auto call = [&](pi_event, pi_result result) {
        require_equal(result, PI_SUCCESS, "the result that the callback was given");
        body();
        if (way == Way::callback)
            event.reset();
    };
    require_success(piQueueFlush(queue), "piQueueFlush");
    if (way == Way::late_callback) {
        fixture.signal(gate);
        fixture.wait(event);
    }
    const auto done = fixture.on_complete(event, call);
    if (way == Way::callback)
        fixture.signal(gate);
    fixture.wait(*done, "the callback");
    fixture.check_callbacks();
}

CONFORMANCE_TEST("lifetime", "a callback may enqueue, signal and release") {
    for (const Way way : ways(fixture)) {
        const Bytes bytes = fixture.random_bytes(4096);
        const Mem src = fixture.make_buffer(fixture.place(), bytes);
        const Mem dst = fixture.make_buffer(4096);
        Queue first = fixture.make_queue();
        Queue second = fixture.make_queue();
        const Queue reader = fixture.make_queue();
        Event gate = fixture.make_host_event();
        Event before = fixture.barrier(first);
        const Event behind = fixture.barrier(second, {gate});
        Event copied;
        run_inside(fixture, way, first, [&] {
            copied = fixture.copy(first, src, 0, dst, 0, 4096);
            fixture.signal(gate);
            gate.reset();
            first.reset();
            second.reset();
            before.reset();
        });
        fixture.wait({copied, behind});
        fixture.require_contents(reader, dst, bytes, join("what was copied from", name_of(way)));
    }
}

CONFORMANCE_TEST("lifetime", "a callback may create objects, map, launch and import") {
    const std::optional<uint64_t> alignment = import_alignment(fixture, fixture.device());
    const bool launches = has_kernels(fixture);
    const Program program = launches ? make_program(fixture) : Program();
    const Queue queue = fixture.make_queue();
    for (const Way way : ways(fixture)) {
        const std::vector<uint32_t> words{1, 2, 3, 4};
        const Mem given = fixture.make_buffer(fixture.place(), bytes_of(words));
        HostMemory memory(4096, alignment.value_or(1));
        std::vector<Queue> queues;
        std::vector<Mem> mems;
        std::vector<Event> events;
        std::vector<Kernel> kernels;
        void *pointer = nullptr;
        run_inside(fixture, way, queue, [&] {
            queues.push_back(fixture.make_queue());
            mems.push_back(fixture.make_buffer(4096));
            if (fixture.can(PI_CAPABILITY_VIEW))
                mems.push_back(fixture.make_view(mems[0], 0, 64));
            if (alignment && 4096 % *alignment == 0)
                mems.push_back(make_import(fixture.place(), memory));
            const Event host = fixture.make_host_event();
            fixture.signal(host);
            for (const Mem &mem : mems)
                events.push_back(
                    fixture.fill(queues[0], mem, 0, 64, Bytes(1, std::byte{1}), {host}));
            events.push_back(fixture.map(queues[0], mems[0], PI_MAP_READ, 0, 64, &pointer));
            if (launches) {
                kernels.push_back(make_kernel(program, "add"));
                Arguments arguments;
                arguments.buffer(given).value(uint32_t{10});
                events.push_back(fixture.enqueue(queues[0], launch_desc(kernels[0], arguments, 4)));
            }
            require_success(piQueueFlush(queues[0]), "piQueueFlush", name_of(way));
        });
        for (const Event &event : events)
            fixture.wait(event, join("a command from", name_of(way)));
        require_same_bytes(pointer, Bytes(64, std::byte{1}).data(), 64,
                           join("what was mapped", name_of(way)));
        fixture.wait(fixture.unmap(queues[0], mems[0], pointer));
        if (launches)
            fixture.require_contents(queue, given, bytes_of({11, 12, 13, 14}),
                                     join("what was launched", name_of(way)));
    }
}

CONFORMANCE_TEST("lifetime",
                 "a callback may release the last reference of an object of every kind") {
    for (const Way way : ways(fixture)) {
        Context context = fixture.make_context({fixture.device()});
        Everything all(fixture, {fixture.device(), context});
        Event filled = fixture.fill(all.queue, all.mem, 0, 64, Bytes(1, std::byte{1}));
        run_inside(fixture, way, all.queue, [&] {
            all.release();
            release(context);
            release(filled);
        });
    }
}

CONFORMANCE_TEST("lifetime", "other threads get through their calls while a callback runs") {
    for (const Way way : ways(fixture)) {
        const CommandCases commands = make_command_cases(fixture);
        const Queue queue = fixture.make_queue();
        const Queue other = fixture.make_queue();
        // Also if a call fails, commands end before their memory is released.
        const std::unique_ptr<pi_queue_s, decltype(&piQueueFinish)> busy(queue.get(),
                                                                         &piQueueFinish);
        const Event gate = fixture.make_host_event();
        const Event before = fixture.barrier(queue);
        const Event behind = fixture.barrier(other, {gate});
        std::vector<Event> started;
        const auto call_everything = [&] {
            const Queue made = fixture.make_queue();
            const Mem mem = fixture.make_buffer(64);
            for (const auto &command : commands)
                started.push_back(command->start(queue));
            started.push_back(fixture.fill(made, mem, 0, 64, Bytes(1, std::byte{1}), {before}));
            require(fixture.is_complete(before), "what is before a callback is not complete");
            fixture.on_complete(before, [](pi_event, pi_result) {});
            fixture.signal(gate);
            require_success(piQueueFlush(queue), "piQueueFlush while a callback runs");
        };
        std::future<void> calls;
        run_inside(fixture, way, queue, [&] {
            calls = std::async(std::launch::async, call_everything);
            require(calls.wait_for(std::chrono::milliseconds(fixture.patience()) / 2) ==
                        std::future_status::ready,
                    "another thread's calls do not return while the plugin calls the application",
                    name_of(way));
        });
        calls.get();
        fixture.wait(behind);
        for (const Event &event : started)
            fixture.wait(event, "what another thread has enqueued while a callback ran");
        for (const auto &command : commands) {
            command->require_done(other);
            command->clean_up(other);
        }
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

// Every call that blocks, on a queue that is busy and on one that is idle.
class BlockingCalls {
public:
    explicit BlockingCalls(Fixture &fixture)
        : fixture_(fixture), commands_(make_command_cases(fixture)),
          unsignalled_(fixture.make_host_event()), busy_(fixture.make_queue()),
          idle_(fixture.make_queue()), held_(fixture.barrier(busy_, {unsignalled_})) {}

    /// Inside a callback: each is refused.
    void require_refused(const std::string &where) {
        require_error(piEventWait(held_, PI_TIMEOUT_NEVER), PI_ERROR_WOULD_BLOCK, "piEventWait",
                      where);
        require_error(piEventWait(held_, 0), {PI_ERROR_WOULD_BLOCK, PI_ERROR_TIMEOUT},
                      "piEventWait with a timeout of 0", where);
        require_error(piQueueFinish(busy_), PI_ERROR_WOULD_BLOCK, "piQueueFinish", where);
        if (const pi_result finished = piQueueFinish(idle_); finished != PI_SUCCESS)
            require_error(finished, PI_ERROR_WOULD_BLOCK, "piQueueFinish of an idle queue", where);
        for (const pi_queue queue : {busy_.get(), idle_.get()})
            for (const auto &command : commands_)
                require_untouched<pi_event>(join(command->name(), " with PI_COMMAND_BLOCKING",
                                                 queue == idle_ ? " on an idle queue" : "", where),
                                            {PI_ERROR_WOULD_BLOCK}, [&](pi_event *out) {
                                                return command->enqueue(queue, PI_COMMAND_BLOCKING,
                                                                        0, nullptr, out);
                                            });
    }

    /// None has enqueued anything.
    void require_undone() {
        const Queue other = fixture_.make_queue();
        fixture_.signal(unsignalled_);
        fixture_.wait({held_, fixture_.barrier(busy_), fixture_.barrier(idle_)});
        for (const auto &command : commands_) {
            command->require_undone(other);
            command->clean_up(other);
        }
    }

private:
    Fixture &fixture_;
    CommandCases commands_;
    Event unsignalled_;
    Queue busy_;
    Queue idle_;
    Event held_;
};

CONFORMANCE_TEST("lifetime", "a blocking call inside a callback is refused and does not wait") {
    for (const Way way : ways(fixture)) {
        BlockingCalls calls(fixture);
        const Queue queue = fixture.make_queue();
        const Event before = fixture.barrier(queue);
        run_inside(fixture, way, queue, [&] {
            calls.require_refused(name_of(way));
            require_success(piEventWait(before, PI_TIMEOUT_NEVER), "piEventWait", name_of(way),
                            " for an event that is complete");
        });
        calls.require_undone();
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

CONFORMANCE_TEST("lifetime", "callbacks that are set while the event completes are called, too") {
    constexpr unsigned setters = 2;
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 100; ++round) {
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        std::atomic<unsigned> set{0};
        std::vector<std::shared_ptr<Flag>> flags[setters];
        fixture.run_threads(setters + 1, [&](unsigned thread) {
            if (thread == setters) {
                fixture.signal_after(gate, [&] {
                    while (set < 10)
                        std::this_thread::yield();
                });
                return;
            }
            for (bool late = false; !late;) {
                late = fixture.is_complete(held);
                for (int i = 0; i < 10; ++i, ++set)
                    flags[thread].push_back(fixture.on_complete(held, [](pi_event, pi_result) {}));
            }
        });
        for (const auto &of_thread : flags)
            for (const auto &flag : of_thread)
                fixture.wait(*flag, "a callback that was set while its event completed");
    }
}

} // namespace
} // namespace pi::suite
