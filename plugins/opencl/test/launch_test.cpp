// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <atomic>
#include <cstring>
#include <thread>

using namespace opencl_test;

namespace {

constexpr const char *source = R"(
kernel void axpy(global int *y, global const int *x, int a, global const int *nothing) {
    size_t i = get_global_id(0);
    y[i] += a * x[i] + (nothing ? 1000000 : 0);
}
kernel void reverse(global int *p, local int *scratch) {
    size_t i = get_local_id(0), n = get_local_size(0);
    scratch[i] = p[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_global_id(0)] = scratch[n - 1 - i];
}
kernel void where(global int *p) {
    p[(get_global_id(2) * 3 + get_global_id(1)) * 5 + get_global_id(0)] =
        get_global_id(0) + 10 * get_global_id(1) + 100 * get_global_id(2);
}
kernel void store(global int *p, int value) { p[get_global_id(0)] = value; }
kernel __attribute__((reqd_work_group_size(4, 1, 1))) void fours(global int *p) {
    p[get_global_id(0)] = get_local_size(0);
}
)";

struct Kernels {
    explicit Kernels(const Place &at) : place(at), program(build(at.context, source)) {}
    Kernel get(const char *name) const { return make_kernel(program, name); }
    std::vector<int32_t> ints(pi_mem mem) const {
        const std::vector<uint8_t> bytes = contents(place.queue, mem);
        std::vector<int32_t> values(bytes.size() / 4);
        std::memcpy(values.data(), bytes.data(), bytes.size());
        return values;
    }
    pi_result try_launch(const pi_kernel_launch_desc &desc) const {
        Event event;
        return piEnqueueKernelLaunch(place.queue, &desc, 0, nullptr, event.out());
    }
    const Place &place;
    Program program;
};

} // namespace

TEST_CASE("arguments of all kinds reach the kernel, at offsets and in views") {
    Loader loader;
    Random random;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device) << ", seed " << random.seed());
        const Place place(device);
        const Kernels kernels(place);
        const uint64_t atom = std::max<uint64_t>(4, scope_of(device).offset_alignment);
        const Mem x = place.buffer(4096), root = place.buffer(8192);
        const Mem y = make_view(root, atom, 4096);
        std::vector<int32_t> xs(1024), ys(1024);
        for (size_t i = 0; i < 1024; ++i) {
            xs[i] = static_cast<int32_t>(random.below(1000));
            ys[i] = static_cast<int32_t>(random.below(1000));
        }
        wait(write(place.queue, x, xs.data(), {range(0, 0, 4096)}));
        wait(write(place.queue, y, ys.data(), {range(0, 0, 4096)}));
        const Kernel axpy = kernels.get("axpy");
        for (int round = 0; round < 20; ++round) {
            const int32_t a = static_cast<int32_t>(random.below(50));
            const uint64_t from = random.below(2048 / atom) * atom,
                           to = random.below(2048 / atom) * atom;
            const uint64_t count = random.between(1, 512);
            wait(launch(place.queue, axpy, count,
                        {buffer_argument(y, to), buffer_argument(x, from, random.coin() ? 2048 : 0),
                         value_argument(a), buffer_argument(nullptr)}));
            for (size_t i = 0; i < count; ++i)
                ys[to / 4 + i] += a * xs[from / 4 + i];
            REQUIRE(kernels.ints(y) == ys);
        }
        const Kernel reverse = kernels.get("reverse");
        auto desc = launch_desc(reverse, {}, 64, 16);
        const std::vector<pi_kernel_argument> arguments = {buffer_argument(y), local_argument(64)};
        desc.arguments = arguments.data();
        desc.argument_count = 2;
        desc.flags = PI_COMMAND_BLOCKING;
        OK(kernels.try_launch(desc));
        for (int group = 0; group < 4; ++group)
            std::reverse(ys.begin() + group * 16, ys.begin() + group * 16 + 16);
        CHECK(kernels.ints(y) == ys);
    }
}

TEST_CASE("three dimensions and a global offset take effect") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Kernels kernels(place);
        const Mem mem = place.buffer(4 * 5 * 3 * 2);
        const int32_t minus = -1;
        wait(fill(place.queue, mem, &minus, 4, 0, 120));
        const Kernel where = kernels.get("where");
        const std::vector<pi_kernel_argument> arguments = {buffer_argument(mem)};
        auto desc = launch_desc(where, arguments, 4);
        desc.dimensions = 3;
        desc.global_size[1] = 2;
        desc.global_size[2] = 1;
        desc.global_offset[0] = desc.global_offset[1] = desc.global_offset[2] = 1;
        desc.flags = PI_COMMAND_BLOCKING;
        REQUIRE(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_LAUNCH_FEATURES) &
                PI_LAUNCH_FEATURE_GLOBAL_OFFSET);
        OK(kernels.try_launch(desc));
        const std::vector<int32_t> seen = kernels.ints(mem);
        for (int z = 0; z < 2; ++z)
            for (int y = 0; y < 3; ++y)
                for (int x = 0; x < 5; ++x)
                    CHECK(seen[(z * 3 + y) * 5 + x] ==
                          (z == 1 && y >= 1 && x >= 1 ? x + 10 * y + 100 * z : -1));
        uint64_t local[3] = {};
        OK(piKernelGetSuggestedLocalSize(place.queue, &desc, local));
        CHECK(4 % local[0] == 0);
        CHECK(2 % local[1] == 0);
        CHECK(local[2] == 1);
    }
}

TEST_CASE("invalid arguments are refused by the call, with index, kind and name") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Kernels kernels(place);
        const Kernel store = kernels.get("store");
        const Mem mem = place.buffer(400);
        const int32_t value = 3;
        const int64_t wide = 3;
        const auto with = [&](const std::vector<pi_kernel_argument> &arguments) {
            return kernels.try_launch(launch_desc(store, arguments, 10));
        };
        refused(with({buffer_argument(mem)}), PI_ERROR_INVALID_ARGUMENTS,
                {"argument_count is 1", "2 parameters", "store"});
        refused(with({value_argument(wide), value_argument(value)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[0]", "PI_ARGUMENT_BUFFER"});
        refused(with({buffer_argument(mem), buffer_argument(mem)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[1]", "PI_ARGUMENT_VALUE"});
        refused(with({buffer_argument(mem), local_argument(4)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[1]"});
        refused(with({buffer_argument(mem), value_argument(wide)}), PI_ERROR_INVALID_ARGUMENTS,
                {"argument 1", "8 bytes"});
        refused(with({buffer_argument(mem, 400), value_argument(value)}),
                PI_ERROR_INVALID_ARGUMENTS, {"400"});
        auto pointer = value_argument(value);
        pointer.kind = PI_ARGUMENT_SAMPLER;
        refused(with({pointer, value_argument(value)}), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[0]"});
        pointer.kind = 77;
        refused(with({pointer, value_argument(value)}), PI_ERROR_INVALID_ARGUMENTS, {"77"});
        auto reserved = buffer_argument(mem);
        reserved.reserved = 1;
        refused(with({reserved, value_argument(value)}), PI_ERROR_UNSUPPORTED_FEATURE,
                {"reserved"});
        // The kernel is still usable.
        const std::vector<pi_kernel_argument> right = {buffer_argument(mem), value_argument(value)};
        wait(launch(place.queue, store, 100, right));
        CHECK(kernels.ints(mem) == std::vector<int32_t>(100, 3));
    }
}

TEST_CASE("invalid work sizes are refused by the call, with the limit") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Kernels kernels(place);
        const Kernel store = kernels.get("store"), fours = kernels.get("fours");
        const Mem mem = place.buffer(400);
        const int32_t value = 3;
        const std::vector<pi_kernel_argument> arguments = {buffer_argument(mem),
                                                           value_argument(value)};
        const auto good = launch_desc(store, arguments, 100);
        auto desc = good;
        desc.dimensions = 0;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"dimensions is 0"});
        desc.dimensions = 4;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"dimensions is 4"});
        desc = good;
        desc.global_size[0] = 0;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"global_size[0] is 0"});
        desc = good;
        desc.dimensions = 2;
        desc.global_size[1] = 1;
        desc.local_size[0] = 10;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"local_size[1] is 0"});
        desc = good;
        desc.local_size[0] = uint64_t{1} << 40;
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"local_size[0]", "at most"});
        desc = good;
        desc.local_size[0] = 7;
        const bool uneven =
            info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_LAUNCH_FEATURES) &
            PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS;
        if (!uneven)
            refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"100", "7"});
        desc = good;
        desc.cluster_size[0] = 2;
        refused(kernels.try_launch(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"cluster_size"});
        desc = good;
        desc.local_memory_size = 64;
        refused(kernels.try_launch(desc), PI_ERROR_UNSUPPORTED_FEATURE, {"local_memory_size"});
        desc = good;
        desc.flags = PI_LAUNCH_COOPERATIVE;
        refused(kernels.try_launch(desc), PI_ERROR_UNSUPPORTED_FEATURE);

        const std::vector<pi_kernel_argument> one = {buffer_argument(mem)};
        desc = launch_desc(fours, one, 100, 5);
        refused(kernels.try_launch(desc), PI_ERROR_INVALID_WORK_SIZE, {"compiled for 4"});
        uint64_t compiled[3] = {};
        OK(piKernelGetGroupInfo(fours, device, PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE,
                                sizeof compiled, compiled, nullptr));
        CHECK(compiled[0] == 4);
        desc = launch_desc(fours, one, 100, 4);
        desc.flags = PI_COMMAND_BLOCKING;
        OK(kernels.try_launch(desc));
        CHECK(kernels.ints(mem) == std::vector<int32_t>(100, 4));
    }
}

TEST_CASE("a gated launch uses the arguments of its call") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device, PI_QUEUE_OUT_OF_ORDER);
        std::vector<Event> gates, done;
        std::vector<Mem> buffers;
        {
            const Kernels kernels(place);
            const Kernel store = kernels.get("store");
            for (int32_t i = 0; i < 10; ++i) {
                gates.push_back(make_host_event(place.context));
                buffers.push_back(place.buffer(4000));
                int32_t value = i;
                done.push_back(launch(place.queue, store, 1000,
                                      {buffer_argument(buffers.back()), value_argument(value)},
                                      {{gates.back()}}));
                value = -1;
            }
        }
        for (int i = 9; i >= 0; --i)
            OK(piEventSignalHost(gates[i], PI_SUCCESS));
        for (int i = 0; i < 10; ++i) {
            wait(done[i]);
            const std::vector<uint8_t> seen = contents(place.queue, buffers[i]);
            for (size_t at = 0; at < seen.size(); at += 4)
                REQUIRE(seen[at] == i);
        }
    }
}

TEST_CASE("many threads launch one kernel, each with its own arguments") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Kernels kernels(place);
        const Kernel store = kernels.get("store");
        std::atomic<int> wrong{0};
        std::vector<std::thread> threads;
        for (int32_t id = 0; id < 4; ++id) {
            threads.emplace_back([&, id] {
                pi_queue queue = place.queue;
                for (int32_t round = 0; round < 50; ++round) {
                    pi_mem mem = nullptr;
                    auto memory = pi::desc<pi_mem_buffer_desc>();
                    memory.size = 256;
                    wrong += piMemBufferCreate(place.context, device, &memory, &mem) != 0;
                    const int32_t value = id * 1000 + round;
                    const std::vector<pi_kernel_argument> arguments = {buffer_argument(mem),
                                                                       value_argument(value)};
                    const auto desc = launch_desc(store, arguments, 64);
                    pi_event event = nullptr;
                    wrong += piEnqueueKernelLaunch(queue, &desc, 0, nullptr, &event) != 0;
                    std::vector<int32_t> seen(64);
                    auto reading = pi::desc<pi_buffer_read_desc>();
                    reading.flags = PI_COMMAND_BLOCKING;
                    reading.mem = mem;
                    reading.host_ptr = seen.data();
                    const pi_region region = range(0, 0, 256);
                    reading.regions = &region;
                    reading.region_count = 1;
                    wrong += piEnqueueMemBufferRead(queue, &reading, 1, &event, nullptr) != 0;
                    wrong += seen != std::vector<int32_t>(64, value);
                    piEventRelease(event);
                    piMemRelease(mem);
                }
            });
        }
        for (std::thread &thread : threads)
            thread.join();
        CHECK(wrong == 0);
    }
}
