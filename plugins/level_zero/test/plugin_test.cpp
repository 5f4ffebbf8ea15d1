// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of the level_zero plugin that the conformance suite cannot see: its use of the driver.
#include "fixture.hpp"

#include "growing_pool.hpp"

#include "program.hpp"

#include <chrono>
#include <thread>

using namespace level_zero_test;
using Catch::Matchers::Contains;

TEST_CASE("without the vendor's loader there is no platform, and the reason names the file") {
    CHECK_THAT(unavailable("/nowhere/libze_loader.so"), Contains("/nowhere/libze_loader.so"));
}

TEST_CASE("a library that is not a loader is refused, and the reason names what it lacks") {
    CHECK_THAT(unavailable("libm.so.6"), Contains("libm.so.6") && Contains("zeInit"));
}

TEST_CASE("without a driver there is no platform, and the reason says so") {
    const Ran ran = run({"/usr/bin/env", "ZE_ENABLE_ALT_DRIVERS=/nowhere/libdriver.so",
                         "PI_PLUGINS=" PI_TEST_LEVEL_ZERO_PLUGIN, PI_TEST_INFO, "--plugins"});
    CHECK_THAT(ran.output, Contains("zeInit") && Contains("no Level Zero driver"));
}

TEST_CASE("compiler options are translated") {
    const Machine machine;
    const auto platform =
        info<pi_platform>(piDeviceGetInfo, machine.device(), PI_DEVICE_INFO_PLATFORM);
    constexpr const char *rounding = "-ze-fp32-correctly-rounded-divide-sqrt";
    for (const auto &[option, expected] :
         {std::pair("-O0", "-ze-opt-disable"), std::pair("-O3", "-ze-opt-level=2"),
          std::pair("-foffload-fp32-prec-div", rounding),
          std::pair("-foffload-fp32-prec-sqrt", rounding), std::pair("-nothing", "")}) {
        char words[64];
        OK(piPlatformGetBackendOption(platform, option, sizeof words, words, nullptr));
        CHECK(std::string(words) == expected);
    }
}

TEST_CASE("a device reports the driver's properties in the units of pi.h") {
    const Machine machine;
    const pi_device device = machine.device();
    const auto small = [&](pi_device_info name) {
        return info<uint32_t>(piDeviceGetInfo, device, name);
    };
    const auto large = [&](pi_device_info name) {
        return info<uint64_t>(piDeviceGetInfo, device, name);
    };
    CHECK(small(PI_DEVICE_INFO_VENDOR_ID) == 0x8086);
    CHECK(small(PI_DEVICE_INFO_DEVICE_ID) == 0x0bda);
    CHECK(small(PI_DEVICE_INFO_CLOCK_RATE) == 1000);
    CHECK(small(PI_DEVICE_INFO_MEMORY_CLOCK_RATE) == 1000);
    CHECK(small(PI_DEVICE_INFO_MEMORY_BUS_WIDTH) == 256);
    CHECK(large(PI_DEVICE_INFO_CACHE_SIZE) == 4 << 20);
    CHECK(large(PI_DEVICE_INFO_MAX_PARAMETER_SIZE) == 4096);
    CHECK(large(PI_DEVICE_INFO_MAX_PRINTF_SIZE) == 1 << 20);
    CHECK(small(PI_DEVICE_INFO_MAX_SAMPLERS) == 16);
    CHECK(small(PI_DEVICE_INFO_ATOMIC_64) == 1);
    CHECK(small(PI_DEVICE_INFO_ERROR_CORRECTION) == 0);
    const auto configs =
        info<std::array<uint32_t, 3>>(piDeviceGetInfo, device, PI_DEVICE_INFO_FP_CONFIGS);
    CHECK(configs == std::array<uint32_t, 3>{0, configs[1], configs[1]});
    CHECK(configs[1] == (PI_FP_DENORMALS | PI_FP_INF_NAN | PI_FP_ROUND_TO_NEAREST | PI_FP_FMA));
    const auto access =
        info<std::array<uint32_t, 5>>(piDeviceGetInfo, device, PI_DEVICE_INFO_USM_ACCESS);
    CHECK(access[0] == 15);
    CHECK(access[4] == 0);
    CHECK_THAT(info_text(piDeviceGetInfo, device, PI_DEVICE_INFO_EXTENSIONS), Contains("ZE_"));
    for (const pi_device_info name : {PI_DEVICE_INFO_FREE_MEMORY, PI_DEVICE_INFO_CACHE_LINE_SIZE,
                                      PI_DEVICE_INFO_NATIVE_VECTOR_WIDTHS})
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, std::to_string(name),
                piDeviceGetInfo(device, name, 0, nullptr, nullptr));
}

TEST_CASE("events, lists and staging are reused: commands create none") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const auto loose = machine.queue(0, PI_QUEUE_OUT_OF_ORDER);
    const Owned<pi_mem> a = machine.buffer(4096), b = machine.buffer(4096);
    const auto round = [&] {
        for (const pi_queue each : {pi_queue{queue}, pi_queue{loose}}) {
            for (int i = 0; i < 20; ++i) {
                const pi_region all = range(0, 0, 4096);
                const auto copy = copy_desc(a, b, all);
                Owned<pi_event> event;
                OK(piEnqueueMemBufferCopy(each, &copy, 0, nullptr, event.out()));
            }
            void *pointer = nullptr;
            const auto map = map_desc(a, 0, 4096, &pointer, PI_MAP_READ | PI_COMMAND_BLOCKING);
            OK(piEnqueueMemBufferMap(each, &map, 0, nullptr, nullptr));
            const auto unmap = unmap_desc(a, pointer, PI_COMMAND_BLOCKING);
            OK(piEnqueueMemUnmap(each, &unmap, 0, nullptr, nullptr));
            OK(piQueueFinish(each));
        }
    };
    const char *const names[] = {"zeEventCreate", "zeEventPoolCreate",
                                 "zeCommandListCreateImmediate", "zeMemAllocHost", "zeMemFree"};
    const auto calls = [&] {
        std::vector<uint64_t> counts;
        for (const char *name : names)
            counts.push_back(faults.calls(name));
        return counts;
    };
    round();
    const std::vector<uint64_t> before = calls();
    for (int i = 0; i < 50; ++i)
        round();
    CHECK(calls() == before);
}

TEST_CASE("every event and list that was created is destroyed with its context") {
    const InjectedFaults faults;
    const auto balance = [&](const char *create, const char *destroy) {
        return faults.calls(create) - faults.calls(destroy);
    };
    const uint64_t events = balance("zeEventCreate", "zeEventDestroy");
    const uint64_t lists = balance("zeCommandListCreateImmediate", "zeCommandListDestroy");
    {
        const Machine machine;
        const auto queue = machine.queue(0, PI_QUEUE_PROFILING);
        require_works(machine, queue);
        CHECK(balance("zeEventCreate", "zeEventDestroy") > events);
    }
    CHECK(balance("zeEventCreate", "zeEventDestroy") == events);
    CHECK(balance("zeCommandListCreateImmediate", "zeCommandListDestroy") == lists);
}

// Either a thread of the plugin that watched the lists, or this one, drops the last reference.
TEST_CASE("a queue's priority is its immediate list's") {
    const InjectedFaults faults;
    const Machine machine;
    const auto priority = [&](uint64_t flags) {
        const Owned<pi_queue> queue = machine.queue(0, flags);
        pi_native_handle handle{};
        OK(piQueueGetNativeHandle(queue, &handle));
        return faults.priority(
            reinterpret_cast<ze_command_list_handle_t>(static_cast<uintptr_t>(handle.value[0])));
    };
    for (const uint64_t order : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
        CHECK(priority(order) == ZE_COMMAND_QUEUE_PRIORITY_NORMAL);
        CHECK(priority(order | PI_QUEUE_PRIORITY_LOW) == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_LOW);
        CHECK(priority(order | PI_QUEUE_PRIORITY_HIGH) == ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH);
    }
}

TEST_CASE(
    "a context is destroyed after its lists, even if a host function drops the last reference") {
    constexpr size_t count = 8;
    const std::string before = leaks();
    for (int i = 0; i < 50; ++i) {
        const Machine machine;
        const Owned<pi_mem> mem = machine.buffer(1 << 16);
        std::vector<std::vector<uint8_t>> back(count, std::vector<uint8_t>(1 << 16));
        const pi_region all = range(0, 0, back.front().size());
        std::vector<Owned<pi_queue>> queues(count);
        std::vector<Owned<pi_event>> events(count);
        for (size_t k = 0; k < count; ++k) {
            queues[k] = machine.queue();
            const auto read = read_desc(mem, back[k].data(), all);
            OK(piEnqueueMemBufferRead(queues[k], &read, 0, nullptr, nullptr));
            auto d = pi::desc<pi_host_function_desc>();
            d.function = [](void *) {};
            OK(piEnqueueHostFunction(queues[k], &d, 0, nullptr, events[k].out()));
        }
        for (const Owned<pi_event> &event : events)
            OK(piEventWait(event, UINT64_MAX));
    }
    CHECK(leaks() == before);
}

TEST_CASE("a context around another's handle still works when that one is destroyed first") {
    const InjectedFaults faults;
    Machine machine;
    auto d = pi::desc<pi_native_desc>();
    OK(piContextGetNativeHandle(machine.context, nullptr, &d.handle));
    Owned<pi_context> around;
    OK(piContextCreateWithNativeHandle(machine.platform, &d, around.out()));
    const uint64_t destroyed = faults.calls("zeContextDestroy");
    machine.context.reset();
    machine.context = std::move(around);
    require_works(machine, machine.queue());
    CHECK(faults.calls("zeContextDestroy") == destroyed);
    machine.context.reset();
    CHECK(faults.calls("zeContextDestroy") == destroyed + 1);
}

TEST_CASE("devices use each other's memory only if both of the driver's queries say so") {
    const InjectedFaults faults;
    CHECK(Machine().connection(0, 1).connection == PI_MEMORY_CONNECTION_UNIFIED);
    faults.disagree();
    const pi_memory_connection_info info = Machine().connection(0, 1);
    CHECK(info.connection == PI_MEMORY_CONNECTION_MIGRATABLE);
    CHECK_THAT(info.reason, Contains("zeDeviceGetP2PProperties says yes") &&
                                Contains("zeDeviceCanAccessPeer says no"));
}

TEST_CASE("imports of a device's descriptors by another are tried once per pair") {
    constexpr uint32_t opaque = 1u << PI_EXTERNAL_OPAQUE_FD, dma_buf = 1u << PI_EXTERNAL_DMA_BUF_FD;
    const InjectedFaults faults;
    const Machine machine;
    const auto shared = [&](size_t src, size_t dst) {
        return machine.connection(src, dst).external_handle_types;
    };
    const std::string before = leaks();
    // The import of the first type, after the allocation that is exported.
    faults.fail("zeMemAllocDevice", ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, 2, 0);
    CHECK(shared(0, 1) == opaque);
    faults.clear();
    const uint64_t calls = faults.calls("zeMemAllocDevice");
    CHECK(shared(0, 1) == opaque);
    CHECK(shared(0, 0) == (opaque | dma_buf | 1u << PI_EXTERNAL_ZE_IPC));
    CHECK(faults.calls("zeMemAllocDevice") == calls);
    CHECK(shared(1, 0) == (opaque | dma_buf));
    CHECK(leaks() == before);
}

TEST_CASE("imports by another device are tried again if there was no memory for the trial") {
    constexpr uint32_t both = 1u << PI_EXTERNAL_OPAQUE_FD | 1u << PI_EXTERNAL_DMA_BUF_FD;
    const InjectedFaults faults;
    const Machine machine;
    faults.fail("zeMemAllocDevice", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, 1, 1);
    CHECK(machine.connection(0, 1).external_handle_types == 0);
    faults.clear();
    CHECK(machine.connection(0, 1).external_handle_types == both);
}

TEST_CASE("an IPC handle is for device memory, with offsets from its allocation's beginning") {
    const Machine machine;
    auto wish = pi::desc<pi_mem_export_desc>();
    wish.external_type = PI_EXTERNAL_ZE_IPC;
    pi_external_handle handle{};
    auto pinned = pi::desc<pi_mem_buffer_desc>();
    pinned.size = 4096;
    pinned.scope = 1; // host.pinned
    Owned<pi_mem> in_host;
    OK(piMemBufferCreate(machine.context, machine.devices.front(), &pinned, in_host.out()));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "mem is host memory",
            piMemExport(in_host, &wish, &handle));
    const Owned<pi_mem> root = machine.buffer(16384);
    pi_native_handle native{};
    OK(piMemGetNativeHandle(root, machine.devices.front(), &native));
    auto known = pi::desc<pi_mem_import_desc>();
    known.size = 4096;
    known.offset = 1024;
    known.handle.type = PI_EXTERNAL_NATIVE;
    known.handle.native = native;
    known.handle.native.value[0] += 4096;
    Owned<pi_mem> inner;
    OK(piMemImport(machine.context, machine.devices.front(), &known, inner.out()));
    OK(piMemExport(inner, &wish, &handle));
    CHECK(handle.offset == 5120);
}

TEST_CASE("a device's clock counts nanoseconds, whatever the driver's ticks are") {
    const Machine machine;
    uint64_t device[2] = {}, host[2] = {};
    for (int i = 0; i < 2; ++i) {
        REQUIRE(piDeviceGetGlobalTimestamps(machine.devices[0], &device[i], &host[i]) ==
                PI_SUCCESS);
        std::this_thread::sleep_for(std::chrono::milliseconds(50 * (1 - i)));
    }
    // Far more than a thread that is preempted between the two readings can cause: a tick is 80 ns.
    CHECK(device[1] - device[0] > (host[1] - host[0]) / 20);
    CHECK(device[1] - device[0] < (host[1] - host[0]) * 20);
}

TEST_CASE("an alignment that the driver does not honour is honoured") {
    const InjectedFaults faults;
    const Machine machine;
    faults.misalign();
    // One of them may be aligned by chance.
    std::vector<Owned<pi_mem>> mems;
    for (int i = 0; i < 8; ++i) {
        mems.push_back(machine.buffer(1000, uint64_t{1} << 20));
        const auto address =
            info<uint64_t>(piMemGetInfo, pi_mem{mems.back()}, PI_MEM_INFO_DEVICE_ADDRESS);
        CHECK(address % (uint64_t{1} << 20) == 0);
    }
    require_works(machine, machine.queue());
}

TEST_CASE("rows between contexts need few driver calls") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    auto of_other = pi::desc<pi_context_desc>();
    of_other.device_count = 2;
    of_other.devices = machine.devices.data();
    Owned<pi_context> context;
    OK(piContextCreate(machine.platform, &of_other, context.out()));
    constexpr uint64_t size = 1 << 20;
    const Owned<pi_mem> a = machine.buffer(size);
    auto buffer = pi::desc<pi_mem_buffer_desc>();
    buffer.size = size;
    Owned<pi_mem> b;
    OK(piMemBufferCreate(context, machine.devices.front(), &buffer, b.out()));
    const Owned<pi_queue> of_b = [&] {
        Owned<pi_queue> made;
        OK(piQueueCreate(context, machine.devices.front(), nullptr, made.out()));
        return made;
    }();
    std::vector<uint8_t> from(size), to(size, 0), seen(size);
    for (uint64_t i = 0; i < size; ++i)
        from[i] = static_cast<uint8_t>(i * 7 + i / 251);
    const pi_region all = range(0, 0, size);
    const auto write_a = write_desc(a, from.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(queue, &write_a, 0, nullptr, nullptr));
    const auto write_b = write_desc(b, to.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferWrite(of_b, &write_b, 0, nullptr, nullptr));
    pi_region region{};
    region.src_offset = 3;
    region.dst_offset = 5;
    region.extent[0] = 1;
    region.extent[1] = region.extent[2] = 1;
    uint64_t most = 2;
    SECTION("one slice") {
        region.extent[1] = 50'000;
        region.src_pitch[0] = 16;
        region.dst_pitch[0] = 20;
    }
    SECTION("one slice, dense at the destination") {
        region.extent[1] = 50'000;
        region.src_pitch[0] = 16;
    }
    SECTION("many slices") {
        region.extent[1] = 2;
        region.extent[2] = 20'000;
        region.src_pitch[0] = 16;
        region.src_pitch[1] = 33;
        region.dst_pitch[0] = 9;
        region.dst_pitch[1] = 40;
    }
    SECTION("a few rows, copied one by one") {
        region.extent[1] = 4;
        region.src_pitch[0] = 16;
        region.dst_pitch[0] = 20;
        most = 4;
    }
    const uint64_t rows[] = {region.src_pitch[0] ? region.src_pitch[0] : 1,
                             region.dst_pitch[0] ? region.dst_pitch[0] : 1};
    const auto calls = [&] {
        uint64_t sum = 0;
        for (const char *name :
             {"zeCommandListAppendMemoryCopy", "zeCommandListAppendMemoryCopyFromContext",
              "zeCommandListAppendMemoryCopyRegion"})
            sum += faults.calls(name);
        return sum;
    };
    const uint64_t before = calls();
    const auto copy = copy_desc(a, b, region, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferCopy(queue, &copy, 0, nullptr, nullptr));
    CHECK(calls() - before == most);
    for (uint64_t z = 0; z < region.extent[2]; ++z)
        for (uint64_t y = 0; y < region.extent[1]; ++y)
            to[region.dst_offset + z * region.dst_pitch[1] + y * rows[1]] =
                from[region.src_offset + z * region.src_pitch[1] + y * rows[0]];
    const auto read = read_desc(b, seen.data(), all, PI_COMMAND_BLOCKING);
    OK(piEnqueueMemBufferRead(of_b, &read, 0, nullptr, nullptr));
    CHECK(seen == to);
}

TEST_CASE("memory that pools keep for reuse does not make allocations fail") {
    const Machine machine;
    const GrowingPool pool(machine.context, machine.devices.front());
    CHECK(pool.reserved() > 0);
    CHECK(pool.reserved() <= GrowingPool::most);
    constexpr uint64_t most = (uint64_t{2} << 30) - (64 << 20);
    SECTION("a buffer") {
        const Owned<pi_mem> mem = machine.buffer(most);
        CHECK(pool.reserved() == 0);
    }
    SECTION("USM without a pool, of another context") {
        auto of_other = pi::desc<pi_context_desc>();
        of_other.device_count = 1;
        of_other.devices = machine.devices.data();
        Owned<pi_context> context;
        OK(piContextCreate(machine.platform, &of_other, context.out()));
        auto d = pi::desc<pi_usm_desc>();
        d.kind = PI_USM_DEVICE;
        d.size = most;
        void *pointer = nullptr;
        OK(piUsmAlloc(context, machine.devices.front(), &d, &pointer));
        OK(piUsmFree(context, pointer));
    }
}
