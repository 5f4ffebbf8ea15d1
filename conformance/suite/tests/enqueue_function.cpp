// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Optional commands that are not on memory: host functions and timestamps.

#include "checks.hpp"
#include "fixture.hpp"
#include "queue_orders.hpp"
#include "registry.hpp"

#include <algorithm>
#include <iterator>
#include <mutex>
#include <thread>

namespace pi::suite {
namespace {

struct Calls {
    Fixture &fixture;
    pi_queue queue;
    pi_event unsignalled;
    std::mutex mutex;
    std::vector<int> order;
    std::string problem;
};
struct Call {
    Calls *calls;
    int index;
};

void PI_CALL note_call(void *user_data) {
    const auto &call = *static_cast<Call *>(user_data);
    Calls &calls = *call.calls;
    const std::scoped_lock lock(calls.mutex);
    calls.order.push_back(call.index);
    // A plugin that waits here fails by the timeout; piQueueFinish would hang.
    if (piEventWait(calls.unsignalled, 1) != PI_ERROR_WOULD_BLOCK)
        calls.problem = "piEventWait in a host function is not refused by PI_ERROR_WOULD_BLOCK";
    else if (piQueueFinish(calls.queue) != PI_ERROR_WOULD_BLOCK)
        calls.problem = "piQueueFinish in a host function is not refused";
    const auto barrier = pi::desc<pi_barrier_desc>();
    if (try_enqueue(calls.queue, barrier) != PI_SUCCESS)
        calls.problem = "a command enqueued in a host function is refused";
}

CONFORMANCE_TEST("enqueue",
                 "each host function runs once, in order, under the rules of callbacks") {
    fixture.need(PI_CAPABILITY_HOST_FUNCTION, "PI_CAPABILITY_HOST_FUNCTION");
    constexpr int count = 20;
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Event unsignalled = fixture.make_host_event();
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(other, {unsignalled});
    Calls calls{fixture, other, unsignalled, {}, {}, ""};
    std::vector<Call> each;
    for (int i = 0; i < count; ++i)
        each.push_back({&calls, i});
    Event last;
    for (int i = 0; i < count; ++i) {
        auto desc = pi::desc<pi_host_function_desc>();
        desc.function = &note_call;
        desc.user_data = &each[static_cast<std::size_t>(i)];
        last = i == 0 ? fixture.enqueue(queue, desc, {gate}) : fixture.enqueue(queue, desc);
    }
    require_success(piQueueFlush(queue), "piQueueFlush");
    fixture.wait(fixture.barrier(fixture.make_queue()));
    {
        const std::scoped_lock lock(calls.mutex);
        require(calls.order.empty(), "a host function has run before its event");
    }
    fixture.signal(gate);
    fixture.wait(last);
    const std::scoped_lock lock(calls.mutex);
    require(calls.problem.empty(), calls.problem);
    require_equal(calls.order.size(), std::size_t{count}, "how many host functions have run");
    require(std::is_sorted(calls.order.begin(), calls.order.end()),
            "host functions of an in-order queue have run out of order");
    fixture.signal(unsignalled);
    fixture.wait(held);
}

// A host function sees the bytes of the command before it.
struct Seen {
    const Bytes *memory;
    Bytes found;
};

void PI_CALL look(void *user_data) {
    auto &seen = *static_cast<Seen *>(user_data);
    seen.found = *seen.memory;
}

CONFORMANCE_TEST("enqueue", "a host function begins after commands before it that have no event") {
    fixture.need(PI_CAPABILITY_HOST_FUNCTION, "PI_CAPABILITY_HOST_FUNCTION");
    constexpr uint64_t size = 64 * 1024;
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 20; ++round) {
        const Bytes bytes = fixture.random_bytes(size);
        const Mem mem = fixture.make_buffer(fixture.place(), bytes);
        Bytes into(size);
        Seen seen{&into, {}};
        const pi_region region = linear(0, 0, size);
        auto read = pi::desc<pi_buffer_read_desc>();
        read.mem = mem;
        read.host_ptr = into.data();
        read.region_count = 1;
        read.regions = &region;
        require_success(try_enqueue(queue, read), "piEnqueueMemBufferRead without an event");
        auto desc = pi::desc<pi_host_function_desc>();
        desc.function = &look;
        desc.user_data = &seen;
        fixture.wait(fixture.enqueue(queue, desc));
        require(seen.found == bytes, "the host function has run before the read was done");
    }
}

void PI_CALL note_thread(void *user_data) {
    *static_cast<std::thread::id *>(user_data) = std::this_thread::get_id();
}

CONFORMANCE_TEST("enqueue", "a host function never runs on a thread of the application") {
    fixture.need(PI_CAPABILITY_HOST_FUNCTION, "PI_CAPABILITY_HOST_FUNCTION");
    std::thread::id ran_on;
    auto desc = pi::desc<pi_host_function_desc>();
    desc.function = &note_thread;
    desc.user_data = &ran_on;
    const auto require_other = [&](pi_event event, const std::string &what) {
        fixture.wait(event, what);
        require(ran_on != std::thread::id(), what, " did not run");
        require(ran_on != std::this_thread::get_id(), what, " ran on the thread of a call");
        ran_on = {};
    };
    Queue queue = fixture.make_queue();
    require_other(fixture.enqueue(queue, desc), "a host function on an idle queue");
    {
        const Event event = fixture.enqueue(queue, desc);
        require_success(piQueueFlush(queue), "piQueueFlush");
        require_other(event, "a host function that was flushed");
    }
    {
        const Event event = fixture.enqueue(queue, desc);
        require_success(piQueueFinish(queue), "piQueueFinish");
        require_other(event, "a host function that piQueueFinish waited for");
    }
    {
        const Event gate = fixture.make_host_event();
        const Event event = fixture.enqueue(queue, desc, {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        fixture.signal(gate);
        require_other(event, "a host function whose event was signalled");
    }
    desc.flags = PI_COMMAND_BLOCKING;
    require_other(fixture.enqueue(queue, desc), "a blocking host function");
    desc.flags = 0;
    const Event event = fixture.enqueue(queue, desc);
    queue.reset();
    require_other(event, "a host function of a released queue");
}

CONFORMANCE_TEST("enqueue", "a host function of NULL is refused") {
    fixture.need(PI_CAPABILITY_HOST_FUNCTION, "PI_CAPABILITY_HOST_FUNCTION");
    const Queue queue = fixture.make_queue();
    const auto desc = pi::desc<pi_host_function_desc>();
    require_untouched<pi_event>("piEnqueueHostFunction with function NULL",
                                {PI_ERROR_INVALID_NULL_POINTER},
                                [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
}

CONFORMANCE_TEST("enqueue",
                 "a timestamp is of when it ran, not of when it was enqueued, on any queue") {
    fixture.need(PI_CAPABILITY_TIMESTAMP, "PI_CAPABILITY_TIMESTAMP");
    const auto time_of = [](pi_event event, uint32_t name) {
        return get_info<uint64_t>(&piEventGetProfilingInfo, event, name);
    };
    for (const uint64_t flags : queue_orders(fixture)) {
        const Queue queue = fixture.make_queue(flags); // without PI_QUEUE_PROFILING
        const Event gate = fixture.make_host_event();
        const Event first = fixture.enqueue(queue, pi::desc<pi_timestamp_desc>(), {gate});
        const Event before = fixture.enqueue(fixture.make_queue(), pi::desc<pi_timestamp_desc>());
        fixture.wait(before);
        fixture.signal(gate);
        fixture.wait(first);
        const Event second = fixture.enqueue(queue, pi::desc<pi_timestamp_desc>());
        fixture.wait(second);
        // Times of one clock may be equal if it is coarse, but do not go back.
        uint64_t last = 0;
        for (const auto &[what, event] : {std::pair{"one that ran before", before.get()},
                                          std::pair{"one that was held back", first.get()},
                                          std::pair{"the last", second.get()}})
            for (const uint32_t name : {PI_PROFILING_START, PI_PROFILING_END}) {
                const uint64_t time = time_of(event, name);
                require(time >= last, "time ", name, " of ", what, " is ", time,
                        ", before the one before it, ", last);
                last = time;
            }
    }
}

} // namespace
} // namespace pi::suite
