// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer race (race.hpp) with failures: which of them show the order of commands.

#include "race.hpp"

#include <future>

using namespace layer_test;

TEST_CASE("commands also race behind a command that an abandoned host event failed") {
    RaceBench bench;
    const pi_event gate = bench.machine.make_host_event();
    const pi_mem other = bench.machine.make_buffer(64);
    const pi_event held = fill(bench.queues[0], other, 0, 64, {gate});
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    const pi_event second = fill(bench.queues[1], bench.mem, 0, 64);
    CHECK(bench.races() == 0); // unknown so far
    OK(piEventRelease(gate));
    CHECK(bench.races() == 1);
    drop({held, first, second});
    OK(piMemRelease(other));
}

TEST_CASE("a refused blocking command orders nothing, a failed one orders everything before it") {
    RaceBench bench;
    const unsigned char zero = 0;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.flags = PI_COMMAND_BLOCKING;
    desc.mem = bench.mem;
    desc.pattern = &zero;
    desc.pattern_size = 1;
    desc.size = 64;
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    std::size_t races = 1;
    SECTION("for its arguments") {
        desc.size = 0;
        CHECK(piEnqueueMemBufferFill(bench.queues[0], &desc, 0, nullptr, nullptr) ==
              PI_ERROR_INVALID_SIZE);
    }
    SECTION("for being called in a callback") {
        struct Step {
            pi_queue queue;
            const pi_buffer_fill_desc *desc;
            std::promise<pi_result> result{};
        } step{bench.queues[0], &desc};
        const pi_event gate = bench.machine.make_host_event();
        OK(piEventSetCallback(
            gate,
            [](pi_event, pi_result, void *data) {
                auto *own = static_cast<Step *>(data);
                own->result.set_value(
                    piEnqueueMemBufferFill(own->queue, own->desc, 0, nullptr, nullptr));
            },
            &step));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        CHECK(step.result.get_future().get() == PI_ERROR_WOULD_BLOCK);
        drop({gate});
    }
    SECTION("for its wait list") {
        const pi_event failed = bench.machine.make_host_event();
        OK(piEventSignalHost(failed, PI_ERROR_BACKEND));
        CHECK(piEnqueueMemBufferFill(bench.queues[0], &desc, 1, &failed, nullptr) ==
              PI_ERROR_DEPENDENCY_FAILED);
        drop({failed});
        races = 0;
    }
    drop({first, fill(bench.queues[1], bench.mem, 0, 64)});
    INFO(bench.log.all());
    CHECK(bench.races() == races);
}

TEST_CASE("a wait that returns its own error orders nothing, one that returns the command's does") {
    const auto [fault, races] = GENERATE(table<std::string, std::size_t>(
        {{"piEventWait:1=fail(OUT_OF_HOST_MEMORY)", 1},
         {"piEnqueueMemBufferFill:1=fail_event(OUT_OF_HOST_MEMORY)", 0}}));
    RaceBench bench(0, fault);
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    CHECK(piEventWait(first, patience) == PI_ERROR_OUT_OF_HOST_MEMORY);
    drop({first, fill(bench.queues[1], bench.mem, 0, 64)});
    INFO(fault << bench.log.all());
    CHECK(bench.races() == races);
}

TEST_CASE("a failed release changes nothing") {
    SECTION("memory") {
        RaceBench bench(0, "piMemRelease:1=fail(OUT_OF_HOST_MEMORY)");
        const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
        CHECK(piMemRelease(bench.mem) == PI_ERROR_OUT_OF_HOST_MEMORY);
        drop({first, fill(bench.queues[1], bench.mem, 0, 64)});
        CHECK(bench.races() == 1);
    }
    SECTION("a command's event, which is behind nothing else") {
        RaceBench bench(0, "piEventRelease:1=fail(OUT_OF_HOST_MEMORY)");
        const pi_mem other = bench.machine.make_buffer(4);
        const pi_event first = fill(bench.queues[0], other, 0, 4);
        CHECK(piEventRelease(first) == PI_ERROR_OUT_OF_HOST_MEMORY);
        drop({fill(bench.queues[1], bench.mem, 0, 64),
              fill(bench.queues[0], bench.mem, 0, 64, {first}), first});
        CHECK(bench.races() == 1);
        OK(piMemRelease(other));
    }
    SECTION("a host event, which is not abandoned") {
        RaceBench bench(0, "piEventRelease:1=fail(OUT_OF_HOST_MEMORY)");
        const pi_event gate = bench.machine.make_host_event();
        CHECK(piEventRelease(gate) == PI_ERROR_OUT_OF_HOST_MEMORY);
        drop({fill(bench.queues[0], bench.mem, 0, 64, {gate}),
              fill(bench.queues[1], bench.mem, 0, 64)});
        CHECK(bench.races() == 0); // unknown so far
        OK(piEventSignalHost(gate, PI_SUCCESS));
        CHECK(bench.races() == 1);
        drop({gate});
    }
}

TEST_CASE("USM whose free failed is the same allocation") {
    const bool by_command = GENERATE(false, true);
    RaceBench bench(0, by_command ? "piEnqueueUsmFree:1=fail(OUT_OF_HOST_MEMORY)"
                                  : "piUsmFree:1=fail(OUT_OF_HOST_MEMORY)");
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_HOST;
    usm.size = 64;
    void *pointer = nullptr;
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &pointer));
    const auto use = [&](pi_queue queue) {
        const unsigned char zero = 0;
        auto desc = pi::desc<pi_usm_fill_desc>();
        desc.pointer = pointer;
        desc.pattern = &zero;
        desc.pattern_size = 1;
        desc.size = 64;
        OK(piEnqueueUsmFill(queue, &desc, 0, nullptr, nullptr));
    };
    auto free = pi::desc<pi_usm_free_desc>();
    free.pointer = pointer;
    use(bench.queues[0]);
    CHECK((by_command ? piEnqueueUsmFree(bench.queues[0], &free, 0, nullptr, nullptr)
                      : piUsmFree(bench.machine.context, pointer)) == PI_ERROR_OUT_OF_HOST_MEMORY);
    use(bench.queues[1]);
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piUsmFree(bench.machine.context, pointer));
}
