// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One event: queries, waiting, callbacks, and signals of host events.

#include "checks.hpp"
#include "registry.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <thread>

namespace pi::suite {
namespace {

std::string text_of(pi_event event) {
    return get_info_list<char>(&piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT).data();
}
pi_result result_of(pi_event event) {
    return get_info<pi_result>(&piEventGetInfo, event, PI_EVENT_INFO_RESULT);
}
pi_event_status status_of(pi_event event) {
    return get_info<pi_event_status>(&piEventGetInfo, event, PI_EVENT_INFO_STATUS);
}

CONFORMANCE_TEST("event", "a host event is complete once it is signalled, and not before") {
    const Event event = fixture.make_host_event();
    require_error(piEventWait(event, 0), PI_ERROR_TIMEOUT, "piEventWait before the signal");
    require(!fixture.is_complete(event), "the event is complete before the signal");
    fixture.signal(event);
    fixture.wait(event);
    require(fixture.is_complete(event), "the event is not complete after the signal");
}

// ----- Event queries -----

void check_event_info(const std::string &what, pi_event event) {
    check_info(
        "piEventGetInfo of " + what,
        [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
            return piEventGetInfo(event, name, size, value, out_size);
        },
        event_info_names());
}

CONFORMANCE_TEST("event", "every event answers every info name by its type, whatever its status") {
    const Queue queue = fixture.make_queue();
    const Event host = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {host});
    const Event failing = fixture.make_host_event();
    const Event failed = fixture.barrier(fixture.make_queue(), {failing});
    check_event_info("a host event", host);
    check_event_info("a held command", held);
    fixture.signal(host);
    fixture.wait(held);
    fixture.signal(failing, PI_ERROR_BACKEND);
    fixture.wait_result(failed);
    check_event_info("a signalled host event", host);
    check_event_info("a complete command", held);
    check_event_info("a failed host event", failing);
    check_event_info("a failed command", failed);
}

CONFORMANCE_TEST("event", "a host event reports its context, and no queue and no command") {
    const Event event = fixture.make_host_event();
    require(get_info<pi_context>(&piEventGetInfo, event.get(), PI_EVENT_INFO_CONTEXT) ==
                fixture.context(),
            "a host event reports another context");
    require(get_info<pi_queue>(&piEventGetInfo, event.get(), PI_EVENT_INFO_QUEUE) == nullptr,
            "a host event reports a queue");
    require_equal(get_info<uint32_t>(&piEventGetInfo, event.get(), PI_EVENT_INFO_COMMAND), 0u,
                  "PI_EVENT_INFO_COMMAND of a host event");
    fixture.signal(event);
}

CONFORMANCE_TEST("event",
                 "an event has its result and text when it is complete, and no text before") {
    const Queue queue = fixture.make_queue();
    for (const pi_result result : {PI_SUCCESS + 0, PI_ERROR_BACKEND + 0, -12345}) {
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_equal(text_of(gate), "", "PI_EVENT_INFO_ERROR_TEXT of a host event not signalled");
        require_equal(text_of(held), "", "PI_EVENT_INFO_ERROR_TEXT of a command not complete");
        fixture.signal(gate, result);
        fixture.require_result(gate, result, "what waiting for a host event returns");
        require_equal(result_of(gate), result, "PI_EVENT_INFO_RESULT of a host event");
        const pi_result passed_on = result == PI_SUCCESS ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED;
        fixture.require_result(held, passed_on, "what waiting for a command returns");
        require_equal(result_of(held), passed_on, "PI_EVENT_INFO_RESULT of a command");
        require_equal(
            text_of(gate).empty(), result == PI_SUCCESS,
            join("whether the text of a host event signalled with ", result, " is empty"));
        require_equal(text_of(held).empty(), result == PI_SUCCESS,
                      "whether the text of the command behind it is empty");
    }
}

CONFORMANCE_TEST("event", "waiting for a failed event returns the event's error and text") {
    const Event event = fixture.make_host_event();
    fixture.signal(event, PI_ERROR_OUT_OF_DEVICE_MEMORY);
    // Another failure in between must not replace the event's text.
    require_error(piMemRetain(nullptr), PI_ERROR_INVALID_MEM_OBJECT, "piMemRetain of NULL");
    for (const uint64_t timeout : {uint64_t{0}, uint64_t{1}, PI_TIMEOUT_NEVER}) {
        require_error(piEventWait(event, timeout), PI_ERROR_OUT_OF_DEVICE_MEMORY,
                      "piEventWait of a failed event, with timeout ", timeout);
        require(last_error_text().find(text_of(event)) != std::string::npos,
                "piEventWait returned \"", last_error_text(), "\", the event's text is \"",
                text_of(event), "\"");
    }
}

CONFORMANCE_TEST("event", "the status goes from queued to complete and never back") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(1 << 20);
    for (int round = 0; round < 20; ++round) {
        const Event gate = fixture.make_host_event();
        const Event event =
            fixture.fill(queue, mem, 0, 1 << 20, Bytes(1, static_cast<std::byte>(round)), {gate});
        require(status_of(gate) < PI_EVENT_COMPLETE, "a host event is complete before its signal");
        const pi_event_status held = status_of(event);
        require(held == PI_EVENT_QUEUED || held == PI_EVENT_SUBMITTED,
                "the status of a held command is ", held);
        fixture.signal(gate);
        require_success(piQueueFlush(queue), "piQueueFlush");
        pi_event_status last = held;
        const auto end = std::chrono::steady_clock::now() + fixture.patience();
        while (last != PI_EVENT_COMPLETE) {
            const pi_event_status now = status_of(event);
            require(now >= last && now <= PI_EVENT_COMPLETE, "the status was ", last, " and is ",
                    now);
            last = now;
            require(std::chrono::steady_clock::now() < end, "the command never was complete");
            std::this_thread::yield();
        }
        require_success(piEventWait(event, 0), "piEventWait with timeout 0 of what is complete");
        require_equal(status_of(event), pi_event_status{PI_EVENT_COMPLETE},
                      "the status after waiting");
    }
}

CONFORMANCE_TEST("event", "a flushed command that waits for nothing is not queued") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(1 << 20);
    const Mem other = fixture.make_buffer(1 << 20);
    const Event before = fixture.make_host_event();
    fixture.signal(before);
    for (const Waits &waits : {Waits{}, Waits{before}}) {
        // No loader makes several commands of a copy.
        const Event event = fixture.copy(queue, mem, 0, other, 0, 1 << 20, waits);
        require_success(piQueueFlush(queue), "piQueueFlush");
        require(status_of(event) != PI_EVENT_QUEUED,
                "the status of a flushed command is PI_EVENT_QUEUED, but nothing holds it back");
        fixture.wait(event);
    }
}

// ----- Waiting -----

CONFORMANCE_TEST("event", "a timeout of 0 polls, and a short one expires") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    for (const uint64_t timeout :
         {uint64_t{0}, uint64_t{1}, uint64_t{999}, uint64_t{1'000'000}, uint64_t{3'000'000}}) {
        require_error(piEventWait(gate, timeout), PI_ERROR_TIMEOUT,
                      "piEventWait of a host event with timeout ", timeout);
        require_error(piEventWait(held, timeout), PI_ERROR_TIMEOUT,
                      "piEventWait of a held command with timeout ", timeout);
    }
    fixture.signal(gate);
    fixture.wait(held);
    for (const uint64_t timeout : {uint64_t{0}, uint64_t{1}, PI_TIMEOUT_NEVER}) {
        require_success(piEventWait(gate, timeout), "piEventWait of what is complete");
        require_success(piEventWait(held, timeout), "piEventWait of what is complete");
    }
}

// Ends a wait that would never end.
CONFORMANCE_TEST("event", "waiting ends with the signal, on every thread, also without a timeout") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    std::atomic<int> begun{0};
    std::atomic<bool> signalled{false};
    constexpr unsigned waiters = 7;
    fixture.run_threads(waiters + 1, [&](unsigned thread) {
        if (thread == waiters) {
            while (begun < int{waiters})
                std::this_thread::yield();
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
            signalled = true;
            fixture.signal(gate);
            return;
        }
        ++begun;
        // Numbers near the end of 64 bits are long times, not short ones.
        const uint64_t timeouts[] = {PI_TIMEOUT_NEVER, PI_TIMEOUT_NEVER - 1, fixture.patience_ns(),
                                     uint64_t{1} << 63};
        const pi_event event = thread % 2 == 0 ? held.get() : gate.get();
        require_success(piEventWait(event, timeouts[thread % 4]), "piEventWait on a thread");
        require(signalled, "piEventWait with timeout ", timeouts[thread % 4],
                " returned before the signal");
    });
}

CONFORMANCE_TEST("event", "a thread that waits for one event does not delay another thread") {
    const Queue queue = fixture.make_queue();
    const Event never = fixture.make_host_event();
    const Mem mem = fixture.make_buffer(4096);
    std::atomic<bool> waits{false};
    fixture.run_threads(2, [&](unsigned thread) {
        if (thread == 0) {
            waits = true;
            require_success(piEventWait(never, fixture.patience_ns()),
                            "piEventWait of what the other thread signals in the end");
            return;
        }
        while (!waits)
            std::this_thread::yield();
        fixture.signal_after(never, [&] {
            for (int i = 0; i < 50; ++i)
                fixture.wait(fixture.fill(queue, mem, 0, 4096, Bytes(1, std::byte{1})));
        });
    });
}

// ----- Callbacks -----

CONFORMANCE_TEST("event", "a callback receives its event and result, and is not called before") {
    const Queue queue = fixture.make_queue();
    for (const pi_result result : {PI_SUCCESS + 0, PI_ERROR_BACKEND + 0}) {
        const pi_result passed_on = result == PI_SUCCESS ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED;
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        std::vector<std::shared_ptr<Flag>> flags;
        std::atomic<bool> signalled{false};
        const auto set = [&](pi_event event, pi_result expected) {
            flags.push_back(
                fixture.on_complete(event, [=, &signalled](pi_event reported, pi_result with) {
                    require(signalled, "a callback was called before its event was complete");
                    require(reported == event, "a callback was given another event");
                    require_equal(with, expected, "the result that a callback was given");
                    require_equal(status_of(reported), pi_event_status{PI_EVENT_COMPLETE},
                                  "the status inside a callback");
                    require_equal(result_of(reported), expected,
                                  "the event's result inside a callback");
                }));
        };
        for (int i = 0; i < 10; ++i) {
            set(gate, result);
            set(held, passed_on);
        }
        signalled = true;
        fixture.signal(gate, result);
        fixture.wait_result(held);
        for (int i = 0; i < 10; ++i) { // these are late
            set(gate, result);
            set(held, passed_on);
        }
        for (const auto &flag : flags)
            fixture.wait(*flag, "a callback");
    }
    fixture.check_callbacks();
    require_error(piEventSetCallback(fixture.make_host_event(), nullptr, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piEventSetCallback with callback NULL");
}

CONFORMANCE_TEST("event", "callbacks set while the event completes are called, each once") {
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 30; ++round) {
        constexpr int each = 20;
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        std::atomic<int> calls{0};
        std::array<std::vector<std::shared_ptr<Flag>>, 3> flags;
        fixture.run_threads(3, [&](unsigned thread) {
            for (int i = 0; i < each; ++i) {
                if (thread == 0 && i == each / 2)
                    fixture.signal(gate);
                flags[thread].push_back(fixture.on_complete(thread == 2 ? gate.get() : held.get(),
                                                            [&](pi_event, pi_result) { ++calls; }));
            }
        });
        for (const auto &list : flags) {
            for (const auto &flag : list)
                fixture.wait(*flag, "a callback that was set while its event completed");
        }
        require_equal(calls.load(), 3 * each, "how often callbacks were called");
        fixture.wait(held);
    }
    fixture.check_callbacks();
}

CONFORMANCE_TEST("event", "an event may be released in its callback, and before it") {
    const Queue queue = fixture.make_queue();
    const Mem mem = fixture.make_buffer(4096);
    for (int round = 0; round < 50; ++round) {
        Event event = fixture.fill(queue, mem, 0, 4096, Bytes(1, std::byte{1}));
        const auto done = fixture.on_complete(event, [](pi_event reported, pi_result result) {
            require_equal(result, PI_SUCCESS, "the result that a callback was given");
            require_equal(result_of(reported), PI_SUCCESS, "the result of a released event");
        });
        event.reset();
        require_success(piQueueFlush(queue), "piQueueFlush");
        fixture.wait(*done, "the callback of a released event");
    }
    fixture.check_callbacks();
}

} // namespace
} // namespace pi::suite
