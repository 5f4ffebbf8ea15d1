// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer race on parts of objects: address arguments, host memory, variables of programs
// (race.hpp).

#include "race.hpp"

#include <utility>

using namespace layer_test;

TEST_CASE("a kernel with an address argument races with certain writes to that allocation") {
    RaceBench bench;
    const Kernel kernel = make_kernel(bench.machine);
    auto usm = pi::desc<pi_usm_desc>();
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
        auto desc = pi::desc<pi_kernel_launch_desc>();
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
        auto desc = pi::desc<pi_usm_copy_desc>();
        desc.src = writes ? static_cast<void *>(host.data()) : bytes + offset;
        desc.dst = writes ? bytes + offset : static_cast<void *>(host.data());
        desc.flags = PI_COMMAND_BLOCKING;
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueUsmCopy(queue, &desc, 0, nullptr, nullptr));
    };
    launch(bench.queues[0], bytes + 16);
    // Both may only read: nothing says that they write.
    launch(bench.queues[1], pointer);
    use(bench.queues[1], 0, 64, false);
    // Before the first one's address; the second one's is ordered by its queue.
    use(bench.queues[1], 0, 16, true);
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
    use(bench.queues[1], 16, 8, true);
    CHECK(bench.races() == 1);
    CHECK(bench.log.count("bytes 16 to 23 of USM memory 0x") == 1);
    CHECK(bench.log.count("piEnqueueKernelLaunch, call 1 on queue") == 1);
    CHECK(bench.log.count("receives an address in it; piEnqueueUsmCopy, call 3 on queue") == 1);
    // An address outside of all allocations does not count.
    launch(bench.queues[0], &pointer);
    CHECK(bench.races() == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piUsmFree(bench.machine.context, pointer));
    OK(piKernelRelease(kernel.kernel));
    OK(piProgramRelease(kernel.program));
}

TEST_CASE("host memory at the other end of transfers races by address") {
    RaceBench bench;
    const pi_mem other = bench.machine.make_buffer(64);
    Bytes host(128);
    const auto transfer = [&](pi_queue queue, pi_mem mem, uint64_t offset, uint64_t size,
                              bool read) {
        const pi_region region = read ? linear(0, offset, size) : linear(offset, 0, size);
        auto desc = pi::desc<pi_buffer_read_desc>();
        desc.mem = mem;
        desc.host_ptr = host.data();
        desc.region_count = 1;
        desc.regions = &region;
        auto write = pi::desc<pi_buffer_write_desc>();
        write.mem = mem;
        write.host_ptr = host.data();
        write.region_count = 1;
        write.regions = &region;
        if (read)
            OK(piEnqueueMemBufferRead(queue, &desc, 0, nullptr, nullptr));
        else
            OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, nullptr));
    };
    SECTION("two reads into one range, and two into adjacent ranges") {
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
    SECTION("the host has seen the first command end") {
        transfer(bench.queues[0], bench.mem, 0, 64, true);
        OK(piQueueFinish(bench.queues[0]));
        transfer(bench.queues[1], other, 0, 64, true);
        CHECK(bench.races() == 0);
    }
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piMemRelease(other));
}

TEST_CASE("image transfers race at their other end, in host memory or a buffer") {
    RaceBench bench;
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_R;
    desc.channel_type = PI_CHANNEL_UINT32;
    desc.width = desc.height = 4;
    pi_mem image = nullptr;
    OK(piMemImageCreate(bench.machine.context, bench.machine.device, &desc, &image));
    auto copy = pi::desc<pi_image_copy_desc>();
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
    auto read = pi::desc<pi_image_read_desc>();
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
    RaceBench bench;
    const std::string path = PI_TEST_VARIABLES;
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_LIBRARY;
    desc.data = path.c_str();
    desc.size = path.size();
    pi_program program = nullptr;
    OK(piProgramCreate(bench.machine.context, &desc, &program));
    OK(piProgramBuild(program, nullptr));
    const Bytes zeros(8);
    std::vector<Bytes> hosts(4, Bytes(8));
    const auto write = [&](pi_queue queue, const char *name, uint64_t offset) {
        auto one = pi::desc<pi_device_global_write_desc>();
        one.program = program;
        one.name = name;
        one.host_ptr = zeros.data();
        one.offset = offset;
        one.size = 4;
        OK(piEnqueueDeviceGlobalWrite(queue, &one, 0, nullptr, nullptr));
    };
    const auto read = [&](pi_queue queue, const char *name, uint64_t offset, Bytes &host) {
        auto one = pi::desc<pi_device_global_read_desc>();
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
