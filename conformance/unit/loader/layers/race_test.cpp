// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer race: it tells of what nothing orders, and of nothing else. What runs at the same time here
// does no harm: commands behind a host event that is signalled once the test has looked, or of which both
// write the same byte.

#include "validate.hpp"

#include <thread>
#include <utility>

using namespace layer_test;

namespace {

Description watched(CapturedLog &log, std::vector<std::string> layers = {"race"},
                    std::string level = "") {
    return with_layers(std::move(layers), {{"PI_RACE", std::move(level)}}, &log);
}

/// Two queues and a buffer. Ends all commands before the queues go.
struct Bench {
    CapturedLog log;
    Machine machine;
    pi_queue queues[2];
    pi_mem mem;

    explicit Bench(uint64_t first_flags = 0) : machine(watched(log), first_flags) {
        queues[0] = machine.queue;
        queues[1] = machine.make_queue();
        mem = machine.make_buffer(64);
    }
    ~Bench() {
        piQueueFinish(queues[0]);
        piQueueFinish(queues[1]);
        piQueueRelease(queues[1]);
        piMemRelease(mem);
    }
    std::size_t races() const { return log.count("race on ", PI_LOG_WARNING); }
};

/// Fills bytes with zeros; the event is the caller's.
pi_event fill(pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size,
              std::vector<pi_event> waits = {}, uint64_t flags = 0) {
    const unsigned char zero = 0;
    auto desc = describe<pi_buffer_fill_desc>(PI_TYPE_BUFFER_FILL_DESC);
    desc.flags = flags;
    desc.mem = mem;
    desc.pattern = &zero;
    desc.pattern_size = 1;
    desc.offset = offset;
    desc.size = size;
    pi_event event = nullptr;
    OK(piEnqueueMemBufferFill(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(),
                              &event));
    return event;
}

pi_event copy(pi_queue queue, pi_mem src, pi_mem dst, pi_region region) {
    auto desc = describe<pi_buffer_copy_desc>(PI_TYPE_BUFFER_COPY_DESC);
    desc.src = src;
    desc.dst = dst;
    desc.region_count = 1;
    desc.regions = &region;
    pi_event event = nullptr;
    OK(piEnqueueMemBufferCopy(queue, &desc, 0, nullptr, &event));
    return event;
}

void drop(std::vector<pi_event> events) {
    for (const pi_event event : events)
        OK(piEventRelease(event));
}

} // namespace

TEST_CASE("two writes of the same bytes on two queues are a race, told with both stacks") {
    Bench bench;
    drop({fill(bench.queues[0], bench.mem, 0, 32), fill(bench.queues[1], bench.mem, 16, 48)});
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    const auto lines = bench.log.wait_for({"bytes 16 to 31 of mem 0x"}, PI_LOG_WARNING, 1);
    REQUIRE(lines.size() == 1);
    for (const char *words : {"piEnqueueMemBufferFill, call 1 on queue 0x",
                              "piEnqueueMemBufferFill, call 2 on queue 0x", "writes it",
                              "let the second wait for the first's event", "the first:\n    #0 ",
                              "the second:\n    #0 ", "(loader_layers_test+0x"})
        CHECK_THAT(lines[0], Catch::Contains(words));
}

TEST_CASE("what orders two commands keeps them from being a race") {
    Bench bench;
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
    SECTION("the host asks until it has ended") {
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
    Bench bench;
    const pi_mem other = bench.machine.make_buffer(4);
    const pi_event elsewhere = fill(bench.queues[0], other, 0, 4);
    const pi_event first = fill(bench.queues[0], bench.mem, 0, 64);
    const pi_event second = fill(bench.queues[1], bench.mem, 0, 64, {elsewhere});
    CHECK(bench.races() == 1);
    drop({elsewhere, first, second});
    OK(piMemRelease(other));
}

TEST_CASE("reads beside reads are no race, a write beside a read is one") {
    Bench bench;
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

TEST_CASE("views are their root's bytes") {
    Bench bench;
    pi_mem views[2] = {};
    for (uint64_t i = 0; i < 2; ++i) {
        auto desc = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
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

TEST_CASE("columns of one matrix are apart, though their rows lie between each other") {
    Bench bench;
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

TEST_CASE("commands of a queue out of order race unless an event or a barrier orders them") {
    Bench bench(PI_QUEUE_OUT_OF_ORDER);
    std::vector<pi_event> events = {fill(bench.queues[0], bench.mem, 0, 64)};
    SECTION("nothing") {
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64));
        CHECK(bench.races() == 1);
    }
    SECTION("an event, and one more") {
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[0]}));
        CHECK(bench.races() == 0);
        // Behind the first, but not behind the second.
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64, {events[0]}));
        CHECK(bench.races() == 1);
    }
    SECTION("a barrier") {
        OK(piEnqueueBarrier(bench.queues[0], nullptr, 0, nullptr, nullptr));
        events.push_back(fill(bench.queues[0], bench.mem, 0, 64));
        CHECK(bench.races() == 0);
    }
    SECTION("a wait for all of the queue orders only who waits for it") {
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

TEST_CASE("what waits for a host event is behind all that the host saw end before it signalled") {
    Bench bench;
    const pi_event gate = bench.machine.make_host_event();
    std::vector<pi_event> events = {fill(bench.queues[0], bench.mem, 0, 64, {gate}),
                                    fill(bench.queues[1], bench.mem, 0, 64)};
    CHECK(bench.races() == 0); // it is not known yet
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

TEST_CASE("a callback and a host function know that what is before them has ended") {
    Bench bench;
    struct Step {
        pi_event gate;
        pi_result result = PI_ERROR_INTERNAL;
    } step{bench.machine.make_host_event()};
    // Behind the signal, and so behind what was before the signaller.
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
        auto desc = describe<pi_host_function_desc>(PI_TYPE_HOST_FUNCTION_DESC);
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
    Bench bench;
    const Kernel kernel = make_kernel(bench.machine);
    auto part = describe<pi_mem_partition_desc>(PI_TYPE_MEM_PARTITION_DESC);
    part.flags = PI_MEM_READ_ONLY;
    part.size = 64;
    pi_mem input = nullptr;
    OK(piMemBufferPartition(bench.mem, &part, &input));
    const auto launch = [&](pi_queue queue, pi_mem first, pi_mem second) {
        pi_kernel_argument arguments[2] = {};
        arguments[0].kind = arguments[1].kind = PI_ARGUMENT_BUFFER;
        arguments[0].mem = first;
        arguments[1].mem = second;
        auto desc = describe<pi_kernel_launch_desc>(PI_TYPE_KERNEL_LAUNCH_DESC);
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

TEST_CASE("memory by address races by the allocation's bytes") {
    Bench bench;
    auto usm = describe<pi_usm_desc>(PI_TYPE_USM_DESC);
    usm.kind = PI_USM_SHARED;
    usm.size = 64;
    void *pointer = nullptr;
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &pointer));
    const auto fill_usm = [&](pi_queue queue, uint64_t offset, uint64_t size) {
        const unsigned char zero = 0;
        auto desc = describe<pi_usm_fill_desc>(PI_TYPE_USM_FILL_DESC);
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

TEST_CASE("a kernel that is given an address races with what certainly writes behind it") {
    Bench bench;
    const Kernel kernel = make_kernel(bench.machine);
    auto usm = describe<pi_usm_desc>(PI_TYPE_USM_DESC);
    usm.kind = PI_USM_SHARED;
    usm.size = 64;
    void *pointer = nullptr;
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &pointer));
    auto *const bytes = static_cast<unsigned char *>(pointer);
    const auto launch = [&](pi_queue queue, const void *address) {
        pi_kernel_argument arguments[2] = {};
        arguments[0].kind = PI_ARGUMENT_POINTER;
        arguments[0].pointer = address;
        arguments[1].kind = PI_ARGUMENT_BUFFER;
        auto desc = describe<pi_kernel_launch_desc>(PI_TYPE_KERNEL_LAUNCH_DESC);
        desc.kernel = kernel.kernel;
        desc.dimensions = 1;
        desc.global_size[0] = 1;
        desc.argument_count = 2;
        desc.arguments = arguments;
        OK(piEnqueueKernelLaunch(queue, &desc, 0, nullptr, nullptr));
    };
    const auto use = [&](pi_queue queue, uint64_t offset, uint64_t size, bool writes) {
        Bytes host(size);
        const pi_region region = linear(0, 0, size);
        auto desc = describe<pi_usm_copy_desc>(PI_TYPE_USM_COPY_DESC);
        desc.src = writes ? static_cast<void *>(host.data()) : bytes + offset;
        desc.dst = writes ? bytes + offset : static_cast<void *>(host.data());
        desc.flags = PI_COMMAND_BLOCKING;
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueUsmCopy(queue, &desc, 0, nullptr, nullptr));
    };
    launch(bench.queues[0], bytes + 16);
    // Both may only read; nobody says that they write.
    launch(bench.queues[1], pointer);
    use(bench.queues[1], 0, 64, false);
    // In front of the first one's address; the second one's is behind it in its queue.
    use(bench.queues[1], 0, 16, true);
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
    use(bench.queues[1], 16, 8, true);
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("bytes 16 to 23 of USM memory 0x") == 1);
    CHECK(bench.log.count("piEnqueueKernelLaunch, call 1 on queue") == 1);
    CHECK(bench.log.count("is given an address in it; piEnqueueUsmCopy, call 3 on queue") == 1);
    // An address that is none of an allocation is nothing.
    launch(bench.queues[0], &pointer);
    CHECK(bench.races() == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piUsmFree(bench.machine.context, pointer));
    OK(piKernelRelease(kernel.kernel));
    OK(piProgramRelease(kernel.program));
}

TEST_CASE("the host's memory at the other end of transfers races by its addresses") {
    Bench bench;
    const pi_mem other = bench.machine.make_buffer(64);
    Bytes host(128);
    const auto transfer = [&](pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size,
                              bool read) {
        const pi_region region = read ? linear(0, offset, size) : linear(offset, 0, size);
        auto desc = describe<pi_buffer_read_desc>(PI_TYPE_BUFFER_READ_DESC);
        desc.mem = mem;
        desc.host_ptr = host.data();
        desc.region_count = 1;
        desc.regions = &region;
        auto write = describe<pi_buffer_write_desc>(PI_TYPE_BUFFER_WRITE_DESC);
        write.mem = mem;
        write.host_ptr = host.data();
        write.region_count = 1;
        write.regions = &region;
        if (read)
            OK(piEnqueueMemBufferRead(queue, &desc, 0, nullptr, nullptr));
        else
            OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    };
    SECTION("two reads into one range, and two beside each other") {
        transfer(bench.queues[0], bench.mem, 0, 64, true);
        transfer(bench.queues[1], other, 64, 64, true);
        CHECK(bench.races() == 0);
        transfer(bench.queues[1], other, 63, 1, true);
        CHECK(bench.races() == 1);
        CHECK(bench.log.count("of the host's memory: piEnqueueMemBufferRead, call 1 on queue") ==
              1);
    }
    SECTION("two writes out of one range, and a read into it") {
        transfer(bench.queues[0], bench.mem, 0, 64, false);
        transfer(bench.queues[1], other, 0, 64, false);
        CHECK(bench.races() == 0);
        transfer(bench.queues[1], other, 0, 8, true);
        CHECK(bench.races() == 1);
    }
    SECTION("the host has seen the first end") {
        transfer(bench.queues[0], bench.mem, 0, 64, true);
        OK(piQueueFinish(bench.queues[0]));
        transfer(bench.queues[1], other, 0, 64, true);
        CHECK(bench.races() == 0);
    }
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piMemRelease(other));
}

TEST_CASE("an image's transfers race with the host's memory and with a buffer at their other end") {
    Bench bench;
    auto desc = describe<pi_mem_image_desc>(PI_TYPE_MEM_IMAGE_DESC);
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_R;
    desc.channel_type = PI_CHANNEL_UINT32;
    desc.width = desc.height = 4;
    pi_mem image = nullptr;
    OK(piMemImageCreate(bench.machine.context, bench.machine.device, &desc, &image));
    auto copy = describe<pi_image_copy_desc>(PI_TYPE_IMAGE_COPY_DESC);
    pi_image_copy_region region{};
    region.extent[0] = 2;
    region.extent[1] = 2;
    region.buffer_row_pitch = 32;
    copy.src = image;
    copy.dst = bench.mem;
    copy.region_count = 1;
    copy.regions = &region;
    OK(piEnqueueMemImageCopy(bench.queues[0], &copy, 0, nullptr, nullptr));
    drop({fill(bench.queues[1], bench.mem, 8, 24)}); // between its rows of two pixels
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
    drop({fill(bench.queues[1], bench.mem, 39, 1)});
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("bytes 39 to 39 of mem 0x") == 1);

    Bytes host(64);
    pi_image_region rows{};
    rows.extent[0] = 2;
    rows.row_pitch = 16;
    auto read = describe<pi_image_read_desc>(PI_TYPE_IMAGE_READ_DESC);
    read.image = image;
    read.host_ptr = host.data();
    read.region_count = 1;
    read.regions = &rows;
    OK(piEnqueueMemImageRead(bench.queues[0], &read, 0, nullptr, nullptr));
    rows.offset = 8;
    OK(piEnqueueMemImageRead(bench.queues[1], &read, 0, nullptr, nullptr));
    CHECK(bench.races() == 1);
    rows.offset = 7;
    OK(piEnqueueMemImageRead(bench.queues[1], &read, 0, nullptr, nullptr));
    CHECK(bench.races() == 2);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piMemRelease(image));
}

TEST_CASE("a program's variables race by their names and bytes") {
    Bench bench;
    const std::string path = PI_TEST_VARIABLES;
    auto desc = describe<pi_program_desc>(PI_TYPE_PROGRAM_DESC);
    desc.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    desc.data = path.c_str();
    desc.size = path.size();
    pi_program program = nullptr;
    OK(piProgramCreate(bench.machine.context, &desc, &program));
    OK(piProgramBuild(program, nullptr));
    const Bytes zeros(8);
    std::vector<Bytes> hosts(4, Bytes(8));
    const auto write = [&](pi_queue queue, const char *name, uint64_t offset) {
        auto one = describe<pi_device_global_write_desc>(PI_TYPE_DEVICE_GLOBAL_WRITE_DESC);
        one.program = program;
        one.name = name;
        one.host_ptr = zeros.data();
        one.offset = offset;
        one.size = 4;
        OK(piEnqueueDeviceGlobalWrite(queue, &one, 0, nullptr, nullptr));
    };
    const auto read = [&](pi_queue queue, const char *name, uint64_t offset, Bytes &host) {
        auto one = describe<pi_device_global_read_desc>(PI_TYPE_DEVICE_GLOBAL_READ_DESC);
        one.program = program;
        one.name = name;
        one.host_ptr = host.data();
        one.offset = offset;
        one.size = 4;
        OK(piEnqueueDeviceGlobalRead(queue, &one, 0, nullptr, nullptr));
    };
    read(bench.queues[0], "second_table", 0, hosts[0]);
    read(bench.queues[1], "second_table", 0, hosts[1]);
    write(bench.queues[1], "second_table", 4);
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
    write(bench.queues[1], "second_table", 0);
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("bytes 0 to 3 of variable \"second_table\" of program 0x") == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piProgramRelease(program));
}

TEST_CASE("a pair of places is told once, however often it races") {
    Bench bench;
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
    CHECK_THAT(last_text(), Catch::Contains("one of warning, error"));
}

TEST_CASE("beside all other layers races are found the same") {
    CapturedLog log;
    {
        Machine machine(watched(log, {"validate", "leak-origin", "fault", "race"}),
                        PI_QUEUE_OUT_OF_ORDER);
        const pi_mem mem = machine.make_buffer(4);
        const pi_event first = fill(machine.queue, mem, 0, 4);
        drop({fill(machine.queue, mem, 0, 4, {first})});
        CHECK(log.count("race on") == 0);
        // Behind the first one only.
        drop({fill(machine.queue, mem, 0, 4, {first}), first});
        CHECK(log.count("race on", PI_LOG_WARNING) == 1);
        OK(piQueueFinish(machine.queue));
        OK(piMemRelease(mem));
    }
    CHECK(log.count("never released") == 0);
}

TEST_CASE("threads with a queue and a buffer each race nowhere") {
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
                    auto desc = describe<pi_buffer_fill_desc>(PI_TYPE_BUFFER_FILL_DESC);
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
