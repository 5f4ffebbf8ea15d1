// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of a queue while some of its held commands complete, or fail.

#include "checks.hpp"
#include "command_cases.hpp"
#include "registry.hpp"

#include <atomic>
#include <thread>

namespace pi::suite {
namespace {

// The second of two commands on the same bytes is enqueued when a command before both of them has
// completed. The first, which is held, must still come first.
void require_second_after_first(Fixture &fixture, pi_queue queue, bool with_barrier) {
    const Mem mem = fixture.make_buffer(fixture.place(), Bytes(64));
    const Event older = fixture.make_host_event();
    const Event gate = fixture.make_host_event();
    const Event before = fixture.events_wait(queue, {older});
    const Event first = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{1}), {gate});
    const Event barrier = with_barrier ? fixture.barrier(queue, {first}) : Event{};
    Event second;
    fixture.signal_after(gate, [&] {
        fixture.signal(older);
        fixture.wait(before);
        second = fixture.fill(queue, mem, 0, 64, Bytes(1, std::byte{2}));
        require_success(piQueueFlush(queue), "piQueueFlush");
        const Queue other = fixture.make_queue();
        for (int i = 0; i < 3; ++i) // long enough for a command that waits for nothing
            fixture.wait(fixture.barrier(other));
        require(!fixture.is_complete(second), "a command is complete before the one before it");
    });
    fixture.wait(second);
    fixture.require_contents(queue, mem, Bytes(64, std::byte{2}),
                             "the bytes of two commands, of which the first was held");
}

CONFORMANCE_TEST("queue", "an in-order queue keeps its order when a command before the newest "
                          "one completes") {
    const Queue queue = fixture.make_queue();
    for (int round = 0; round < 3; ++round)
        require_second_after_first(fixture, queue, false);
}

CONFORMANCE_TEST("queue",
                 "a held barrier holds commands back after a command before it has completed") {
    const Queue queue = fixture.make_out_of_order_queue();
    for (int round = 0; round < 3; ++round) {
        require_second_after_first(fixture, queue, true);
        require_success(piQueueFinish(queue), "piQueueFinish");
    }
}

CONFORMANCE_TEST("queue", "finishing succeeds although a command fails while it waits") {
    const uint64_t flags =
        get_info<uint64_t>(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_QUEUE_FLAGS);
    const Queue other = fixture.make_queue();
    for (const uint64_t flag : {0, PI_QUEUE_OUT_OF_ORDER + 0}) {
        if ((flags & flag) != flag)
            continue;
        const Queue queue = fixture.make_queue(flag);
        const Event gate = fixture.make_host_event();
        const Event failing = fixture.barrier(queue, {gate});
        std::atomic<bool> finishes{false};
        fixture.run_threads(2, [&](unsigned thread) {
            if (thread == 0) {
                finishes = true;
                require_success(piQueueFinish(queue), "piQueueFinish while a command fails");
                require(fixture.is_complete(failing), "piQueueFinish did not wait");
                return;
            }
            while (!finishes)
                std::this_thread::yield();
            for (int i = 0; i < 3; ++i) // long enough for the other thread to wait
                fixture.wait(fixture.barrier(other));
            fixture.signal(gate, PI_ERROR_BACKEND);
        });
        fixture.require_result(failing, PI_ERROR_DEPENDENCY_FAILED, "the failed command");
    }
}

CONFORMANCE_TEST("queue", "waiting for all commands includes those behind a held barrier") {
    const Queue queue = fixture.make_out_of_order_queue();
    const Queue other = fixture.make_queue();
    const Event gate = fixture.make_host_event();
    const Event last = fixture.make_host_event();
    const Event barrier = fixture.barrier(queue, {gate});
    const Event behind = fixture.events_wait(queue, {last});
    const Event all = fixture.events_wait(queue);
    fixture.signal_after(last, [&] {
        fixture.signal(gate);
        fixture.wait(barrier);
        require_success(piQueueFlush(queue), "piQueueFlush");
        for (int i = 0; i < 3; ++i) // long enough for a command that waits for nothing
            fixture.wait(fixture.barrier(other));
        require(!fixture.is_complete(all),
                "a wait for all commands is complete before the one behind a barrier");
    });
    fixture.wait(all);
    require(fixture.is_complete(behind), "a command is not complete after a wait for all");
}

CONFORMANCE_TEST("queue", "a blocking command of an in-order queue waits for those before it") {
    const Queue other = fixture.make_queue();
    for (const auto &command : make_command_cases(fixture)) {
        const Queue queue = fixture.make_queue();
        const Event gate = fixture.make_host_event();
        const Event before = fixture.barrier(queue, {gate});
        std::atomic<bool> begins{false};
        fixture.run_threads(2, [&](unsigned thread) {
            if (thread == 0) {
                begins = true;
                const Event event = command->start(queue, {}, PI_COMMAND_BLOCKING);
                require(fixture.is_complete(before), command->name(),
                        ", blocking, returned before the command before it was complete");
                return;
            }
            while (!begins)
                std::this_thread::yield();
            fixture.signal_after(gate, [&] {
                for (int i = 0; i < 3; ++i) // long enough for a command that waits for nothing
                    fixture.wait(fixture.barrier(other));
            });
        });
        command->require_done(other);
        command->clean_up(other);
    }
}

} // namespace
} // namespace pi::suite
