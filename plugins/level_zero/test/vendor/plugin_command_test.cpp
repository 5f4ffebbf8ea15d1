// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands of the level_zero plugin on Intel's driver, which accepts them but runs none.
#include "plugin_fixture.hpp"

#include "native_kernel.hpp"
#include "skip.hpp"

using namespace level_zero_plugin_test;

namespace {

/// Accepted commands, which are ended after the test's checks.
struct Commands {
    ~Commands() {
        for (const Owned<pi_event> &event : events)
            end(event);
    }
    pi_event *next() {
        events.emplace_back();
        return events.back().out();
    }
    std::vector<Owned<pi_event>> events;
};

} // namespace

TEST_CASE("a queue reports its descriptor") {
    const Machine machine;
    if (!machine)
        return;
    for (size_t i = 0; i < machine.devices.size(); ++i)
        for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER},
                                     uint64_t{PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_HIGH}}) {
            const Owned<pi_queue> queue = machine.make_queue(i, flags);
            CHECK(info<pi_context>(piQueueGetInfo, pi_queue{queue}, PI_QUEUE_INFO_CONTEXT) ==
                  machine.context);
            CHECK(info<pi_device>(piQueueGetInfo, pi_queue{queue}, PI_QUEUE_INFO_DEVICE) ==
                  machine.devices[i]);
            CHECK(info<uint64_t>(piQueueGetInfo, pi_queue{queue}, PI_QUEUE_INFO_FLAGS) == flags);
            CHECK(native<ze_command_list_handle_t>(&piQueueGetNativeHandle, queue));
            OK(piQueueFlush(queue));
            OK(piQueueFinish(queue)); // it is empty
        }
}

TEST_CASE("the driver accepts every command on buffers and USM, and launches") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_program> program = build_kernels(machine);
    if (!program)
        return;
    const Owned<pi_kernel> add = make_kernel(program, "add");
    const Owned<pi_kernel> reverse = make_kernel(program, "reverse");
    for (size_t i = 0; i < machine.devices.size(); ++i)
        for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
            const Owned<pi_queue> queue = machine.make_queue(i, flags);
            const Owned<pi_mem> a = machine.make_buffer(4096, i), b = machine.make_buffer(4096, i);
            std::vector<uint8_t> bytes(4096);
            auto usm = pi::desc<pi_usm_desc>();
            usm.kind = PI_USM_SHARED;
            usm.size = 4096;
            void *pointer = nullptr;
            OK(piUsmAlloc(machine.context, machine.devices[i], &usm, &pointer));
            void *mapped = nullptr;
            {
                Commands commands;
                const pi_region all = range(0, 0, 4096);
                const auto write = write_desc(a, bytes.data(), all);
                OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, commands.next()));
                const pi_event written = commands.events.back();
                const auto copy = copy_desc(a, b, all);
                OK(piEnqueueMemBufferCopy(queue, &copy, 1, &written, commands.next()));
                pi_region rows = range(0, 64, 16);
                rows.extent[1] = 8;
                rows.src_pitch[0] = 32;
                rows.dst_pitch[0] = 128;
                const auto pitched = copy_desc(a, b, rows);
                OK(piEnqueueMemBufferCopy(queue, &pitched, 0, nullptr, commands.next()));
                const uint32_t word = 7;
                const auto fill = fill_desc(b, &word, sizeof word, 0, 4096);
                OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, commands.next()));
                const pi_kernel_argument of_add[] = {buffer_argument(b), value_argument(word)};
                const auto launch = launch_desc(add, 1024, of_add, 2);
                OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, commands.next()));
                const pi_kernel_argument of_reverse[] = {buffer_argument(b), local_argument(256)};
                auto groups = launch_desc(reverse, 1024, of_reverse, 2);
                groups.local_size[0] = 64;
                OK(piEnqueueKernelLaunch(queue, &groups, 0, nullptr, commands.next()));
                auto prefetch = pi::desc<pi_usm_prefetch_desc>();
                prefetch.pointer = pointer;
                prefetch.size = 4096;
                OK(piEnqueueUsmPrefetch(queue, &prefetch, 0, nullptr, commands.next()));
                const auto map = map_desc(a, 0, 4096, &mapped, PI_MAP_READ);
                OK(piEnqueueMemBufferMap(queue, &map, 0, nullptr, commands.next()));
                OK(piEnqueueBarrier(queue, nullptr, 0, nullptr, commands.next()));
                const auto read = read_desc(b, bytes.data(), all);
                OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, commands.next()));
                OK(piQueueFlush(queue));
                for (const Owned<pi_event> &event : commands.events) {
                    CHECK(info<pi_queue>(piEventGetInfo, pi_event{event}, PI_EVENT_INFO_QUEUE) ==
                          queue);
                    CHECK(info<pi_result>(piEventGetInfo, pi_event{event}, PI_EVENT_INFO_RESULT) ==
                          PI_SUCCESS);
                    CHECK(native<ze_event_handle_t>(&piEventGetNativeHandle, event));
                }
                CHECK(info<uint32_t>(piEventGetInfo, written, PI_EVENT_INFO_COMMAND) ==
                      PI_TYPE_BUFFER_WRITE_DESC);
            }
            REQUIRE(mapped);
            Commands commands;
            const auto unmap = unmap_desc(a, mapped);
            OK(piEnqueueMemUnmap(queue, &unmap, 0, nullptr, commands.next()));
        }
}

TEST_CASE("the driver accepts commands without an event") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_queue> queue = machine.make_queue();
    const Owned<pi_mem> a = machine.make_buffer(4096), b = machine.make_buffer(4096);
    Commands commands;
    const uint32_t word = 7;
    const auto fill = fill_desc(a, &word, sizeof word, 0, 4096);
    const pi_region all = range(0, 0, 4096);
    const auto copy = copy_desc(a, b, all);
    for (int i = 0; i < 100; ++i) {
        OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
        OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    }
    OK(piEnqueueBarrier(queue, nullptr, 0, nullptr, commands.next()));
}

TEST_CASE("copied bytes arrive") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_queue> queue = machine.make_queue();
    const Owned<pi_mem> mem = machine.make_buffer(4096);
    const std::vector<uint8_t> bytes(4096, 0x5A);
    std::vector<uint8_t> back(4096);
    Commands commands;
    const pi_region all = range(0, 0, 4096);
    const auto write = write_desc(mem, bytes.data(), all);
    OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, commands.next()));
    const auto read = read_desc(mem, back.data(), all);
    OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, commands.next()));
    if (!has_ended(commands.events.back())) {
        CHECK(status(commands.events.back()) != PI_EVENT_COMPLETE);
        return skip(not_executed);
    }
    CHECK(back == bytes);
}

TEST_CASE("a kernel's results are read") {
    const Machine machine;
    if (!machine)
        return;
    const Owned<pi_program> program = build_kernels(machine);
    if (!program)
        return;
    const Owned<pi_kernel> add = make_kernel(program, "add");
    const Owned<pi_queue> queue = machine.make_queue();
    const Owned<pi_mem> mem = machine.make_buffer(4096);
    std::vector<uint32_t> back(1024);
    Commands commands;
    const uint32_t five = 5, seven = 7;
    const auto fill = fill_desc(mem, &five, sizeof five, 0, 4096);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, commands.next()));
    const pi_kernel_argument arguments[] = {buffer_argument(mem), value_argument(seven)};
    const auto launch = launch_desc(add, 1024, arguments, 2);
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, commands.next()));
    const pi_region all = range(0, 0, 4096);
    const auto read = read_desc(mem, back.data(), all);
    OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, commands.next()));
    if (!has_ended(commands.events.back()))
        return skip(not_executed);
    CHECK(back == std::vector<uint32_t>(1024, 12));
}

TEST_CASE("bytes are copied from each device to every other") {
    const Machine machine;
    if (!machine)
        return;
    if (machine.devices.size() < 2)
        return skip("needs two devices");
    // Without peer access the plugin's threads wait for each block of a copy, which the test cannot
    // end for the device: start none if even a write does not end.
    const std::vector<uint8_t> bytes(4096, 0x5A);
    std::vector<uint8_t> back(4096);
    const Owned<pi_queue> queue = machine.make_queue();
    const Owned<pi_mem> a = machine.make_buffer(4096), b = machine.make_buffer(4096, 1);
    Commands commands;
    const pi_region all = range(0, 0, 4096);
    const auto write = write_desc(a, bytes.data(), all);
    OK(piEnqueueMemBufferWrite(queue, &write, 0, nullptr, commands.next()));
    if (!has_ended(commands.events.back()))
        return skip(not_executed);
    const auto copy = copy_desc(a, b, all);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, commands.next()));
    const Owned<pi_queue> other = machine.make_queue(1);
    const auto read = read_desc(b, back.data(), all);
    const pi_event copied = commands.events.back();
    OK(piEnqueueMemBufferRead(other, &read, 1, &copied, commands.next()));
    OK(piEventWait(commands.events.back(), patience));
    CHECK(back == bytes);
}
