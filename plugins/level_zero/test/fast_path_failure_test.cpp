// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Commands on the fast path into the driver's list, where the driver refuses them, loses its
// device, or the application changes the kernel.
#include "fast_path/busy.hpp"

using namespace fast_path_test;

TEST_CASE("a refused command without an event fails its call and keeps no references") {
    const InjectedFaults faults;
    const Busy busy;
    const Owned<pi_mem> a = busy.machine.buffer(first, 4096), b = busy.machine.buffer(first, 4096);
    const pi_region all = range(0, 0, 4096);
    const auto copy = copy_desc(a, b, all);
    faults.fail("zeCommandListAppendMemoryCopy", ZE_RESULT_ERROR_INVALID_ARGUMENT, 1, 0);
    REFUSED(PI_ERROR_BACKEND, "zeCommandListAppendMemoryCopy",
            piEnqueueMemBufferCopy(busy.queue, &copy, 0, nullptr, nullptr));
    CHECK(references(a) == 1);
    CHECK(references(b) == 1);
    busy.go.set();
    require_works(busy.machine, busy.queue);
}

TEST_CASE("a partly accepted command without an event keeps its references until it completes") {
    const InjectedFaults faults;
    const Busy busy;
    const Owned<pi_mem> a = busy.machine.buffer(first, 4096), b = busy.machine.buffer(first, 4096);
    const pi_region regions[] = {range(0, 0, 1024), range(2048, 2048, 1024)};
    auto copy = copy_desc(a, b, regions[0]);
    copy.region_count = 2;
    copy.regions = regions;
    faults.fail("zeCommandListAppendMemoryCopy", ZE_RESULT_ERROR_INVALID_ARGUMENT, 2, 0);
    REFUSED(PI_ERROR_BACKEND, "zeCommandListAppendMemoryCopy",
            piEnqueueMemBufferCopy(busy.queue, &copy, 0, nullptr, nullptr));
    CHECK(references(a) == 2);
    busy.go.set();
    CHECK(comes_true([&] { return references(a) == 1 && references(b) == 1; }));
    require_works(busy.machine, busy.queue);
}

TEST_CASE("on a lost device no references are kept, and later commands are refused") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const Owned<pi_mem> mem = machine.buffer(first, 4096);
    faults.fail("zeEventQueryStatus", ZE_RESULT_ERROR_DEVICE_LOST, 1, UINT32_MAX);
    faults.fail("zeEventHostSynchronize", ZE_RESULT_ERROR_DEVICE_LOST, 1, UINT32_MAX);
    const uint32_t word = 7;
    const auto fill = fill_desc(mem, &word, sizeof word, 0, 4096);
    OK(piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
    SECTION("with a wait") {
        OK(piQueueFinish(queue));
    }
    SECTION("without a wait") {
        CHECK(comes_true([&] { return references(mem) == 1; }));
    }
    CHECK(references(mem) == 1);
    REFUSED(PI_ERROR_DEVICE_LOST, "is lost",
            piEnqueueMemBufferFill(queue, &fill, 0, nullptr, nullptr));
}

TEST_CASE("a copy or launch without an event is one append call of the driver") {
    const InjectedFaults faults;
    const Busy busy;
    const Owned<pi_mem> a = busy.machine.buffer(first, 4096), b = busy.machine.buffer(first, 4096);
    const pi_region all = range(0, 0, 4096);
    const auto copy = copy_desc(a, b, all);
    const uint64_t copies = faults.calls("zeCommandListAppendMemoryCopy");
    const uint64_t barriers = faults.calls("zeCommandListAppendBarrier");
    for (int i = 0; i < 10; ++i)
        OK(piEnqueueMemBufferCopy(busy.queue, &copy, 0, nullptr, nullptr));
    busy.go.set();
    OK(piQueueFinish(busy.queue));
    CHECK(faults.calls("zeCommandListAppendMemoryCopy") == copies + 10);
    CHECK(faults.calls("zeCommandListAppendBarrier") == barriers);
}

TEST_CASE("a kernel whose handle the application has is set again for each launch") {
    const Machine machine;
    const auto queue = machine.queue();
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const uint32_t from = 3;
    const auto counts = [&] {
        const Owned<pi_mem> mem = machine.buffer(first, 64 * sizeof(uint32_t));
        const std::vector arguments{buffer_argument(mem), value_argument(from)};
        const auto launch = launch_desc(kernel, arguments, 64, 8);
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
        const auto words = read_words(queue, mem, 64);
        return words.front() == from && words.back() == from + 63;
    };
    CHECK(counts());
    CHECK(counts());
    pi_native_handle handle{};
    OK(piKernelGetNativeHandle(kernel, machine.devices[first], &handle));
    for (const uint32_t size : {1U, 2U}) {
        OK(driver_call<decltype(&zeKernelSetGroupSize)>("zeKernelSetGroupSize")(
            reinterpret_cast<ze_kernel_handle_t>(handle.value[0]), size, 1, 1));
        CHECK(counts());
    }
    // A held launch does not see later changes of the application's either.
    Owned<pi_event> gate;
    OK(piEventCreateHost(machine.context, nullptr, gate.out()));
    const Owned<pi_mem> mem = machine.buffer(first, 64 * sizeof(uint32_t));
    const std::vector arguments{buffer_argument(mem), value_argument(from)};
    const auto launch = launch_desc(kernel, arguments, 64, 8);
    const pi_event waits = gate;
    OK(piEnqueueKernelLaunch(queue, &launch, 1, &waits, nullptr));
    const uint32_t other = from + 1;
    OK(driver_call<decltype(&zeKernelSetArgumentValue)>("zeKernelSetArgumentValue")(
        reinterpret_cast<ze_kernel_handle_t>(handle.value[0]), 1, sizeof other, &other));
    OK(piEventSignalHost(gate, PI_SUCCESS));
    CHECK(read_words(queue, mem, 64).front() == from);
}
