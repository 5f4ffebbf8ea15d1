// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One test for each row of the table in plugins/opencl/quirks.cpp: what the plugin promises although the driver does not.
#include "fixture.hpp"
#include "skip.hpp"

#include <atomic>
#include <thread>

using namespace opencl_test;

namespace {

/// The devices whose platform's and own name begin so.
std::vector<pi_device> devices_like(const Loader &loader, const std::string &platform,
                                    const std::string &device) {
    std::vector<pi_device> found;
    for (pi_device one : loader.devices())
        if (platform_name_of(one) == platform &&
            text_of(piDeviceGetInfo, one, PI_DEVICE_INFO_NAME).substr(0, device.size()) == device)
            found.push_back(one);
    return found;
}

constexpr const char *pocl = "Portable Computing Language";

} // namespace

TEST_CASE("basic: commands that wait for each other's devices and threads all end") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "basic");
    if (devices.size() < 2)
        return pi_test::skip("needs POCL_DEVICES=\"basic basic\"");
    const Context context = make_context({devices[0], devices[1]});
    const Queue queues[] = {make_queue(context, devices[0]), make_queue(context, devices[1])};
    const Mem mem = make_buffer(context, devices[0], 4096);
    const Event gate = make_host_event(context);
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    std::vector<Event> last(4);
    for (size_t id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            pi_buffer_fill_desc desc{};
            desc.struct_size = sizeof desc;
            desc.type = PI_TYPE_BUFFER_FILL_DESC;
            desc.mem = mem;
            desc.pattern = &id;
            desc.pattern_size = desc.size = 8;
            desc.offset = id * 1024;
            pi_event before = nullptr;
            for (int round = 0; round < 100; ++round) {
                const pi_event list[] = {gate, before ? before : gate.get()};
                pi_event next = nullptr;
                wrong += piEnqueueMemBufferFill(queues[round % 2], &desc, 2, list, &next) != 0;
                if (before)
                    piEventRelease(before);
                before = next;
            }
            last[id] = Event(before);
        });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5)); // some of both: held and not
    ok(piEventSignalHost(gate, PI_SUCCESS));
    for (std::thread &thread : threads)
        thread.join();
    for (const Event &event : last)
        wait(event);
    CHECK(wrong == 0);
    for (size_t id = 0; id < 4; ++id)
        CHECK(contents(queues[0], mem)[id * 1024] == id);
}

TEST_CASE("basic: launches from several threads do not run over each other") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "basic");
    if (devices.empty())
        return pi_test::skip("needs POCL_DEVICES=basic");
    const Context context = make_context({devices[0]});
    const Program program = build(context, R"(
kernel void sum(global uint *out, uint seed, local uint *scratch) {
    size_t i = get_local_id(0);
    scratch[i] = seed + i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t step = get_local_size(0) / 2; step; step /= 2) {
        if (i < step) scratch[i] += scratch[i + step];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (!i) out[get_group_id(0)] = scratch[0];
})");
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (uint32_t id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            pi_kernel kernel = nullptr;
            pi_queue queue = nullptr;
            pi_mem mem = nullptr;
            pi_mem_buffer_desc memory{};
            memory.struct_size = sizeof memory;
            memory.type = PI_TYPE_MEM_BUFFER_DESC;
            memory.size = 64;
            wrong += piKernelCreate(program, "sum", &kernel) != 0;
            wrong += piQueueCreate(context, devices[0], nullptr, &queue) != 0;
            wrong += piMemBufferCreate(context, devices[0], &memory, &mem) != 0;
            for (uint32_t round = 0; round < 100 && !wrong; ++round) {
                const uint32_t seed = id * 1000 + round;
                const std::vector<pi_kernel_argument> arguments = {
                    buffer_argument(mem), value_argument(seed), local_argument(64 * 4)};
                auto desc = launch_desc(kernel, 64 * 16, arguments, 64);
                desc.flags = PI_COMMAND_BLOCKING;
                wrong += piEnqueueKernelLaunch(queue, &desc, 0, nullptr, nullptr) != 0;
                void *pointer = nullptr;
                pi_buffer_map_desc mapping{};
                mapping.struct_size = sizeof mapping;
                mapping.type = PI_TYPE_BUFFER_MAP_DESC;
                mapping.flags = uint64_t{PI_COMMAND_BLOCKING} | PI_MAP_READ;
                mapping.mem = mem;
                mapping.size = 64;
                mapping.out_pointer = &pointer;
                wrong += piEnqueueMemBufferMap(queue, &mapping, 0, nullptr, nullptr) != 0;
                for (int group = 0; group < 16; ++group)
                    wrong += static_cast<uint32_t *>(pointer)[group] != seed * 64 + 64 * 63 / 2;
                pi_unmap_desc back{};
                back.struct_size = sizeof back;
                back.type = PI_TYPE_UNMAP_DESC;
                back.mem = mem;
                back.pointer = pointer;
                wrong += piEnqueueMemUnmap(queue, &back, 0, nullptr, nullptr) != 0;
            }
            piKernelRelease(kernel);
            piQueueRelease(queue);
            piMemRelease(mem);
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    CHECK(wrong == 0);
}

TEST_CASE("rusticl: a queue may be out of order although the driver has none") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Place place(devices[0], PI_QUEUE_OUT_OF_ORDER);
    CHECK(info_of<uint64_t>(piQueueGetInfo, place.queue, PI_QUEUE_INFO_FLAGS) ==
          PI_QUEUE_OUT_OF_ORDER);
    const Mem mem = place.buffer(16);
    const uint8_t one = 1, two = 2;
    const Event gate = make_host_event(place.context);
    const Event held = fill(place.queue, mem, &one, 1, 0, 8, {{gate}});
    wait(fill(place.queue, mem, &two, 1, 0, 16)); // passes the one before it
    ok(piEventSignalHost(gate, PI_SUCCESS));
    wait(held);
    const std::vector<uint8_t> seen = contents(place.queue, mem);
    CHECK(seen[0] == 1);
    CHECK(seen[8] == 2);
}

TEST_CASE("rusticl: views begin at any byte, for kernels and for commands") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "llvmpipe");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Place place(devices[0]);
    REQUIRE(scope_of(devices[0]).offset_alignment == 1);
    const Program program =
        build(place.context,
              "kernel void add(global uchar *p) { p[get_global_id(0)] += get_global_id(0); }");
    const Kernel add = make_kernel(program, "add");
    const Mem root = place.buffer(600);
    std::vector<uint8_t> expected(600, 1);
    set_contents(place.queue, root, expected);
    for (const uint64_t offset : {1, 2, 3, 5, 63, 129, 257}) {
        const Mem view = make_view(root, offset, 300);
        wait(launch(place.queue, add, 300, {buffer_argument(view)}));
        wait(launch(place.queue, add, 200, {buffer_argument(view, 7)}));
        for (size_t i = 0; i < 300; ++i)
            expected[offset + i] += i;
        for (size_t i = 0; i < 200; ++i)
            expected[offset + 7 + i] += i;
        REQUIRE(contents(place.queue, root) == expected);
        REQUIRE(contents(place.queue, view) ==
                std::vector<uint8_t>(expected.begin() + offset, expected.begin() + offset + 300));
    }
}

TEST_CASE("rusticl: no more than 64 bytes of alignment are promised, and more is honoured") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "llvmpipe");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Place place(devices[0]);
    CHECK(scope_of(devices[0]).min_alignment == 64);
    const Program program =
        build(place.context,
              "kernel void low(global uchar *p, global uint *out) { *out = (ulong)p % 128; }");
    const Kernel low = make_kernel(program, "low");
    const Mem out = place.buffer(4);
    std::vector<Mem> kept;
    for (int round = 0; round < 20; ++round) {
        kept.push_back(make_buffer(place.context, devices[0], 10 + round, 0, nullptr, 128));
        wait(launch(place.queue, low, 1, {buffer_argument(kept.back()), buffer_argument(out)}));
        CHECK(contents(place.queue, out) == std::vector<uint8_t>(4, 0));
    }
}

TEST_CASE("rusticl: a queue with profiling is refused, because its times would be zeros") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Context context = make_context({devices[0]});
    CHECK(!(info_of<uint64_t>(piDeviceGetInfo, devices[0], PI_DEVICE_INFO_QUEUE_FLAGS) &
            PI_QUEUE_PROFILING));
    pi_queue_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_QUEUE_DESC;
    desc.flags = PI_QUEUE_PROFILING;
    Queue queue;
    refused(piQueueCreate(context, devices[0], &desc, queue.out()), PI_ERROR_UNSUPPORTED_FEATURE,
            {"profiling"});
}

TEST_CASE("rusticl: a binary never reaches the driver, which would end the process") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Context context = make_context({devices[0]});
    pi_program_desc desc{};
    desc.struct_size = sizeof desc;
    desc.type = PI_TYPE_PROGRAM_DESC;
    desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    desc.data = "nonsense";
    desc.size = 8;
    Program program;
    refused(piProgramCreate(context, &desc, program.out()), PI_ERROR_UNSUPPORTED_FEATURE,
            {"binaries"});
}
