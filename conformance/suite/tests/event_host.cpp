// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host events: signalled once, or abandoned; and references of all events.

#include "checks.hpp"
#include "registry.hpp"

#include <atomic>
#include <mutex>
#include <thread>

namespace pi::suite {
namespace {

std::string text_of(pi_event event) {
    return get_info_list<char>(&piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT).data();
}

// ----- Signals -----

CONFORMANCE_TEST("event", "a host event is signalled once, and a command's event never") {
    const Queue queue = fixture.make_queue();
    for (const pi_result first : {PI_SUCCESS + 0, PI_ERROR_BACKEND + 0}) {
        const Event event = fixture.make_host_event();
        fixture.signal(event, first);
        for (const pi_result second : {PI_SUCCESS + 0, PI_ERROR_INTERNAL + 0})
            require_error(piEventSignalHost(event, second), PI_ERROR_INVALID_OPERATION,
                          "a second signal");
        require_equal(get_info<pi_result>(&piEventGetInfo, event.get(), PI_EVENT_INFO_RESULT),
                      first, "the result after a second signal");
    }
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    require_error(piEventSignalHost(held, PI_SUCCESS), PI_ERROR_INVALID_OPERATION,
                  "a signal of a command's event");
    require(!fixture.is_complete(held), "a command is complete because its event was signalled");
    fixture.signal(gate);
    fixture.wait(held);
    require_error(piEventSignalHost(held, PI_SUCCESS), PI_ERROR_INVALID_OPERATION,
                  "a signal of a complete command's event");
}

CONFORMANCE_TEST(
    "event", "a signal is success or an error, never a positive number or a wait's own result") {
    const Event event = fixture.make_host_event();
    for (const pi_result bad :
         {1, 77, INT32_MAX, pi_result{PI_ERROR_TIMEOUT}, pi_result{PI_ERROR_WOULD_BLOCK}})
        require_error(piEventSignalHost(event, bad), PI_ERROR_INVALID_VALUE, "a signal with ", bad);
    require(!fixture.is_complete(event), "a refused signal has completed the event");
    fixture.signal(event);
    fixture.wait(event);
}

CONFORMANCE_TEST("event", "the descriptor of a host event obeys the rules of descriptors") {
    check_descriptor(
        "piEventCreateHost", pi::desc<pi_host_event_desc>(), offsetof(pi_host_event_desc, flags),
        [&](const pi_host_event_desc *given) {
            Event event;
            const pi_result result = piEventCreateHost(fixture.context(), given, event.out());
            if (result == PI_SUCCESS)
                fixture.signal(event);
            return result;
        },
        true);
}

CONFORMANCE_TEST("event", "of many signals at once one counts") {
    // The threads meet at each event; of many, since a busy machine may stop one there.
    constexpr int threads = 4;
    struct Signalled {
        Event event;
        std::atomic<int> arrived{0}, taken{0}, refused{0};
    };
    std::vector<Signalled> events(1000);
    for (Signalled &one : events)
        one.event = fixture.make_host_event();
    std::mutex mutex;
    std::string otherwise; // reported at the end, since the threads wait for each other
    fixture.run_threads(threads, [&](unsigned thread) {
        for (Signalled &one : events) {
            for (++one.arrived; one.arrived < threads;)
                std::this_thread::yield();
            const pi_result result = piEventSignalHost(one.event, -static_cast<pi_result>(thread));
            one.taken += result == PI_SUCCESS;
            one.refused += result == PI_ERROR_INVALID_OPERATION;
            if (result != PI_SUCCESS && result != PI_ERROR_INVALID_OPERATION) {
                const std::lock_guard lock(mutex);
                otherwise = join(result_name(result), ": ", last_error_text());
            }
        }
    });
    require(otherwise.empty(), "piEventSignalHost of several threads at once: ", otherwise);
    for (const Signalled &one : events) {
        require_equal(one.taken.load(), 1, "how many of 4 signals were taken");
        require_equal(one.refused.load(), threads - 1, "how many of 4 signals came late");
    }
}

// ----- Abandoned host events -----

CONFORMANCE_TEST(
    "event", "a host event whose last reference is released before its signal fails as abandoned") {
    Event event = fixture.make_host_event();
    require_success(piEventRetain(event), "piEventRetain");
    pi_result reported = PI_SUCCESS;
    std::string text;
    const auto done = fixture.on_complete(event, [&](pi_event of, pi_result result) {
        reported = result;
        text = text_of(of);
    });
    require_success(piEventRelease(event), "piEventRelease");
    require(!done->is_set(), "a host event failed while there was a reference");
    require_error(piEventWait(event, 0), PI_ERROR_TIMEOUT,
                  "piEventWait of a host event with one of two references left");
    event.reset();
    fixture.wait(*done, "the callback of an abandoned host event");
    fixture.check_callbacks();
    require_equal(reported, PI_ERROR_ABANDONED, "the result of an abandoned host event");
    require(!text.empty(), "an abandoned host event has no text");
}

CONFORMANCE_TEST("event",
                 "references of waiting commands do not keep a host event from being abandoned") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    Event event = fixture.make_host_event();
    const Event held = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1}), {event});
    const Event behind = fixture.barrier(fixture.make_queue(), {held, event});
    event.reset();
    for (const pi_event one : {held.get(), behind.get()}) {
        fixture.require_result(one, PI_ERROR_DEPENDENCY_FAILED,
                               "the result behind an abandoned host event");
        require(!text_of(one).empty(), "a command behind an abandoned event has no text");
    }
    fixture.require_contents(queue, mem, Bytes(64), "the buffer of a command that never ran");
}

CONFORMANCE_TEST("event", "a signalled host event may be released at once") {
    const Queue queue = fixture.make_queue();
    const Bytes bytes = fixture.random_bytes(4096);
    for (int round = 0; round < 20; ++round) {
        const Mem mem = fixture.make_buffer(4096);
        Event gate = fixture.make_host_event();
        const Event written = fixture.write(queue, mem, 0, bytes, {gate});
        fixture.signal(gate);
        gate.reset();
        fixture.wait(written, "a command whose host event was signalled and released");
        fixture.require_contents(queue, mem, bytes, "what it has written");
    }
}

// ----- References -----

CONFORMANCE_TEST("event", "every function of events refuses a handle that is not an event") {
    const Queue queue = fixture.make_queue();
    const auto wrong = reinterpret_cast<pi_event>(queue.get());
    const std::initializer_list<pi_result> allowed{PI_ERROR_INVALID_EVENT};
    const auto nothing = [](pi_event, pi_result, void *) {};
    require_error(piEventWait(wrong, 0), allowed, "piEventWait of a queue");
    require_error(piEventRetain(wrong), allowed, "piEventRetain of a queue");
    require_error(piEventRelease(wrong), allowed, "piEventRelease of a queue");
    require_error(piEventSignalHost(wrong, PI_SUCCESS), allowed, "piEventSignalHost of a queue");
    require_error(piEventSetCallback(wrong, nothing, nullptr), allowed,
                  "piEventSetCallback of a queue");
    require_untouched<uint64_t>("piEventGetInfo of a queue", allowed, [&](uint64_t *out) {
        return piEventGetInfo(wrong, PI_EVENT_INFO_STATUS, 0, nullptr, out);
    });
    const auto flags =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    if ((flags & PI_QUEUE_PROFILING) != 0)
        require_untouched<uint64_t>(
            "piEventGetProfilingInfo of a queue", allowed, [&](uint64_t *out) {
                return piEventGetProfilingInfo(wrong, PI_PROFILING_END, 0, nullptr, out);
            });
    require_untouched<pi_event>(
        "piEventCreateHost in a queue", {PI_ERROR_INVALID_CONTEXT}, [&](pi_event *out) {
            return piEventCreateHost(reinterpret_cast<pi_context>(queue.get()), nullptr, out);
        });
    require_success(piQueueFinish(queue), "piQueueFinish of what was taken for an event");
}

CONFORMANCE_TEST("event", "a retained event outlives its first release") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    Event event = fixture.barrier(queue, {gate});
    require_success(piEventRetain(event), "piEventRetain");
    const Event again(event.get());
    event.reset();
    // Objects that may get the same address.
    std::vector<Event> others;
    for (int i = 0; i < 20; ++i)
        others.push_back(fixture.make_host_event());
    require(!fixture.is_complete(again),
            "a held command is complete because its event was released once");
    fixture.signal(gate);
    fixture.wait(again, "an event with one of two references left");
    require(info_or(&piEventGetInfo, again.get(), PI_EVENT_INFO_REFERENCE_COUNT, 1u) >= 1,
            "an event that is held has a reference count of 0");
}

} // namespace
} // namespace pi::suite
