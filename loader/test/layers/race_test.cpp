// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer race (race.hpp).

#include "race.hpp"

#include <pi/pi_race.h>

#include <thread>
#include <utility>

using namespace layer_test;

TEST_CASE("two writes of the same bytes on two queues are a race, reported with both stacks") {
    RaceBench bench;
    drop({fill(bench.queues[0], bench.mem, 0, 32), fill(bench.queues[1], bench.mem, 16, 48)});
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    const auto lines = bench.log.wait_for({"bytes 16 to 31 of mem 0x"}, PI_LOG_WARNING, 1);
    REQUIRE(lines.size() == 1);
    for (const char *words :
         {"piEnqueueMemBufferFill, call 1 on queue 0x",
          "piEnqueueMemBufferFill, call 2 on queue 0x", "writes it", "wait_list",
          "the first:\n    #0 ", "the second:\n    #0 ", "(loader_layers_test+0x"})
        CHECK_THAT(lines[0], Catch::Contains(words));
}

TEST_CASE("ordered commands do not race") {
    RaceBench bench;
    pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    pi_event second = nullptr;
    SECTION("the wait list") {
        second = fill(bench.queues[1], bench.mem, 0, 64, {first});
    }
    SECTION("a wait list through others, one of them a barrier") {
        const pi_mem other = bench.machine.make_buffer(4);
        const pi_event between = fill(bench.queues[1], other, 0, 4, {first});
        OK(piEnqueueBarrier(bench.queues[0], nullptr, 1, &between, nullptr));
        OK(piEnqueueEventsWait(bench.queues[0], nullptr, 0, nullptr, &second));
        drop({between, second});
        second = fill(bench.queues[1], bench.mem, 0, 64);
        OK(piMemRelease(other));
    }
    SECTION("one queue in order") {
        second = fill(bench.queues[0], bench.mem, 0, 64);
    }
    SECTION("the host waits for the event") {
        OK(piEventWait(first, patience));
        second = fill(bench.queues[1], bench.mem, 0, 64);
    }
    SECTION("the host finishes the queue") {
        OK(piQueueFinish(bench.queues[0]));
        second = fill(bench.queues[1], bench.mem, 0, 64);
    }
    SECTION("the host waits for a later command of the queue") {
        drop({fill(bench.queues[0], bench.mem, 0, 1, {}, PI_COMMAND_BLOCKING)});
        second = fill(bench.queues[1], bench.mem, 0, 64);
    }
    SECTION("the host queries until it has ended") {
        pi_event_status status = PI_EVENT_QUEUED;
        while (status != PI_EVENT_COMPLETE)
            OK(piEventGetInfo(first, PI_EVENT_INFO_STATUS, sizeof status, &status, nullptr));
        second = fill(bench.queues[1], bench.mem, 0, 64);
    }
    SECTION("they use other bytes") {
        const pi_mem other = bench.machine.make_buffer(64);
        second = fill(bench.queues[1], other, 0, 64);
        OK(piMemRelease(other));
    }
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
    drop({first, second});
}

TEST_CASE("an event that orders another command does not order this one") {
    RaceBench bench;
    const pi_mem other = bench.machine.make_buffer(4);
    const pi_event elsewhere = fill(bench.queues[0], other, 0, 4);
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    const pi_event second = fill(bench.queues[1], bench.mem, 0, 64, {elsewhere});
    CHECK(bench.races() == 1);
    drop({elsewhere, first, second});
    OK(piMemRelease(other));
}

TEST_CASE("a wait list is read at the call, even if the command's event overwrites it") {
    RaceBench bench(PI_QUEUE_OUT_OF_ORDER);
    const pi_mem other = bench.machine.make_buffer(4);
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    const pi_event elsewhere = fill(bench.queues[0], other, 0, 4);
    const unsigned char zero = 0;
    auto desc = pi::desc<pi_buffer_fill_desc>();
    desc.mem = bench.mem;
    desc.pattern = &zero;
    desc.pattern_size = 1;
    desc.size = 64;
    pi_event event = elsewhere;
    OK(piEnqueueMemBufferFill(bench.queues[0], &desc, 1, &event, &event));
    CHECK(bench.races() == 1);
    drop({first, elsewhere, event});
    OK(piMemRelease(other));
}

TEST_CASE("two reads do not race, a read and a write do") {
    RaceBench bench;
    const pi_mem targets[] = {bench.machine.make_buffer(64), bench.machine.make_buffer(64)};
    std::vector<pi_event> events = {copy(bench.queues[0], bench.mem, targets[0], linear(0, 0, 64)),
                                    copy(bench.queues[1], bench.mem, targets[1], linear(0, 0, 64))};
    CHECK(bench.races() == 0);
    events.push_back(fill(bench.queues[1], bench.mem, 63, 1));
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("reads it; piEnqueueMemBufferFill, call 1") == 1);
    drop(events);
    for (const pi_mem mem : targets)
        OK(piMemRelease(mem));
}

TEST_CASE("views use the bytes of their root") {
    RaceBench bench;
    pi_mem views[2] = {};
    for (uint64_t i = 0; i < 2; ++i) {
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.offset = 0;
        desc.size = 64;
        OK(piMemBufferPartition(bench.mem, &desc, &views[i]));
    }
    std::vector<pi_event> events = {fill(bench.queues[0], views[0], 0, 32),
                                    fill(bench.queues[1], views[1], 32, 32)};
    CHECK(bench.races() == 0);
    events.push_back(fill(bench.queues[1], bench.mem, 31, 1));
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("bytes 31 to 31 of mem") == 1);
    drop(events);
    for (const pi_mem view : views)
        OK(piMemRelease(view));
}

TEST_CASE("columns of one matrix do not overlap, although their rows interleave") {
    RaceBench bench;
    const pi_mem source = bench.machine.make_buffer(64);
    pi_region left = linear(0, 0, 4);
    left.extent[1] = 8;
    left.dst_pitch[0] = 8;
    pi_region right = left;
    right.dst_offset = 4;
    std::vector<pi_event> events = {copy(bench.queues[0], source, bench.mem, left),
                                    copy(bench.queues[1], source, bench.mem, right)};
    CHECK(bench.races() == 0);
    right.dst_offset = 3;
    right.extent[1] = 7;
    events.push_back(copy(bench.queues[1], source, bench.mem, right));
    CHECK(bench.races() == 1);
    drop(events);
    OK(piMemRelease(source));
}

TEST_CASE("commands of an out-of-order queue race unless an event or a barrier orders them") {
    RaceBench bench(PI_QUEUE_OUT_OF_ORDER);
    std::vector<pi_event> events = {fill(bench.queues[0], bench.mem, 0, 64)};
    SECTION("nothing") {
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64));
        CHECK(bench.races() == 1);
    }
    SECTION("an event, and one more") {
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[0]}));
        CHECK(bench.races() == 0);
        // After the first, but not after the second.
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[0]}));
        CHECK(bench.races() == 1);
    }
    SECTION("a barrier") {
        OK(piEnqueueBarrier(bench.queues[0], nullptr, 0, nullptr, nullptr));
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64));
        CHECK(bench.races() == 0);
    }
    SECTION("a wait for the whole queue orders only its own waiters") {
        pi_event all = nullptr;
        OK(piEnqueueEventsWait(bench.queues[0], nullptr, 0, nullptr, &all));
        events.push_back(all);
        events.push_back(fill(bench.queues[1], bench.mem, 0, 64, {all}));
        CHECK(bench.races() == 0);
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[2]}));
        CHECK(bench.races() == 0);
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[0]}));
        CHECK(bench.races() != 0);
    }
    drop(events);
}

TEST_CASE("a waiter of a host event is ordered after everything that the host saw end before the "
          "signal") {
    RaceBench bench;
    const pi_event gate = bench.machine.make_host_event();
    std::vector<pi_event> events = {fill(bench.queues[0], bench.mem, 0, 64, {gate}),
                                    fill(bench.queues[1], bench.mem, 0, 64)};
    CHECK(bench.races() == 0); // unknown so far
    SECTION("it waited") {
        OK(piEventWait(events[1], patience));
        OK(piEventSignalHost(gate, PI_SUCCESS));
        CHECK(bench.races() == 0);
    }
    SECTION("it did not wait") {
        OK(piEventSignalHost(gate, PI_SUCCESS));
        CHECK(bench.races() == 1);
    }
    SECTION("the command never runs") {
        OK(piEventSignalHost(gate, PI_ERROR_INTERNAL));
        CHECK(bench.races() == 0);
    }
    drop(events);
    drop({gate});
}

TEST_CASE("commands that follow a failed command only by queue order race") {
    RaceBench bench;
    const pi_event gate = bench.machine.make_host_event();
    const pi_mem other = bench.machine.make_buffer(64);
    std::vector<pi_event> events = {fill(bench.queues[0], other, 0, 64, {gate})};
    SECTION("failed before") {
        OK(piEventSignalHost(gate, PI_ERROR_INTERNAL));
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64));
        events.push_back(fill(bench.queues[1], bench.mem, 0, 64));
        CHECK(bench.races() == 1);
    }
    SECTION("failed later") {
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64));
        events.push_back(fill(bench.queues[1], bench.mem, 0, 64));
        CHECK(bench.races() == 0); // unknown so far
        OK(piEventSignalHost(gate, PI_ERROR_INTERNAL));
        CHECK(bench.races() == 1);
    }
    SECTION("but not if they wait for it") {
        OK(piEventSignalHost(gate, PI_ERROR_INTERNAL));
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[0]}));
        events.push_back(fill(bench.queues[1], bench.mem, 0, 64));
        CHECK(bench.races() == 0);
    }
    drop(events);
    drop({gate});
    OK(piMemRelease(other));
}

TEST_CASE("callbacks and host functions see that earlier commands have ended") {
    RaceBench bench;
    struct Step {
        pi_event gate;
        pi_result result = PI_ERROR_INTERNAL;
    } step{bench.machine.make_host_event()};
    // After the signal, and so after what came before the signaller.
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    const pi_event second = fill(bench.queues[1], bench.mem, 0, 64, {step.gate});
    SECTION("a callback") {
        OK(piEventSetCallback(
            first,
            [](pi_event, pi_result, void *data) {
                auto *own = static_cast<Step *>(data);
                own->result = piEventSignalHost(own->gate, PI_SUCCESS);
            },
            &step));
    }
    SECTION("a host function") {
        auto desc = pi::desc<pi_host_function_desc>();
        desc.function = [](void *data) {
            auto *own = static_cast<Step *>(data);
            own->result = piEventSignalHost(own->gate, PI_SUCCESS);
        };
        desc.user_data = &step;
        OK(piEnqueueHostFunction(bench.queues[0], &desc, 0, nullptr, nullptr));
    }
    OK(piEventWait(second, patience));
    OK(piQueueFinish(bench.queues[0]));
    CHECK(step.result == PI_SUCCESS);
    CHECK(bench.races() == 0);
    drop({first, second, step.gate});
}

TEST_CASE("a kernel's buffer argument is written, unless its memory is for reading only") {
    RaceBench bench;
    const Kernel kernel = make_kernel(bench.machine);
    auto part = pi::desc<pi_mem_partition_desc>();
    part.flags = PI_MEM_READ_ONLY;
    part.size = 64;
    pi_mem input = nullptr;
    OK(piMemBufferPartition(bench.mem, &part, &input));
    const auto launch = [&](pi_queue queue, pi_mem first, pi_mem second) {
        pi_kernel_argument arguments[2] = {};
        arguments[0].kind = arguments[1].kind = PI_ARGUMENT_BUFFER;
        arguments[0].mem = first;
        arguments[1].mem = second;
        auto desc = pi::desc<pi_kernel_launch_desc>();
        desc.kernel = kernel.kernel;
        desc.dimensions = 1;
        desc.global_size[0] = 1;
        desc.argument_count = 2;
        desc.arguments = arguments;
        OK(piEnqueueKernelLaunch(queue, &desc, 0, nullptr, nullptr));
    };
    launch(bench.queues[0], input, nullptr);
    launch(bench.queues[1], nullptr, input);
    CHECK(bench.races() == 0);
    launch(bench.queues[1], bench.mem, nullptr);
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    OK(piMemRelease(input));
    OK(piKernelRelease(kernel.kernel));
    OK(piProgramRelease(kernel.program));
}

TEST_CASE("leading bytes of a kernel argument do not race") {
    RaceBench bench;
    const Kernel kernel = make_kernel(bench.machine);
    const void *table = nullptr;
    OK(piPluginGetExtension(bench.machine.plugin, PI_RACE_V1, sizeof(pi_race_v1), &table));
    const auto *const race = static_cast<const pi_race_v1 *>(table);
    const auto argument = [&](uint64_t offset, uint64_t size) {
        pi_kernel_argument result{};
        result.kind = PI_ARGUMENT_BUFFER;
        result.mem = bench.mem;
        result.offset = offset;
        result.size = size;
        return result;
    };
    const auto launch = [&](pi_queue queue, const pi_kernel_argument &first) {
        pi_kernel_argument arguments[2] = {first, {}};
        arguments[1].kind = PI_ARGUMENT_BUFFER;
        auto desc = pi::desc<pi_kernel_launch_desc>();
        desc.kernel = kernel.kernel;
        desc.dimensions = 1;
        desc.global_size[0] = 1;
        desc.argument_count = 2;
        desc.arguments = arguments;
        OK(piEnqueueKernelLaunch(queue, &desc, 0, nullptr, nullptr));
    };
    const pi_kernel_argument first = argument(0, 40), second = argument(32, 32);
    std::size_t expected = 1;
    SECTION("without a lead all bytes count as written") {}
    SECTION("all that both have") {
        OK(race->set_lead(&second, 8));
        expected = 0;
    }
    SECTION("and once more, with fewer") {
        OK(race->set_lead(&second, 8));
        OK(race->set_lead(&second, 4));
        expected = 0;
    }
    SECTION("all but one byte") {
        OK(race->set_lead(&second, 7));
    }
    SECTION("of another argument") {
        const pi_kernel_argument other = argument(32, 31);
        OK(race->set_lead(&other, 8));
    }
    launch(bench.queues[0], first);
    launch(bench.queues[1], second);
    INFO(bench.log.all());
    CHECK(bench.races() == expected);
    OK(piKernelRelease(kernel.kernel));
    OK(piProgramRelease(kernel.program));
}

TEST_CASE("a lead that no argument can have is refused") {
    RaceBench bench;
    const void *table = nullptr;
    CHECK(piPluginGetExtension(bench.machine.plugin, PI_RACE_V1, sizeof(pi_race_v1) + 1, &table) ==
          PI_ERROR_UNSUPPORTED_FEATURE);
    OK(piPluginGetExtension(bench.machine.plugin, PI_RACE_V1, sizeof(pi_race_v1), &table));
    const auto *const race = static_cast<const pi_race_v1 *>(table);
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = bench.mem;
    argument.size = 8;
    CHECK(race->set_lead(nullptr, 1) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(race->set_lead(&argument, 8) == PI_ERROR_INVALID_VALUE);
    argument.kind = PI_ARGUMENT_VALUE;
    CHECK(race->set_lead(&argument, 1) == PI_ERROR_INVALID_VALUE);
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = nullptr;
    CHECK(race->set_lead(&argument, 1) == PI_ERROR_INVALID_MEM_OBJECT);
    const Machine without_the_layer(watched(bench.log, {"leak-origin"}));
    CHECK(piPluginGetExtension(without_the_layer.plugin, PI_RACE_V1, sizeof(pi_race_v1), &table) !=
          PI_SUCCESS);
}

TEST_CASE("USM races by the allocation's bytes") {
    RaceBench bench;
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_SHARED;
    usm.size = 64;
    void *pointer = nullptr;
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &pointer));
    const auto fill_usm = [&](pi_queue queue, uint64_t offset, uint64_t size) {
        const unsigned char zero = 0;
        auto desc = pi::desc<pi_usm_fill_desc>();
        desc.pointer = static_cast<unsigned char *>(pointer) + offset;
        desc.pattern = &zero;
        desc.pattern_size = 1;
        desc.size = size;
        OK(piEnqueueUsmFill(queue, &desc, 0, nullptr, nullptr));
    };
    fill_usm(bench.queues[0], 0, 32);
    fill_usm(bench.queues[1], 32, 32);
    CHECK(bench.races() == 0);
    fill_usm(bench.queues[1], 31, 1);
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("bytes 31 to 31 of USM memory 0x") == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piUsmFree(bench.machine.context, pointer));
}

TEST_CASE("a pair of call sites is reported once, however often it races") {
    RaceBench bench;
    for (int i = 0; i < 20; ++i)
        drop({fill(bench.queues[i % 2], bench.mem, 0, 64)});
    CHECK(bench.races() == 1);
}

TEST_CASE("PI_RACE makes races errors; another level is refused") {
    CapturedLog log;
    {
        Machine machine(watched(log, {"race"}, "error"), PI_QUEUE_OUT_OF_ORDER);
        const pi_mem mem = machine.make_buffer(4);
        drop({fill(machine.queue, mem, 0, 4), fill(machine.queue, mem, 0, 4)});
        CHECK(log.count("race on", PI_LOG_ERROR) == 1);
        OK(piQueueFinish(machine.queue));
        OK(piMemRelease(mem));
    }
    pi_loader none = nullptr;
    CHECK(watched(log, {"race"}, "loud").try_create(piLoaderCreate, &none) ==
          PI_ERROR_INVALID_VALUE);
    CHECK_THAT(last_error(), Catch::Contains("one of warning, error"));
}

TEST_CASE("races are found with all other layers, too") {
    CapturedLog log;
    {
        Machine machine(watched(log, {"validate", "leak-origin", "fault", "race"}),
                        PI_QUEUE_OUT_OF_ORDER);
        const pi_mem mem = machine.make_buffer(4);
        const pi_event first = fill(machine.queue, mem, 0, 4);
        drop({fill(machine.queue, mem, 0, 4, {first})});
        CHECK(log.count("race on") == 0);
        // After the first one only.
        drop({fill(machine.queue, mem, 0, 4, {first}), first});
        CHECK(log.count("race on", PI_LOG_WARNING) == 1);
        OK(piQueueFinish(machine.queue));
        OK(piMemRelease(mem));
    }
    CHECK(log.count("never released") == 0);
}

TEST_CASE("queries of another layer do not order commands for the host") {
    CapturedLog log;
    {
        const Machine machine(watched(log, {"validate", "leak-origin", "race"}));
        const pi_queue other = machine.make_queue();
        const pi_mem mem = machine.make_buffer(4);
        const pi_mem mapped = machine.make_buffer(4);
        const pi_event first = fill(machine.queue, mem, 0, 4);
        void *pointer = nullptr;
        pi_event map = nullptr;
        auto desc = pi::desc<pi_buffer_map_desc>();
        desc.flags = PI_MAP_READ;
        desc.mem = mapped;
        desc.size = 4;
        desc.out_pointer = &pointer;
        OK(piEnqueueMemBufferMap(machine.queue, &desc, 0, nullptr, &map));
        // Time to end, so that a query returns it. Without it the test passes in any case.
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        CHECK(machine.fill(mapped, 0, 0, 4) == PI_ERROR_INVALID_OPERATION);
        const pi_event second = fill(other, mem, 0, 4);
        CHECK(log.count("race on", PI_LOG_WARNING) == 1);
        OK(piQueueFinish(machine.queue));
        OK(piQueueFinish(other));
        auto unmap = pi::desc<pi_unmap_desc>();
        unmap.flags = PI_COMMAND_BLOCKING;
        unmap.mem = mapped;
        unmap.pointer = pointer;
        OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
        drop({first, map, second});
        for (const pi_mem one : {mem, mapped})
            OK(piMemRelease(one));
        OK(piQueueRelease(other));
    }
    CHECK(log.count("never released") == 0);
}

TEST_CASE("threads with separate queues and buffers do not race") {
    constexpr int thread_count = 4;
    CapturedLog log;
    {
        const Machine machine(watched(log));
        std::vector<pi_result> results(thread_count, PI_SUCCESS);
        std::vector<pi_mem> buffers;
        std::vector<pi_queue> queues;
        for (int i = 0; i < thread_count; ++i) {
            buffers.push_back(machine.make_buffer(64));
            queues.push_back(machine.make_queue(i % 2 == 0 ? PI_QUEUE_OUT_OF_ORDER : 0));
        }
        std::vector<std::thread> threads;
        for (int i = 0; i < thread_count; ++i) {
            threads.emplace_back([&, i] {
                pi_event before = nullptr;
                for (int round = 0; round < 1500 && results[i] == PI_SUCCESS; ++round) {
                    const unsigned char zero = 0;
                    auto desc = pi::desc<pi_buffer_fill_desc>();
                    desc.mem = buffers[i];
                    desc.pattern = &zero;
                    desc.pattern_size = 1;
                    desc.size = 64;
                    pi_event event = nullptr;
                    results[i] = piEnqueueMemBufferFill(queues[i], &desc, before != nullptr,
                                                        &before, &event);
                    if (before != nullptr)
                        piEventRelease(before);
                    before = event;
                }
                if (before != nullptr)
                    piEventRelease(before);
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        CHECK(results == std::vector<pi_result>(thread_count, PI_SUCCESS));
        for (int i = 0; i < thread_count; ++i) {
            OK(piQueueFinish(queues[i]));
            OK(piQueueRelease(queues[i]));
            OK(piMemRelease(buffers[i]));
        }
    }
    CHECK(log.count("race on") == 0);
}
