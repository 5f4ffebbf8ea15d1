// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The events of every command: what they report while the command is held back, when it is complete
// and when it has failed; times; texts of failures; the same event twice in a wait list.

#include "checks.hpp"
#include "command_cases.hpp"
#include "registry.hpp"

#include <chrono>
#include <thread>

namespace pi::suite {
namespace {

using Clock = std::chrono::steady_clock;

std::string text_of(pi_event event) {
    return get_info_list<char>(&piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT).data();
}

struct CommandType {
    const char *name;
    pi_struct_type type;
};
#define PI_SUITE_TYPE(desc, function, group) {#function, type_of<desc>},
constexpr CommandType command_types[] = {PI_SUITE_COMMANDS(PI_SUITE_TYPE)};
#undef PI_SUITE_TYPE

pi_struct_type type_of_command(const std::string &name) {
    for (const CommandType &row : command_types)
        if (row.name == name)
            return row.type;
    throw Failure{"the suite has no type for " + name};
}

void require_reports(Fixture &fixture, const CommandCase &command, pi_queue queue, pi_event event,
                     const char *when) {
    const std::string what = join(command.name(), " ", when);
    // Where the loader emulates these, the event is that of its last command.
    const bool may_be_emulated = command.name() == "piEnqueueMemBufferRead" ||
                                 command.name() == "piEnqueueMemBufferWrite" ||
                                 command.name() == "piEnqueueMemBufferFill";
    if (!may_be_emulated || fixture.can(PI_CAPABILITY_BUFFER_COMMANDS))
        require_equal(get_info<uint32_t>(&piEventGetInfo, event, PI_EVENT_INFO_COMMAND),
                      type_of_command(command.name()), what + ": PI_EVENT_INFO_COMMAND");
    require_equal(get_info<pi_queue>(&piEventGetInfo, event, PI_EVENT_INFO_QUEUE), queue,
                  what + ": PI_EVENT_INFO_QUEUE");
    require_equal(get_info<pi_context>(&piEventGetInfo, event, PI_EVENT_INFO_CONTEXT),
                  fixture.context(), what + ": PI_EVENT_INFO_CONTEXT");
}

CONFORMANCE_TEST(
    "event",
    "every command's event reports its queue, context and command, also held back or failed") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const pi_result result : {PI_SUCCESS + 0, PI_ERROR_BACKEND + 0}) {
        for (const auto &command : make_command_cases(fixture)) {
            const Event gate = fixture.make_host_event();
            const Event event = command->start(queue, {gate});
            require_reports(fixture, *command, queue, event, "held back");
            fixture.signal(gate, result);
            fixture.require_result(event,
                                   result == PI_SUCCESS ? PI_SUCCESS : PI_ERROR_DEPENDENCY_FAILED,
                                   command->name());
            require_reports(fixture, *command, queue, event,
                            result == PI_SUCCESS ? "complete" : "failed");
            if (result == PI_SUCCESS)
                command->require_done(other);
            command->clean_up(other);
        }
    }
    for (const auto &command : make_command_cases(fixture)) {
        const Event event = command->start(queue, {}, PI_COMMAND_BLOCKING);
        require_reports(fixture, *command, queue, event, "blocking");
        command->require_done(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("event", "the event of a command without a descriptor reports the command") {
    const Queue queue = fixture.make_queue();
    const auto check = [&](const char *name, auto enqueue, pi_struct_type type) {
        Event event;
        require_success(enqueue(queue, nullptr, 0, nullptr, event.out()), name);
        require_equal(get_info<uint32_t>(&piEventGetInfo, event.get(), PI_EVENT_INFO_COMMAND), type,
                      join(name, " with desc NULL: PI_EVENT_INFO_COMMAND"));
        fixture.wait(event, name);
    };
    check("piEnqueueEventsWait", &piEnqueueEventsWait, PI_TYPE_EVENTS_WAIT_DESC);
    check("piEnqueueBarrier", &piEnqueueBarrier, PI_TYPE_BARRIER_DESC);
}

CONFORMANCE_TEST("event", "every command may wait for one event twice") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Queue gated = fixture.make_queue();
    for (const bool host : {true, false}) {
        for (const auto &command : make_command_cases(fixture)) {
            const Event gate = fixture.make_host_event();
            const Event held = fixture.barrier(gated, {gate});
            const pi_event waited = host ? gate.get() : held.get();
            const Event event = command->start(queue, {waited, waited});
            require_success(piQueueFlush(queue), "piQueueFlush");
            fixture.signal_after(gate, [&] {
                require(!fixture.is_complete(event), command->name(),
                        " did not wait for an event that its wait list has twice");
                command->require_undone(other);
            });
            fixture.wait(event, command->name() + " behind an event twice");
            command->require_done(other);
            command->clean_up(other);
        }
    }
}

// ----- Failures -----

CONFORMANCE_TEST("event",
                 "of two failures that a command waits for, the text is that of the first") {
    const Queue queue = fixture.make_queue();
    for (const std::size_t first : {std::size_t{0}, std::size_t{1}}) {
        const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
        const Event held = fixture.barrier(queue, {gates[0], gates[1]});
        fixture.signal(gates[first], PI_ERROR_OUT_OF_RESOURCES);
        fixture.signal(gates[1 - first], PI_ERROR_BACKEND);
        fixture.require_result(held, PI_ERROR_DEPENDENCY_FAILED, "a command behind two failures");
        const std::string text = text_of(held), wanted = text_of(gates[first]);
        if (wanted == text_of(gates[1 - first]))
            skip("two different failures have one text: " + wanted);
        require(text.find(wanted) != std::string::npos, "the text behind two failures is \"", text,
                "\", the first failure's is \"", wanted, "\"");
    }
}

CONFORMANCE_TEST("event", "a failed command has its result and text once its status is complete") {
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 20; ++round) {
        const Event gate = fixture.make_host_event();
        const Event held = fixture.barrier(queue, {gate});
        require_success(piQueueFlush(queue), "piQueueFlush");
        fixture.signal(gate, PI_ERROR_BACKEND);
        const auto end = Clock::now() + fixture.patience();
        while (!fixture.is_complete(held)) {
            require(Clock::now() < end, "a command behind a failure never is complete");
            std::this_thread::yield();
        }
        require_equal(get_info<pi_result>(&piEventGetInfo, held.get(), PI_EVENT_INFO_RESULT),
                      PI_ERROR_DEPENDENCY_FAILED, "the result of what polling says is complete");
        require(text_of(held).find(text_of(gate)) != std::string::npos,
                "what polling says has failed has the text \"", text_of(held), "\"");
    }
}

CONFORMANCE_TEST("event", "a wait that succeeds leaves the last error as it is") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const CommandCases commands = make_command_cases(fixture);
    require_error(piMemRetain(nullptr), PI_ERROR_INVALID_MEM_OBJECT, "piMemRetain of NULL");
    const std::string before = last_error();
    const auto unchanged = [&](const std::string &what) {
        require_equal(last_error(), before, "the last error after " + what + ", which succeeded");
    };
    for (const auto &command : commands) {
        const Event event = command->start(queue, {}, PI_COMMAND_BLOCKING);
        unchanged(command->name() + ", blocking");
        require_success(piEventWait(event, PI_TIMEOUT_NEVER), "piEventWait");
        unchanged("piEventWait for " + command->name());
    }
    const Event barrier = fixture.barrier(queue);
    require_success(piEventWait(barrier, PI_TIMEOUT_NEVER), "piEventWait");
    unchanged("piEventWait for a barrier");
    require_success(piQueueFinish(queue), "piQueueFinish");
    unchanged("piQueueFinish");
    for (const auto &command : commands) {
        command->require_done(other);
        command->clean_up(other);
    }
}

// ----- Waiting -----

CONFORMANCE_TEST("event", "a wait that times out has lasted as long as its timeout") {
    const Queue queue = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event held = fixture.barrier(queue, {gate});
    // Also times that are no multiple of a driver's own unit.
    for (const uint64_t timeout : {900, 70'000, 999'999, 1'900'000, 30'000'000}) {
        for (const pi_event event : {gate.get(), held.get()}) {
            const auto begin = Clock::now();
            require_error(piEventWait(event, timeout), PI_ERROR_TIMEOUT,
                          "piEventWait with a timeout of ", timeout, " ns");
            const std::chrono::nanoseconds lasted = Clock::now() - begin;
            require(lasted >= std::chrono::nanoseconds(timeout), "piEventWait with a timeout of ",
                    timeout, " ns returned after ", lasted.count());
        }
    }
    fixture.signal(gate);
    fixture.wait(held);
}

} // namespace
} // namespace pi::suite
