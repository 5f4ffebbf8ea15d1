// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "checks.hpp"
#include "command_cases.hpp"
#include "fixture.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>

namespace pi::suite {
namespace {

uint64_t honoured_flags(Fixture &fixture) {
    return get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
}

CONFORMANCE_TEST("queue", "a queue answers every info name by its type") {
    const Queue queue = fixture.make_queue();
    check_info(
        "piQueueGetInfo",
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piQueueGetInfo(queue, name, size, value, out_size);
        },
        queue_info_names());
}

CONFORMANCE_TEST(
    "queue", "a queue reports its context, its device and no flags that it was not created with") {
    Queue queue;
    require_success(piQueueCreate(fixture.context(), fixture.device(), nullptr, queue.out()),
                    "piQueueCreate with desc NULL");
    require(get_info<pi_context>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_CONTEXT) ==
                fixture.context(),
            "the queue reports another context");
    require(get_info<pi_device>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_DEVICE) ==
                fixture.device(),
            "the queue reports another device");
    require_equal(get_info<uint64_t>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_FLAGS),
                  uint64_t{0}, "the flags of a queue without any");
}

CONFORMANCE_TEST("queue", "a queue is created on the requested device, in a context of several") {
    const SeveralDevices devices(fixture);
    const Context context = fixture.make_context(devices);
    for (const pi_device device : devices) {
        const Queue queue = fixture.make_queue(Place{device, context});
        require(get_info<pi_device>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_DEVICE) == device,
                "the queue reports another device");
        require(get_info<pi_context>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_CONTEXT) ==
                    context,
                "the queue reports another context");
    }
}

CONFORMANCE_TEST("queue", "the flags that a device supports are accepted, the others refused") {
    const uint64_t honoured = honoured_flags(fixture);
    for (const uint64_t flag : {PI_QUEUE_OUT_OF_ORDER, PI_QUEUE_PROFILING}) {
        auto desc = pi::desc<pi_queue_desc>();
        desc.flags = flag;
        if ((honoured & flag) == 0) {
            require_untouched<pi_queue>(
                join("a queue with flag ", flag, ", which the device does not honour"),
                {PI_ERROR_UNSUPPORTED_FEATURE}, [&](pi_queue *out) {
                    return piQueueCreate(fixture.context(), fixture.device(), &desc, out);
                });
            continue;
        }
        const Queue queue = fixture.make_queue(flag);
        require_equal(get_info<uint64_t>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_FLAGS), flag,
                      "the flags of a queue made with one that is honoured");
    }
    const uint64_t both = honoured & (PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING);
    const Queue queue = fixture.make_queue(both);
    require_equal(get_info<uint64_t>(&piQueueGetInfo, queue.get(), PI_QUEUE_INFO_FLAGS), both,
                  "the flags of a queue made with all that are honoured");
}

CONFORMANCE_TEST("queue", "priorities are hints") {
    for (const uint64_t flag : {PI_QUEUE_PRIORITY_LOW, PI_QUEUE_PRIORITY_HIGH}) {
        const Queue queue = fixture.make_queue(flag);
        fixture.wait(fixture.barrier(queue), "a barrier in a queue with a priority");
    }
}

CONFORMANCE_TEST("queue", "a queue's descriptor obeys the rules of descriptors") {
    check_descriptor(
        "piQueueCreate", pi::desc<pi_queue_desc>(), offsetof(pi_queue_desc, flags),
        [&](const pi_queue_desc *desc) {
            return try_create<pi_queue>([&](pi_queue *out) {
                return piQueueCreate(fixture.context(), fixture.device(), desc, out);
            });
        },
        true);
    require_error(piQueueCreate(fixture.context(), fixture.device(), nullptr, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piQueueCreate with out_queue NULL");
}

CONFORMANCE_TEST("queue", "an in-order queue runs its commands one after the other") {
    constexpr uint64_t size = 4096;
    const Queue queue = fixture.make_queue();
    Bytes model = fixture.random_bytes(size);
    const Mem mem = fixture.make_buffer(fixture.place(), model);
    // Each command works on the result of the one before.
    std::vector<Bytes> sources;
    sources.reserve(64);
    for (int i = 0; i < 64; ++i) {
        const uint64_t length = fixture.random(1, size / 2);
        const uint64_t offset = fixture.random(0, size / 2 - length);
        if (fixture.random(0, 1) == 0) {
            sources.push_back(fixture.random_bytes(length));
            fixture.write(queue, mem, offset, sources.back());
            std::copy(sources.back().begin(), sources.back().end(),
                      model.begin() + static_cast<std::ptrdiff_t>(offset));
        } else {
            fixture.copy(queue, mem, offset, mem, offset + size / 2, length);
            std::copy_n(model.begin() + static_cast<std::ptrdiff_t>(offset), length,
                        model.begin() + static_cast<std::ptrdiff_t>(offset + size / 2));
        }
    }
    fixture.require_contents(queue, mem, model, "the buffer after 64 commands in order");
}

CONFORMANCE_TEST("queue", "a command of an in-order queue waits for a gated one before it") {
    Queue without_desc;
    require_success(piQueueCreate(fixture.context(), fixture.device(), nullptr, without_desc.out()),
                    "piQueueCreate with desc NULL");
    std::vector<Queue> queues;
    queues.push_back(std::move(without_desc));
    const uint64_t honoured =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    for (const uint64_t flag : {uint64_t{0}, uint64_t{PI_QUEUE_PRIORITY_LOW},
                                uint64_t{PI_QUEUE_PRIORITY_HIGH}, honoured & PI_QUEUE_PROFILING})
        queues.push_back(fixture.make_queue(flag));
    for (const Queue &queue : queues) {
        const Event gate = fixture.make_host_event();
        const Mem mem = fixture.make_buffer(4);
        // Not a barrier, which would hold the second command back in any queue.
        const Event first = fixture.fill(queue, mem, 0, 4, Bytes(1, std::byte{5}), {gate});
        const Event second = fixture.fill(queue, mem, 0, 4, Bytes(1, std::byte{7}));
        require_success(piQueueFlush(queue), "piQueueFlush");
        require(!fixture.is_complete(second), "the second command is complete before the first");
        fixture.signal(gate);
        fixture.wait(second);
        require(fixture.is_complete(first), "the first command is not complete when the second is");
    }
}

CONFORMANCE_TEST("queue", "an out-of-order queue lets a command pass a gated one") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Event gate = fixture.make_host_event();
    const Mem mem = fixture.make_buffer(64);
    const Event held = fixture.fill(queue, mem, 0, 32, Bytes(1, std::byte{1}), {gate});
    const Event free = fixture.fill(queue, mem, 32, 32, Bytes(1, std::byte{2}));
    fixture.wait(free, "a command that waits for nothing, behind one that is gated");
    require(!fixture.is_complete(held), "the gated command is complete before its signal");
    fixture.signal(gate);
    fixture.wait(held);
}

CONFORMANCE_TEST("queue", "a barrier of an out-of-order queue orders its commands") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Event gate = fixture.make_host_event();
    const Mem mem = fixture.make_buffer(64);
    const Event before = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1}), {gate});
    const Event barrier = fixture.barrier(queue);
    const Event after = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{2}));
    require_success(piQueueFlush(queue), "piQueueFlush");
    require(!fixture.is_complete(barrier), "the barrier is complete before what it waits for");
    require(!fixture.is_complete(after), "a command behind the barrier is complete before it");
    fixture.signal(gate);
    fixture.wait({before, barrier, after});
    fixture.require_contents(queue, mem, Bytes(64, std::byte{2}), "what the last command has left");
}

CONFORMANCE_TEST("queue", "a failed command does not fail its successors in the queue") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Bytes bytes = fixture.random_bytes(64);
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    const Event failing = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{9}), {gate});
    const Event next = fixture.write(queue, mem, 0, bytes);
    fixture.signal(gate, PI_ERROR_BACKEND);
    fixture.require_result(failing, PI_ERROR_DEPENDENCY_FAILED,
                           "the result of the command whose event failed");
    fixture.wait(next, "the command behind the failed one");
    fixture.require_contents(queue, mem, bytes, "what the successor has written");
}

CONFORMANCE_TEST("queue",
                 "finishing waits for every command, and failed commands are not its error") {
    const Queue queue = fixture.make_queue();
    require_success(piQueueFinish(queue), "piQueueFinish of an empty queue");
    const Event gate = fixture.make_host_event();
    const Mem mem = fixture.make_buffer(1 << 20);
    const Event failing = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{9}), {gate});
    std::vector<Event> events;
    for (int i = 0; i < 32; ++i)
        events.push_back(fixture.fill(queue, mem, 0, 1 << 20, Bytes(1, static_cast<std::byte>(i))));
    fixture.signal(gate, PI_ERROR_BACKEND);
    require_success(piQueueFinish(queue), "piQueueFinish with a failed command");
    require(fixture.is_complete(failing), "the failed command is not complete after piQueueFinish");
    for (const Event &event : events) {
        require(fixture.is_complete(event), "a command is not complete after piQueueFinish");
        fixture.wait(event);
    }
}

CONFORMANCE_TEST("queue", "finishing waits for commands without an event") {
    const uint64_t size = fixture.at_most(16 << 20);
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue(); // whose commands are not ordered after those
    const Mem mem = fixture.make_buffer(size);
    for (int round = 1; round <= 3; ++round) {
        Bytes pattern(1);
        auto fill = pi::desc<pi_buffer_fill_desc>();
        fill.mem = mem;
        fill.pattern = pattern.data();
        fill.pattern_size = 1;
        fill.size = size;
        // Enough commands that a fast device is still busy when the last one is enqueued.
        for (int i = 0; i < 32; ++i) {
            pattern[0] = static_cast<std::byte>(round + 8 * i);
            require_success(try_enqueue(queue, fill, {}, nullptr),
                            "piEnqueueMemBufferFill without an event");
        }
        require_success(piQueueFinish(queue), "piQueueFinish");
        const Bytes end = fixture.download(other, mem, 64, size - 64);
        require_same_bytes(end.data(), Bytes(64, pattern[0]).data(), 64,
                           "the end of what was filled before piQueueFinish");
    }
}

CONFORMANCE_TEST("queue",
                 "finishing an out-of-order queue waits for the oldest of its commands, too") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Queue other = fixture.make_queue();
    for (int round = 0; round < 10; ++round) {
        const Event gate = fixture.make_host_event();
        const Event held = fixture.events_wait(queue, {gate});
        const Event second_gate = fixture.make_host_event();
        const Event second = fixture.events_wait(queue, {second_gate});
        const Event newest = fixture.events_wait(queue, {fixture.events_wait(other)});
        fixture.wait(newest);
        std::atomic<bool> finishes{false};
        fixture.run_threads(2, [&](unsigned thread) {
            if (thread == 0) {
                finishes = true;
                require_success(piQueueFinish(queue), "piQueueFinish");
                require(fixture.is_complete(held), "a command is not complete after piQueueFinish");
                return;
            }
            while (!finishes)
                std::this_thread::yield();
            fixture.signal_after(gate, [&] {
                for (int i = 0; i < 6; ++i) { // long enough for a finish that waits for less
                    fixture.wait(fixture.barrier(other));
                    if (i == 2)
                        fixture.signal(second_gate);
                }
            });
        });
    }
}

CONFORMANCE_TEST("queue", "finishing one queue does not wait for another") {
    const Queue held = fixture.make_queue();
    const Queue free = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event waiting = fixture.barrier(held, {gate});
    require_success(piQueueFinish(free), "piQueueFinish of a queue without commands");
    const Mem mem = fixture.make_buffer(64);
    const Event event = fixture.fill(free, mem, 0, 64, Bytes(1, std::byte{1}));
    require_success(piQueueFinish(free), "piQueueFinish while another queue waits");
    require(fixture.is_complete(event), "the command is not complete after piQueueFinish");
    require(!fixture.is_complete(waiting), "the held command is complete before its signal");
    fixture.signal(gate);
    fixture.wait(waiting);
}

CONFORMANCE_TEST("queue", "a flushed command runs without further calls") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(64);
    const Event event = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1}));
    const auto done = fixture.on_complete(event, [](pi_event, pi_result result) {
        require_equal(result, PI_SUCCESS, "the result that a callback was given");
    });
    require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.wait(*done, "a flushed command's callback");
    fixture.check_callbacks();
}

// What a callback on each event sees, without a wait that could flush.
class Completions {
public:
    explicit Completions(Fixture &fixture) : fixture_(fixture) {}
    void add(pi_event event) {
        flags_.push_back(fixture_.on_complete(event, [](pi_event, pi_result result) {
            require_equal(result, PI_SUCCESS, "the result that a callback was given");
        }));
    }
    void wait(const std::string &what) {
        for (const auto &flag : flags_)
            fixture_.wait(*flag, what);
        fixture_.check_callbacks();
    }

private:
    Fixture &fixture_;
    std::vector<std::shared_ptr<Flag>> flags_;
};

CONFORMANCE_TEST("queue", "each kind of flushed command runs without further calls") {
    const uint64_t out_of_order = honoured_flags(fixture) & PI_QUEUE_OUT_OF_ORDER;
    for (const uint64_t flags : {uint64_t{0}, out_of_order}) {
        const CommandCases commands = make_command_cases(fixture);
        const Queue queue = fixture.make_queue(flags), other = fixture.make_queue();
        std::vector<Event> events;
        Completions done(fixture);
        for (const auto &command : commands) {
            events.push_back(command->start(queue));
            done.add(events.back());
        }
        require_success(piQueueFlush(queue), "piQueueFlush");
        done.wait("the callback of a flushed command");
        for (const auto &command : commands) {
            command->require_done(other);
            command->clean_up(other);
        }
    }
}

CONFORMANCE_TEST("queue",
                 "a blocking command and the last release flush a queue, as a flush does") {
    const uint64_t out_of_order = honoured_flags(fixture) & PI_QUEUE_OUT_OF_ORDER;
    const Mem mem = fixture.make_buffer(64), apart = fixture.make_buffer(64);
    const std::byte one{1};
    auto blocking = pi::desc<pi_buffer_fill_desc>();
    blocking.flags = PI_COMMAND_BLOCKING;
    blocking.mem = apart;
    blocking.pattern = &one;
    blocking.pattern_size = 1;
    blocking.size = 64;
    const std::pair<const char *, std::function<void(Queue &)>> flushes[] = {
        {"piQueueFlush",
         [](Queue &queue) { require_success(piQueueFlush(queue), "piQueueFlush"); }},
        {"a blocking command",
         [&](Queue &queue) { require_success(try_enqueue(queue, blocking), "a blocking fill"); }},
        {"the release of the last reference", [](Queue &queue) { queue.reset(); }}};
    for (const uint64_t flags : {uint64_t{0}, out_of_order}) {
        for (const auto &[name, flush] : flushes) {
            Queue queue = fixture.make_queue(flags);
            std::vector<Event> events;
            Completions done(fixture);
            for (uint64_t part = 0; part < 4; ++part) {
                events.push_back(fixture.fill(queue, mem, part * 16, 16, Bytes(1, one)));
                done.add(events.back());
            }
            flush(queue);
            done.wait(join("the callback of a command before ", name));
        }
    }
}

CONFORMANCE_TEST("queue",
                 "a wait that times out has flushed the queues that its event depends on") {
    const Queue first = fixture.make_queue(), second = fixture.make_queue(),
                last = fixture.make_queue();
    const Mem mem = fixture.make_buffer(64);
    for (int round = 0; round < 5; ++round) {
        const Event filled = fixture.fill(first, mem, 0, 64, Bytes(1, std::byte{1}));
        const Event again = fixture.fill(second, mem, 0, 64, Bytes(1, std::byte{2}), {filled});
        const Event after = fixture.barrier(last, {again});
        Completions done(fixture);
        for (const pi_event event : {filled.get(), again.get(), after.get()})
            done.add(event);
        const pi_result result = piEventWait(after, 1);
        require(result == PI_SUCCESS || result == PI_ERROR_TIMEOUT, "a wait of 1 ns returned ",
                result_name(result));
        done.wait("the callback of a command that a wait of 1 ns was for");
    }
}

CONFORMANCE_TEST("queue", "several threads finish one queue of thousands of held commands") {
    constexpr unsigned threads = 4;
    constexpr int commands = 2000;
    const uint64_t out_of_order = honoured_flags(fixture) & PI_QUEUE_OUT_OF_ORDER;
    for (const uint64_t flags : {uint64_t{0}, out_of_order}) {
        const Queue queue = fixture.make_queue(flags);
        const Event gate = fixture.make_host_event();
        std::vector<Event> events;
        for (int i = 0; i < commands; ++i)
            events.push_back(fixture.events_wait(queue, {gate}));
        require_success(piQueueFlush(queue), "piQueueFlush");
        std::atomic<unsigned> finishing{0};
        fixture.run_threads(threads + 1, [&](unsigned thread) {
            if (thread == threads) {
                while (finishing != threads)
                    std::this_thread::yield();
                fixture.signal(gate);
                return;
            }
            ++finishing;
            require_success(piQueueFinish(queue), "piQueueFinish");
            for (const Event &event : events)
                require(fixture.is_complete(event),
                        "a command is not complete after piQueueFinish");
        });
    }
}

CONFORMANCE_TEST("queue", "many threads may enqueue into one queue at once") {
    constexpr unsigned threads = 8;
    constexpr uint64_t part = 1024;
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(threads * part);
    fixture.run_threads(threads, [&](unsigned thread) {
        std::vector<Bytes> sources;
        sources.reserve(20);
        Event last;
        for (unsigned round = 0; round < 20; ++round) {
            sources.emplace_back(part, static_cast<std::byte>(thread * 20 + round));
            last = fixture.write(queue, mem, thread * part, sources.back());
        }
        fixture.wait(last);
    });
    Bytes expected;
    for (unsigned thread = 0; thread < threads; ++thread)
        expected.insert(expected.end(), part, static_cast<std::byte>(thread * 20 + 19));
    fixture.require_contents(queue, mem, expected, "the last bytes of each thread");
}

CONFORMANCE_TEST("queue", "profiling reports times that go forward") {
    if ((honoured_flags(fixture) & PI_QUEUE_PROFILING) == 0)
        skip("the device has no queues with profiling");
    const Queue queue = fixture.make_queue(PI_QUEUE_PROFILING);
    const Mem mem = fixture.make_buffer(1 << 16);
    const Event event = fixture.fill(queue, mem, 0, 1 << 16, Bytes(1, std::byte{1}));
    fixture.wait(event);
    uint64_t before = 0;
    for (const pi_profiling_info name :
         {PI_PROFILING_QUEUED, PI_PROFILING_SUBMIT, PI_PROFILING_START, PI_PROFILING_END}) {
        const auto time = get_info<uint64_t>(&piEventGetProfilingInfo, event.get(), name);
        require(time >= before, "profiling time ", name, " is ", time,
                ", earlier than the one before it, ", before);
        before = time;
    }
    uint64_t time = poison<uint64_t>();
    require_error(piEventGetProfilingInfo(event, 99, sizeof time, &time, nullptr),
                  PI_ERROR_INVALID_ENUMERATION, "a profiling name that is not in the list");
    require_error(piEventGetProfilingInfo(event, PI_PROFILING_END, 4, &time, nullptr),
                  PI_ERROR_INVALID_SIZE, "a profiling time into 4 bytes");
    require_equal(time, poison<uint64_t>(), "the output of failed profiling calls");
}

CONFORMANCE_TEST(
    "queue", "profiling is not available without the flag, nor before the command is complete") {
    uint64_t time = poison<uint64_t>();
    const auto ask = [&](pi_event event) {
        return piEventGetProfilingInfo(event, PI_PROFILING_END, sizeof time, &time, nullptr);
    };
    Queue plain;
    require_success(piQueueCreate(fixture.context(), fixture.device(), nullptr, plain.out()),
                    "piQueueCreate with desc NULL");
    const Event event = fixture.barrier(plain);
    fixture.wait(event);
    const pi_result result = ask(event);
    if (result == PI_ERROR_UNSUPPORTED_FEATURE &&
        (honoured_flags(fixture) & PI_QUEUE_PROFILING) == 0)
        skip("the plugin does not have piEventGetProfilingInfo");
    require_error(result, PI_ERROR_PROFILING_UNAVAILABLE, "a time of a queue without profiling");
    if ((honoured_flags(fixture) & PI_QUEUE_PROFILING) != 0) {
        const Queue queue = fixture.make_queue(PI_QUEUE_PROFILING);
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_error(ask(held), PI_ERROR_PROFILING_UNAVAILABLE,
                      "a time of a command that is not complete");
        fixture.signal(gate);
        fixture.wait(held);
        require_success(ask(held), "a time of the command once it is complete");
        return;
    }
    require_equal(time, poison<uint64_t>(), "the output of failed profiling calls");
}

} // namespace
} // namespace pi::suite
