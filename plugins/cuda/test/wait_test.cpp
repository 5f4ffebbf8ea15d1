// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enqueues do not wait, even if the driver's calls on the way do. A failing test hangs.
#include "plugin_busy.hpp"

#include <deque>

using namespace cuda_test;

TEST_CASE("no enqueue waits for other work to drop references of commands without events") {
    const Busy busy; // until the end: releasing pinned memory waits for it
    const Owned<pi_queue> other = busy.machine.queue();
    const Owned<pi_mem> mem = busy.machine.buffer(first, Busy::size);
    std::deque<Imported> imports; // created before: pinning may wait for a thread that unpins
    std::deque<Word> gates;
    for (int round = 0; round < 3; ++round) {
        imports.emplace_back(busy.machine);
        gates.emplace_back(busy.machine);
    }
    const pi_region all = range(0, 0, Busy::size);
    const uint32_t pattern = 9;
    const auto fill = fill_desc(mem, &pattern, 4, 0, 4);
    // The thread that drops the first reference waits, so another thread drops the second.
    for (size_t round = 0; round < imports.size(); ++round) {
        Imported &imported = imports[round];
        busy.launch(other, "hold", {pointer_argument(gates[round].pointer())}, 1);
        const auto copy = copy_desc(imported.mem, mem, all);
        OK(piEnqueueMemBufferCopy(other, &copy, 0, nullptr, nullptr));
        imported.mem.reset();
        gates[round].set(); // only the queue has references now
        // the copy has probably completed
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        for (int i = 0; i < 1000; ++i)
            OK(piEnqueueMemBufferFill(other, &fill, 0, nullptr, nullptr));
    }
    CHECK_FALSE(busy.go.is_set());
    busy.go.set();
    OK(piQueueFinish(other)); // it reads the application's memory until here
}

TEST_CASE("releasing a queue does not wait for its commands' references") {
    // Must live until the plugin has dropped it, which may be at the loader's end.
    const std::unique_ptr<std::byte, void (*)(void *)> memory(
        static_cast<std::byte *>(std::aligned_alloc(4096, 3 * Busy::size)),
        [](void *bytes) { std::free(bytes); });
    const Busy busy;
    const Owned<pi_program> program = busy.machine.program("function set_word pointer\n");
    const Owned<pi_kernel> set_word = make_kernel(program, "set_word");
    std::deque<Word> reached, gates;
    std::deque<Owned<pi_mem>> imports; // created before: pinning may wait for a thread that unpins
    std::deque<Owned<pi_mem>> copies;  // one each: the queues are not ordered
    for (size_t i = 0; i < 3; ++i) {
        auto d = pi::desc<pi_mem_import_desc>();
        d.handle.type = PI_EXTERNAL_HOST_POINTER;
        d.handle.pointer = memory.get() + i * Busy::size;
        d.size = Busy::size;
        OK(piMemImport(busy.machine.context, busy.machine.devices[first], &d,
                       imports.emplace_back().out()));
        copies.push_back(busy.machine.buffer(first, Busy::size));
        reached.emplace_back(busy.machine);
        gates.emplace_back(busy.machine);
    }
    for (size_t round = 0; round < 3; ++round) {
        Owned<pi_queue> other = busy.machine.queue();
        const pi_region all = range(0, 0, Busy::size);
        const auto copy = copy_desc(imports[round], copies[round], all);
        busy.launch(other, "hold", {pointer_argument(gates[round].pointer())}, 1);
        OK(piEnqueueMemBufferCopy(other, &copy, 0, nullptr, nullptr));
        imports[round].reset();
        gates[round].set(); // only the queue has it now; unpinning waits for all work of the device
        const std::vector word{pointer_argument(reached[round].pointer())};
        const auto launch = launch_desc(set_word, word, 1);
        OK(piEnqueueKernelLaunch(other, &launch, 0, nullptr, nullptr));
        if (round > 0) // otherwise it continues
            CHECK(comes_true([&] { return reached[round].is_set(); }));
        if (round > 1) { // and the plugin's own thread is about to drop it
            const uint32_t pattern = 9;
            const auto fill = fill_desc(copies[round], &pattern, 4, 0, 4);
            for (int i = 0; i < 1000; ++i)
                OK(piEnqueueMemBufferFill(other, &fill, 0, nullptr, nullptr));
        }
        other.reset();
    }
    CHECK_FALSE(busy.go.is_set());
    busy.go.set();
}

TEST_CASE("where streams share a hardware queue, times need no wait in an enqueue",
          "[.one_queue]") {
    const Machine machine({first});
    const Owned<pi_queue> busy = machine.queue(), timed = machine.queue(first, PI_QUEUE_PROFILING);
    const Owned<pi_mem> mem = machine.buffer(first, 64);
    const Word go(machine);
    const Owned<pi_program> program = machine.program("function hold pointer\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "hold");
    const std::vector wait{pointer_argument(go.pointer())};
    const auto hold = launch_desc(kernel, wait, 1);
    OK(piEnqueueKernelLaunch(busy, &hold, 0, nullptr, nullptr));
    const uint32_t pattern = 9;
    const auto fill = fill_desc(mem, &pattern, 4, 0, 64);
    Owned<pi_event> before, after;
    OK(piEnqueueMemBufferFill(timed, &fill, 0, nullptr, before.out()));
    std::this_thread::sleep_for(std::chrono::milliseconds(2100)); // a new base is due
    OK(piEnqueueMemBufferFill(timed, &fill, 0, nullptr, after.out()));
    CHECK_FALSE(go.is_set());
    go.set();
    OK(piEventWait(after, patience));
    const auto time = [](pi_event event, pi_profiling_info name) {
        uint64_t value = 0;
        OK(piEventGetProfilingInfo(event, name, sizeof value, &value, nullptr));
        return value;
    };
    CHECK(time(before, PI_PROFILING_START) <= time(before, PI_PROFILING_END));
    CHECK(time(before, PI_PROFILING_END) <= time(after, PI_PROFILING_START));
    CHECK(time(after, PI_PROFILING_SUBMIT) <= time(after, PI_PROFILING_END));
}
