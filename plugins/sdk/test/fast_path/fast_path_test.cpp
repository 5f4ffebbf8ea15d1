// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands without an event, which take the fast path to the driver: when their references are
// released, and how later commands are ordered after them.
#include "busy.hpp"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

using namespace fast_path_test;

TEST_CASE("objects of a launch without an event may be released while it waits in the stream") {
    const Busy busy;
    Imported imported(busy.machine);
    Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    const Owned<pi_mem> last = busy.machine.buffer(first, Busy::size);
    const pi_region region = range(0, 0, Busy::size);
    busy.count(busy.queue, imported.mem,
               7); // memory that is the application's again with its buffer
    const auto copy = copy_desc(imported.mem, mem, region);
    OK(piEnqueueMemBufferCopy(busy.queue, &copy, 0, nullptr, nullptr));
    const auto again = copy_desc(mem, last, region);
    OK(piEnqueueMemBufferCopy(busy.queue, &again, 0, nullptr, nullptr));
    imported.mem.reset();
    CHECK(references(mem) == 3);
    mem.reset();
    busy.go.set();
    OK(piQueueFinish(busy.queue));
    CHECK(imported.bytes.get()[Busy::words - 1] == 7 + Busy::words - 1);
    CHECK(read_words(busy.queue, last, Busy::words) == counted(7));
}

TEST_CASE("when a queue is finished, no reference of commands without events is left") {
    const Busy busy;
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    busy.go.set();
    constexpr uint32_t count = 3000;
    for (uint32_t i = 0; i < count; ++i)
        busy.count(busy.queue, mem, i);
    OK(piQueueFinish(busy.queue));
    CHECK(references(mem) == 1);
    CHECK(read_words(busy.queue, mem, Busy::words) == counted(count - 1));
}

TEST_CASE("references of commands without events are released even if no thread ever waits") {
    const Busy busy;
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    busy.count(busy.queue, mem, 1);
    CHECK(references(mem) == 2);
    busy.go.set();
    CHECK(comes_true([&] { return references(mem) == 1; }));
}

TEST_CASE(
    "in a stream that is never empty, references of commands without events are released, too") {
    const Busy busy;
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    busy.count(busy.queue, mem, 1);
    std::deque<Word> words;
    const auto end_one = [&] { (words.size() == 1 ? busy.go : words[words.size() - 2]).set(); };
    CHECK(comes_true([&] {
        busy.hold(words.emplace_back(busy.machine)); // behind it the one before may end
        end_one();
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        return references(mem) == 1;
    }));
    words.back().set();
    OK(piQueueFinish(busy.queue));
}

TEST_CASE(
    "memory that only ended commands without events reference is available to others at once") {
    const Machine machine({first});
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> little = machine.buffer(first, device_bytes / 32);
    // An allocation that finds no memory looks for ended commands, as the plugin does by itself now
    // and then. Neither may hide an end from the other.
    const std::jthread looks([&machine](const std::stop_token &stop) {
        auto d = pi::desc<pi_mem_buffer_desc>();
        d.size = device_bytes / 64 * 63; // never fits together with the small one
        for (Owned<pi_mem> none; !stop.stop_requested(); none.reset())
            piMemBufferCreate(machine.context, machine.devices[first], &d, none.out());
    });
    for (uint32_t round = 0; round < 40; ++round) {
        const Owned<pi_mem> most = machine.buffer(first, device_bytes / 8 * 5);
        const std::vector arguments{buffer_argument(most), value_argument(round)};
        const auto launch = launch_desc(kernel, arguments, 1);
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
        finish_device(machine, queue); // it has ended, unknown to the plugin
    }
}

TEST_CASE("a queue whose last reference is released after a command without an event lets it end") {
    const Machine machine({first});
    const Word go(machine), out(machine);
    {
        const Owned<pi_program> program =
            machine.program("function hold pointer\nfunction set_word pointer\n");
        const Owned<pi_kernel> hold = make_kernel(program, "hold"),
                               set_word = make_kernel(program, "set_word");
        const Owned<pi_queue> queue = machine.queue();
        const std::vector wait{pointer_argument(go.pointer())},
            write{pointer_argument(out.pointer())};
        const auto holding = launch_desc(hold, wait, 1), setting = launch_desc(set_word, write, 1);
        OK(piEnqueueKernelLaunch(queue, &holding, 0, nullptr, nullptr));
        OK(piEnqueueKernelLaunch(queue, &setting, 0, nullptr, nullptr));
    }
    go.set();
    CHECK(comes_true([&] { return out.is_set(); }));
}

TEST_CASE("commands that the stream does not run come after commands without events") {
    const Busy busy;
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    busy.count(busy.queue, mem, 5);
    std::vector<uint32_t> words(Busy::words);
    const pi_region region = range(0, 0, Busy::size);
    const auto read = read_desc(mem, words.data(), region);
    std::atomic<bool> called{false};
    auto function = pi::desc<pi_host_function_desc>();
    function.function = [](void *data) { *static_cast<std::atomic<bool> *>(data) = true; };
    function.user_data = &called;
    SECTION("a read of pageable memory") {
        Owned<pi_event> event;
        OK(piEnqueueMemBufferRead(busy.queue, &read, 0, nullptr, event.out()));
        CHECK(piEventWait(event, 1'000'000) == PI_ERROR_TIMEOUT);
        busy.go.set();
        OK(piEventWait(event, patience));
        CHECK(words == counted(5));
    }
    SECTION("a blocking read of pageable memory") {
        const std::jthread later = busy.let_go_later();
        CHECK(read_words(busy.queue, mem, Busy::words) == counted(5));
    }
    SECTION("a blocking read of a few bytes") {
        const std::jthread later = busy.let_go_later();
        CHECK(read_words(busy.queue, mem, 4) == std::vector<uint32_t>{5, 6, 7, 8});
    }
    SECTION("a host function") {
        Owned<pi_event> event;
        OK(piEnqueueHostFunction(busy.queue, &function, 0, nullptr, event.out()));
        CHECK(piEventWait(event, 1'000'000) == PI_ERROR_TIMEOUT);
        CHECK(!called);
        busy.go.set();
        OK(piEventWait(event, patience));
        CHECK(called);
    }
    SECTION("an event for everything before it") {
        Owned<pi_event> event;
        OK(piEnqueueEventsWait(busy.queue, nullptr, 0, nullptr, event.out()));
        CHECK(piEventWait(event, 1'000'000) == PI_ERROR_TIMEOUT);
        busy.go.set();
        OK(piEventWait(event, patience));
        CHECK(references(mem) == 1);
    }
    SECTION("a blocking barrier") {
        auto barrier = pi::desc<pi_barrier_desc>();
        barrier.flags = PI_COMMAND_BLOCKING;
        const std::jthread later = busy.let_go_later();
        OK(piEnqueueBarrier(busy.queue, &barrier, 0, nullptr, nullptr));
        CHECK(references(mem) == 1);
    }
    SECTION("a blocking timestamp") {
        auto timestamp = pi::desc<pi_timestamp_desc>();
        timestamp.flags = PI_COMMAND_BLOCKING;
        const std::jthread later = busy.let_go_later();
        OK(piEnqueueTimestamp(busy.queue, &timestamp, 0, nullptr, nullptr));
        CHECK(references(mem) == 1);
    }
    SECTION("a blocking write of a few bytes, which are read before it") {
        const Word few(busy.machine);
        const Owned<pi_mem> written = busy.machine.buffer(first, 16);
        const pi_region few_words = range(0, 0, 16);
        const auto before = read_desc(mem, few.pointer(), few_words);
        OK(piEnqueueMemBufferRead(busy.queue, &before, 0, nullptr, nullptr));
        const std::jthread later = busy.let_go_later();
        const auto write = write_desc(written, few.pointer(), few_words, PI_COMMAND_BLOCKING);
        OK(piEnqueueMemBufferWrite(busy.queue, &write, 0, nullptr, nullptr));
        CHECK(read_words(busy.queue, written, 4) == std::vector<uint32_t>{5, 6, 7, 8});
    }
    SECTION("another queue's command, which waits for an event") {
        const Owned<pi_queue> other = busy.machine.queue();
        const Owned<pi_mem> copied = busy.machine.buffer(first, Busy::size);
        Owned<pi_event> event, done;
        OK(piEnqueueEventsWait(busy.queue, nullptr, 0, nullptr, event.out()));
        const auto copy = copy_desc(mem, copied, region);
        pi_event waits[] = {event};
        OK(piEnqueueMemBufferCopy(other, &copy, 1, waits, done.out()));
        CHECK(piEventWait(done, 1'000'000) == PI_ERROR_TIMEOUT);
        busy.go.set();
        OK(piEventWait(done, patience));
        CHECK(read_words(other, copied, Busy::words) == counted(5));
    }
}

TEST_CASE("a command without an event does not overtake a delayed one") {
    const Busy busy;
    busy.go.set();
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    Owned<pi_event> gate;
    OK(piEventCreateHost(busy.machine.context, nullptr, gate.out()));
    pi_event waits[] = {gate};
    const uint32_t pattern = 9;
    const auto fill = fill_desc(mem, &pattern, 4, 0, Busy::size);
    OK(piEnqueueMemBufferFill(busy.queue, &fill, 1, waits, nullptr));
    busy.count(busy.queue, mem, 3);
    OK(piEventSignalHost(gate, PI_SUCCESS));
    OK(piQueueFinish(busy.queue));
    CHECK(read_words(busy.queue, mem, Busy::words) == counted(3));
}

TEST_CASE("a queue that is busy with a command without an event delays no other queue") {
    const Busy busy;
    const Owned<pi_queue> other = busy.machine.queue();
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    busy.count(other, mem, 2);
    OK(piQueueFinish(other));
    CHECK(references(mem) == 1);
    busy.count(busy.queue, mem, 4);
    CHECK(read_words(other, mem, Busy::words) == counted(2));
    busy.go.set();
    OK(piQueueFinish(busy.queue));
    CHECK(read_words(other, mem, Busy::words) == counted(4));
}

TEST_CASE(
    "within a callback a queue that is busy with a command without an event is not finished") {
    const Busy busy;
    struct Seen {
        pi_queue queue;
        std::atomic<pi_result> result;
    } seen{busy.queue, {1}};
    Owned<pi_event> event;
    OK(piEventCreateHost(busy.machine.context, nullptr, event.out()));
    OK(piEventSetCallback(
        event,
        [](pi_event, pi_result, void *data) {
            auto &self = *static_cast<Seen *>(data);
            self.result = piQueueFinish(self.queue);
        },
        &seen));
    OK(piEventSignalHost(event, PI_SUCCESS));
    CHECK(comes_true([&] { return seen.result != 1; }));
    CHECK(seen.result == PI_ERROR_WOULD_BLOCK);
}
