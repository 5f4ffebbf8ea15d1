// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of every command: it does its work, not before its wait list and not after a failure, and
// its enqueue does not wait.

#include "checks.hpp"
#include "command_cases.hpp"
#include "registry.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace pi::suite {
namespace {

std::string event_text(pi_event event) {
    return get_info_list<char>(&piEventGetInfo, event, PI_EVENT_INFO_ERROR_TEXT).data();
}

// The command has not run, although other commands were enqueued and finished.
void require_held(Fixture &fixture, pi_queue queue, pi_queue other, CommandCase &command,
                  pi_event event) {
    require_success(piQueueFlush(queue), "piQueueFlush");
    const Mem scratch = fixture.make_buffer(1 << 16);
    for (int i = 0; i < 3; ++i)
        fixture.wait(fixture.fill(other, scratch, 0, 1 << 16, Bytes(1, std::byte{1})));
    require(!fixture.is_complete(event), command.name(),
            " is complete before an event of its wait list");
    require_error(piEventWait(event, 0), PI_ERROR_TIMEOUT, "waiting for no time for ",
                  command.name(), ", which is held back");
    command.require_undone(other);
}

void require_complete(Fixture &fixture, CommandCase &command, pi_event event) {
    fixture.wait(event, command.name());
    require(fixture.is_complete(event), command.name(), " was waited for and is not complete");
    require_equal(get_info<pi_result>(&piEventGetInfo, event, PI_EVENT_INFO_RESULT), PI_SUCCESS,
                  command.name() + ": the result");
}

CONFORMANCE_TEST("enqueue", "every command has done its work when its event is complete") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const auto &command : make_command_cases(fixture)) {
        const Event event = command->start(queue);
        require_complete(fixture, *command, event);
        command->require_done(other);
        command->clean_up(other);
    }
    // Long commands, which have not written their last bytes if the event completes too early.
    const uint64_t large = fixture.at_most(16 << 20);
    const Mem mem = fixture.make_buffer(large);
    for (int value = 1; value <= 4; ++value) {
        const Bytes pattern(1, std::byte(value));
        fixture.wait(fixture.fill(queue, mem, 0, large, pattern));
        require(fixture.download(other, mem, 1, large - 1) == pattern, "a fill of ", large,
                " bytes is complete, and its last byte is not filled");
    }
}

CONFORMANCE_TEST("enqueue", "every command of an out-of-order queue does its work, too") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Queue other = fixture.make_queue();
    const CommandCases commands = make_command_cases(fixture);
    std::vector<Event> events;
    for (const auto &command : commands)
        events.push_back(command->start(queue));
    for (std::size_t i = 0; i < commands.size(); ++i) {
        require_complete(fixture, *commands[i], events[i]);
        commands[i]->require_done(other);
        commands[i]->clean_up(other);
    }
}

// The wait list has a complete event between two pending ones; either of these is signalled last.
void check_held(Fixture &fixture, pi_queue queue, pi_queue other, CommandCase &command,
                std::size_t last) {
    const Event done = fixture.barrier(other);
    fixture.wait(done);
    const Event gates[] = {fixture.make_host_event(), fixture.make_host_event()};
    const Event event = command.start(queue, {gates[0], done, gates[1]});
    require_held(fixture, queue, other, command, event);
    command.disturb(other);
    fixture.signal(gates[1 - last]);
    require_held(fixture, queue, other, command, event);
    fixture.signal(gates[last]);
    require_complete(fixture, command, event);
    command.require_done(other);
    command.clean_up(other);
}

CONFORMANCE_TEST("enqueue", "no command runs before every event of its wait list") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const std::size_t last : {0, 1}) {
        for (const auto &command : make_command_cases(fixture))
            check_held(fixture, queue, other, *command, last);
    }
}

CONFORMANCE_TEST("enqueue",
                 "no command of an out-of-order queue runs before every event of its wait list") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Queue other = fixture.make_queue();
    for (const std::size_t last : {0, 1}) {
        for (const auto &command : make_command_cases(fixture))
            check_held(fixture, queue, other, *command, last);
    }
}

CONFORMANCE_TEST("enqueue", "a command waits for another queue's command") {
    const Queue second = fixture.make_queue();
    const Queue other = fixture.make_queue();
    // Of this context, another one, and of another device.
    const Context context = fixture.make_context({fixture.device()});
    const Context last = fixture.make_context({fixture.devices().back()});
    for (const Place &place : {fixture.place(), Place{fixture.device(), context},
                               Place{fixture.devices().back(), last}}) {
        const Queue first = fixture.make_queue(place);
        for (const auto &command : make_command_cases(fixture)) {
            const Event gate = fixture.make_host_event(place.context);
            const Event before = fixture.barrier(first, {gate});
            const Event event = command->start(second, {before, before});
            require_held(fixture, second, other, *command, event);
            command->disturb(other);
            fixture.signal(gate);
            require_complete(fixture, *command, event);
            require(fixture.is_complete(before), command->name(),
                    " is complete, its wait list is not");
            command->require_done(other);
            command->clean_up(other);
        }
    }
}

CONFORMANCE_TEST("enqueue", "enqueueing never waits, for any command, however many are pending") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const CommandCases commands = make_command_cases(fixture);
    const Event gate = fixture.make_host_event();
    std::vector<Event> events;
    // If one of these waited, it would wait for ever.
    for (const auto &command : commands)
        events.push_back(command->start(queue, {gate}));
    std::vector<Event> markers;
    for (int i = 0; i < 500; ++i)
        markers.push_back(i % 2 == 0 ? fixture.barrier(queue) : fixture.events_wait(queue, {gate}));
    require_success(piQueueFlush(queue), "piQueueFlush");
    for (std::size_t i = 0; i < commands.size(); ++i) {
        require(!fixture.is_complete(events[i]), commands[i]->name(),
                " is complete before its event");
        commands[i]->require_undone(other);
        commands[i]->disturb(other);
    }
    require(!fixture.is_complete(markers.back()), "the last of many is complete before its event");
    fixture.signal(gate);
    for (std::size_t i = 0; i < commands.size(); ++i) {
        require_complete(fixture, *commands[i], events[i]);
        commands[i]->require_done(other);
        commands[i]->clean_up(other);
    }
    fixture.wait(markers.back());
}

CONFORMANCE_TEST("enqueue", "hundreds of host events may be waited for by one command") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    std::vector<Event> gates;
    Waits waits;
    for (int i = 0; i < 300; ++i) {
        gates.push_back(fixture.make_host_event());
        waits.push_back(gates.back());
    }
    const Bytes bytes = fixture.random_bytes(256);
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(256));
    const Event event = fixture.write(queue, mem, 0, bytes, waits);
    std::shuffle(waits.begin(), waits.end(), fixture.random());
    for (const pi_event gate : waits) {
        require(!fixture.is_complete(event),
                "a command is complete before the last of its 300 events");
        fixture.signal(gate);
    }
    fixture.wait(event);
    fixture.require_contents(other, mem, bytes, "what was written behind 300 events");
}

// A failing event first, last or already complete: the command fails and does nothing.
void check_poisoned(Fixture &fixture, pi_queue queue, pi_queue other, CommandCase &command,
                    int variant) {
    const Event good = fixture.make_host_event();
    const Event bad = fixture.make_host_event();
    if (variant == 2)
        fixture.signal(bad, PI_ERROR_OUT_OF_RESOURCES);
    const Event event =
        variant == 0 ? command.start(queue, {bad, good}) : command.start(queue, {good, bad});
    if (variant != 2)
        fixture.signal(bad, PI_ERROR_OUT_OF_RESOURCES);
    fixture.signal(good);
    fixture.require_result(event, PI_ERROR_DEPENDENCY_FAILED,
                           command.name() + ": the result behind a failed event");
    const std::string reported = last_error_text();
    const std::string text = event_text(event);
    const std::string root = event_text(bad);
    require(!root.empty(), "the host event that was signalled with an error has no text");
    require(text.find(root) != std::string::npos, command.name(), ": its event's text is \"", text,
            "\", should be the root's, \"", root, "\"");
    require(reported.find(root) != std::string::npos, command.name(), ": waiting returned \"",
            reported, "\", should be the root's text, \"", root, "\"");
    require_equal(get_info<pi_result>(&piEventGetInfo, event.get(), PI_EVENT_INFO_RESULT),
                  PI_ERROR_DEPENDENCY_FAILED, command.name() + ": PI_EVENT_INFO_RESULT");
    command.require_undone(other);
    command.clean_up(other);
}

CONFORMANCE_TEST("enqueue",
                 "a command whose event failed does nothing and fails with the root's text") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (int variant = 0; variant < 3; ++variant) {
        for (const auto &command : make_command_cases(fixture))
            check_poisoned(fixture, queue, other, *command, variant);
    }
}

CONFORMANCE_TEST("enqueue", "a command without out_event does its work all the same") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const CommandCases commands = make_command_cases(fixture);
    const Event gate = fixture.make_host_event();
    const pi_event wait = gate;
    for (const auto &command : commands)
        require_success(command->enqueue(queue, 0, 1, &wait, nullptr), command->name(),
                        " without out_event");
    for (const auto &command : commands) {
        command->require_undone(other);
        command->disturb(other);
    }
    fixture.signal(gate);
    require_success(piQueueFinish(queue), "piQueueFinish");
    for (const auto &command : commands) {
        command->require_done(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("enqueue", "a blocking command has done its work when the call returns") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const auto &command : make_command_cases(fixture)) {
        const Event event = command->start(queue, {}, PI_COMMAND_BLOCKING);
        require(fixture.is_complete(event), command->name(),
                " is not complete when a blocking call returns");
        command->require_done(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("enqueue", "a blocking command waits for its wait list, and fails with it") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const bool fails : {false, true}) {
        for (const auto &command : make_command_cases(fixture)) {
            const Event gate = fixture.make_host_event();
            const pi_event wait = gate;
            std::atomic<bool> signalled{false};
            pi_result result = PI_SUCCESS;
            bool in_time = false;
            std::string text;
            fixture.run_threads(2, [&](unsigned thread) {
                if (thread == 0) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                    signalled = true;
                    fixture.signal(gate, fails ? PI_ERROR_BACKEND : PI_SUCCESS);
                    return;
                }
                result = command->enqueue(queue, PI_COMMAND_BLOCKING, 1, &wait, nullptr);
                in_time = signalled;
                text = last_error_text();
            });
            require(in_time, command->name(),
                    " with PI_COMMAND_BLOCKING returned before its event");
            require_equal(result, fails ? PI_ERROR_DEPENDENCY_FAILED : PI_SUCCESS,
                          command->name() + " with PI_COMMAND_BLOCKING: the result");
            require(!fails || !text.empty(), command->name(), " failed without a text");
            fails ? command->require_undone(other) : command->require_done(other);
            command->clean_up(other);
        }
    }
}

CONFORMANCE_TEST("enqueue",
                 "a blocking command without a wait list waits for a barrier before it") {
    const Queue other = fixture.make_queue();
    const uint64_t honoured =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    for (const uint64_t flags : {uint64_t{0}, honoured & PI_QUEUE_OUT_OF_ORDER}) {
        const Queue queue = fixture.make_queue(flags);
        for (const auto &command : make_command_cases(fixture)) {
            const Event gate = fixture.make_host_event();
            const Event barrier = fixture.barrier(queue, {gate});
            std::atomic<bool> signalled{false};
            bool in_time = false;
            fixture.run_threads(2, [&](unsigned thread) {
                if (thread == 0) {
                    std::this_thread::sleep_for(std::chrono::milliseconds(2));
                    signalled = true;
                    return fixture.signal(gate);
                }
                require_success(command->enqueue(queue, PI_COMMAND_BLOCKING, 0, nullptr, nullptr),
                                command->name(), " with PI_COMMAND_BLOCKING");
                in_time = signalled;
            });
            require(in_time, command->name(),
                    " with PI_COMMAND_BLOCKING returned before the barrier in front of it");
            fixture.wait(barrier);
            command->require_done(other);
            command->clean_up(other);
        }
    }
}

CONFORMANCE_TEST("enqueue", "a blocking command that fails with its wait list writes no event") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Event bad = fixture.make_host_event();
    const pi_event wait = bad;
    fixture.signal(bad, PI_ERROR_BACKEND);
    for (const auto &command : make_command_cases(fixture)) {
        require_untouched<pi_event>(
            command->name() + " with PI_COMMAND_BLOCKING behind a failed event",
            {PI_ERROR_DEPENDENCY_FAILED}, [&](pi_event *out) {
                return command->enqueue(queue, PI_COMMAND_BLOCKING, 1, &wait, out);
            });
        command->require_undone(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("enqueue", "a wait list is not read when its count is 0") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
        for (const auto &command : make_command_cases(fixture)) {
            Event event;
            require_success(command->enqueue(queue, flags, 0, nowhere<pi_event>(), event.out()),
                            command->name(),
                            " with a wait_count of 0 and a wait_list that is not NULL");
            fixture.wait(event, command->name());
            command->require_done(other);
            command->clean_up(other);
        }
    }
}

CONFORMANCE_TEST("enqueue", "a command with an invalid wait list is refused and never runs") {
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Event good = fixture.barrier(other);
    const pi_event with_null[] = {good, nullptr, good};
    for (const auto &command : make_command_cases(fixture)) {
        const auto refused = [&](const char *what, pi_result error, uint32_t count,
                                 const pi_event *list) {
            require_untouched<pi_event>(
                command->name() + " with " + what, {error},
                [&](pi_event *out) { return command->enqueue(queue, 0, count, list, out); });
            require_error(command->enqueue(queue, PI_COMMAND_BLOCKING, count, list, nullptr), error,
                          command->name(), ", blocking, with ", what);
        };
        refused("a wait_count of 3 and no list", PI_ERROR_INVALID_WAIT_LIST, 3, nullptr);
        refused("NULL in its wait list", PI_ERROR_INVALID_EVENT, 3, with_null);
        require_success(piQueueFinish(queue), "piQueueFinish");
        command->require_undone(other);
        command->clean_up(other);
    }
}

CONFORMANCE_TEST("enqueue",
                 "a command that is refused is not enqueued: nothing waits, runs or is kept") {
    constexpr uint64_t unknown_flag = uint64_t{1} << 62;
    const Queue queue = fixture.make_queue();
    const Queue other = fixture.make_queue();
    const Event done = fixture.barrier(other);
    fixture.wait(done);
    for (const auto &command : make_command_cases(fixture)) {
        const Event gate = fixture.make_host_event();
        const pi_event waits[] = {done, gate}, wrong[] = {gate, nullptr};
        const auto refused = [&](const char *what, pi_result error, pi_queue on, uint64_t flags,
                                 const pi_event *list) {
            require_untouched<pi_event>(
                command->name() + " with " + what, {error},
                [&](pi_event *out) { return command->enqueue(on, flags, 2, list, out); });
            require_error(command->enqueue(on, flags, 2, list, nullptr), error, command->name(),
                          ", without out_event, with ", what);
        };
        for (const uint64_t blocking : {uint64_t{0}, uint64_t{PI_COMMAND_BLOCKING}}) {
            refused("an unknown flag", PI_ERROR_UNSUPPORTED_FEATURE, queue, unknown_flag | blocking,
                    waits);
            refused("NULL as the last of its wait list", PI_ERROR_INVALID_EVENT, queue, blocking,
                    wrong);
            refused("no queue", PI_ERROR_INVALID_QUEUE, nullptr, blocking, waits);
        }
        // It would not return before the gate is open, nor would the loader let objects go that a
        // command has kept.
        require_success(piQueueFinish(queue), "piQueueFinish");
        command->require_undone(other);
        fixture.signal(gate);
        require_success(piQueueFinish(queue), "piQueueFinish");
        command->require_undone(other);
        command->clean_up(other);
    }
}

} // namespace
} // namespace pi::suite
