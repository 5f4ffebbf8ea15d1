// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's handling of calls that the driver refuses.
#include "fixture.hpp"

using namespace level_zero_test;
using Catch::Matchers::Contains;

TEST_CASE("exhausted memory reports the requested and the free size") {
    const InjectedFaults faults;
    const Machine machine;
    const Owned<pi_mem> first = machine.buffer(1 << 20);
    faults.fail("zeMemAllocDevice", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, 1,
                1); // it is tried again
    Owned<pi_mem> second;
    CHECK(machine.try_buffer(3 << 20, second) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK_THAT(last_error(), Contains("zeMemAllocDevice: ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY") &&
                                 Contains("3 MiB requested") && Contains("free on"));
    OK(machine.try_buffer(3 << 20, second));
}

TEST_CASE("objects that cannot be created for a queue or its commands fail the call, each time") {
    const InjectedFaults faults;
    const Machine machine;
    faults.fail("zeCommandListCreateImmediate", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, 1, 0);
    auto d = pi::desc<pi_queue_desc>();
    Owned<pi_queue> refused;
    CHECK(piQueueCreate(machine.context, machine.devices.front(), &d, refused.out()) ==
          PI_ERROR_OUT_OF_HOST_MEMORY);
    CHECK_THAT(last_error(), Contains("zeCommandListCreateImmediate"));
    const auto queue = machine.queue();
    for (const char *name : {"zeEventPoolCreate", "zeEventCreate"}) {
        INFO(name);
        const Machine fresh;
        const auto other = fresh.queue();
        const Owned<pi_mem> mem = fresh.buffer(64);
        faults.fail(name, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, 1, 0);
        const uint32_t word = 7;
        const auto fill = fill_desc(mem, &word, sizeof word, 0, 64);
        CHECK(piEnqueueMemBufferFill(other, &fill, 0, nullptr, nullptr) ==
              PI_ERROR_OUT_OF_HOST_MEMORY);
        CHECK_THAT(last_error(), Contains(name));
        require_works(fresh, other);
    }
    require_works(machine, queue);
}

TEST_CASE("a command that the driver refuses fails its call, and the queue continues") {
    const InjectedFaults faults;
    const Machine machine;
    for (const uint64_t flags :
         {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}, uint64_t{PI_QUEUE_PROFILING}}) {
        const auto queue = machine.queue(0, flags);
        const Owned<pi_mem> a = machine.buffer(4096), b = machine.buffer(4096);
        const pi_region all = range(0, 0, 4096);
        const auto copy = copy_desc(a, b, all);
        faults.fail("zeCommandListAppendMemoryCopy", ZE_RESULT_ERROR_INVALID_ARGUMENT, 1, 0);
        Owned<pi_event> event;
        CHECK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, event.out()) == PI_ERROR_BACKEND);
        CHECK_THAT(last_error(), Contains("zeCommandListAppendMemoryCopy") &&
                                     Contains("ZE_RESULT_ERROR_INVALID_ARGUMENT"));
        require_works(machine, queue);
    }
}

TEST_CASE("a command whose second part is refused completes as a failed event after the first") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const Owned<pi_mem> a = machine.buffer(4096), b = machine.buffer(4096);
    const pi_region regions[] = {range(0, 0, 1024), range(2048, 2048, 1024)};
    auto copy = copy_desc(a, b, regions[0]);
    copy.region_count = 2;
    copy.regions = regions;
    faults.fail("zeCommandListAppendMemoryCopy", ZE_RESULT_ERROR_INVALID_ARGUMENT, 2, 0);
    Owned<pi_event> event;
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, event.out()));
    CHECK(piEventWait(event, patience) == PI_ERROR_BACKEND);
    CHECK_THAT(last_error(), Contains("zeCommandListAppendMemoryCopy"));
    require_works(machine, queue);
}

TEST_CASE("dependents of a command that failed half-way do nothing") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const Owned<pi_mem> a = machine.buffer(4096), b = machine.buffer(4096);
    const uint8_t one = 1, two = 2;
    const auto fill = fill_desc(b, &one, 1, 0, 4096, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    const pi_region regions[] = {range(0, 0, 1024), range(2048, 1024, 1024)};
    auto copy = copy_desc(a, b, regions[0]);
    copy.region_count = 2;
    copy.regions = regions;
    faults.fail("zeCommandListAppendMemoryCopy", ZE_RESULT_ERROR_INVALID_ARGUMENT, 2, 0);
    Owned<pi_event> failed, behind;
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, failed.out()));
    const auto next = fill_desc(b, &two, 1, 2048, 2048);
    const pi_event waits = failed;
    OK(piEnqueueMemBufferFill(queue, &next, 1, &waits, behind.out()));
    CHECK(piEventWait(behind, patience) == PI_ERROR_DEPENDENCY_FAILED);
    CHECK_THAT(last_error(), Contains("zeCommandListAppendMemoryCopy"));
    std::vector<uint8_t> bytes(2048);
    const pi_region upper = range(2048, 0, 2048);
    const auto read = read_desc(b, bytes.data(), upper, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(queue, &read, 0, nullptr, nullptr));
    CHECK(bytes == std::vector<uint8_t>(2048, one));
}

TEST_CASE("a lost device fails pending and later commands, in its context only") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const Owned<pi_mem> a = machine.buffer(4096), b = machine.buffer(4096);
    const pi_region all = range(0, 0, 4096);
    const auto copy = copy_desc(a, b, all);
    faults.fail("zeEventQueryStatus", ZE_RESULT_ERROR_DEVICE_LOST, 1, UINT32_MAX);
    faults.fail("zeEventHostSynchronize", ZE_RESULT_ERROR_DEVICE_LOST, 1, UINT32_MAX);
    Owned<pi_event> event;
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, event.out()));
    CHECK(piEventWait(event, patience) == PI_ERROR_DEVICE_LOST);
    CHECK_THAT(last_error(), Contains("ZE_RESULT_ERROR_DEVICE_LOST"));
    CHECK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr) == PI_ERROR_DEVICE_LOST);
    CHECK_THAT(last_error(), Contains("is lost"));
    OK(piQueueFinish(queue));
    faults.clear();
    const Machine other;
    require_works(other, other.queue());
}
