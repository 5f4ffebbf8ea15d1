// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PoCL's rows, some of which rusticl shares.
#include "image.hpp"
#include "quirks.hpp"
#include "skip.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>

using namespace opencl_test;

namespace {

uint64_t raw_clock() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

} // namespace

TEST_CASE("basic: it and a pthread device in one context wait for each other's events") {
    Loader loader;
    const auto basic = devices_like(loader, pocl, "basic");
    const auto pthread = devices_like(loader, pocl, "pthread");
    if (basic.empty() || pthread.empty())
        return pi_test::skip("needs POCL_DEVICES=\"pthread basic\"");
    const Context context = make_context({basic[0], pthread[0]});
    const Program program =
        build(context, "kernel void advance(global uint *p) { p[get_global_id(0)] += 1; }");
    const Kernel kernel = make_kernel(program, "advance");
    for (const uint64_t flags : {0, static_cast<int>(PI_QUEUE_OUT_OF_ORDER)}) {
        const Queue queues[] = {make_queue(context, basic[0], flags),
                                make_queue(context, pthread[0], flags)};
        const Mem mem = make_buffer(context, basic[0], 4096);
        const uint32_t zero = 0;
        Event last = fill(queues[1], mem, &zero, 4, 0, 4096);
        for (int round = 0; round < 500; ++round)
            last = launch(queues[round % 2], kernel, 1024, {buffer_argument(mem)}, {{last}});
        wait(last);
        const uint32_t sum = 500;
        CHECK(contents(queues[0], mem)[0] == sum % 256);
        CHECK(contents(queues[1], mem)[1] == sum / 256);
    }
}

TEST_CASE("basic: threads that use one driver queue do not block each other", "[pocl_kinds]") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "basic");
    if (devices.empty())
        return pi_test::skip("needs POCL_DEVICES=basic");
    // Copies between contexts map and unmap on queues that all threads share.
    const Place here(devices[0]), there(devices[0]);
    std::vector<Mem> left, right;
    for (int id = 0; id < 4; ++id) {
        left.push_back(here.buffer(10'000));
        right.push_back(there.buffer(10'000));
        set_contents(here.queue, left.back(), std::vector<uint8_t>(10'000, 10 + id));
    }
    std::atomic<int> wrong{0};
    std::vector<std::thread> threads;
    for (int id = 0; id < 4; ++id) {
        threads.emplace_back([&, id] {
            auto desc = pi::desc<pi_buffer_copy_desc>();
            const pi_region region = range(0, 0, 10'000);
            desc.regions = &region;
            desc.region_count = 1;
            for (int round = 0; round < 3000 && !wrong; ++round) {
                desc.src = round % 2 ? right[id] : left[id];
                desc.dst = round % 2 ? left[id] : right[id];
                pi_event event = nullptr;
                wrong += piEnqueueMemBufferCopy(id % 2 ? here.queue : there.queue, &desc, 0,
                                                nullptr, &event) != PI_SUCCESS;
                wrong += piEventWait(event, patience) != PI_SUCCESS;
                piEventRelease(event);
            }
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    CHECK(wrong == 0);
    for (int id = 0; id < 4; ++id)
        CHECK(contents(there.queue, right[id]) == std::vector<uint8_t>(10'000, 10 + id));
}

TEST_CASE("basic: a blocking command's effects are visible to every queue when it returns",
          "[pocl_kinds]") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "basic");
    if (devices.empty())
        return pi_test::skip("needs POCL_DEVICES=basic");
    const Place place(devices[0]);
    const Queue other = make_queue(place.context, devices[0]);
    const Mem mem = place.buffer(256);
    How blocking;
    blocking.blocking = true;
    for (int round = 0; round < 200; ++round) {
        const std::vector<uint8_t> bytes(256, round);
        write(place.queue, mem, bytes.data(), {range(0, 0, 256)}, blocking);
        std::vector<uint8_t> seen(256);
        std::thread reader([&] { read(other, mem, seen.data(), {range(0, 0, 256)}, blocking); });
        reader.join();
        REQUIRE(seen == bytes);
    }
}

TEST_CASE("an unmap does not undo a map of the same address that has not run yet (PoCL)") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place here(device), there(device);
        const uint64_t size = 16 << 20;
        const Mem mem = here.buffer(size), other = here.buffer(size), copied = there.buffer(size);
        for (uint32_t round = 0; round < 20; ++round) {
            wait(fill(here.queue, mem, &round, 4, 0, size));
            // The map is passed to the driver behind long work, ...
            for (int busy = 0; busy < 3; ++busy)
                fill(here.queue, other, &round, 4, 0, size);
            void *pointer = nullptr;
            const Event mapped = map(here.queue, mem, PI_MAP_READ, 0, size, &pointer);
            // ... and the copy maps and unmaps the same address meanwhile.
            wait(copy(there.queue, mem, copied, {range(0, 0, size)}));
            wait(mapped);
            REQUIRE(pointer);
            REQUIRE(static_cast<uint32_t *>(pointer)[size / 4 - 1] == round);
            wait(unmap(here.queue, mem, pointer));
        }
        CHECK(contents(there.queue, copied)[0] == 19);
    }
}

TEST_CASE("PoCL: profiling times are those of CLOCK_MONOTONIC_RAW, which is the device's clock",
          "[pocl_kinds]") {
    Loader loader;
    bool any = false;
    for (const char *name : {"basic", "pthread"})
        for (const pi_device device : devices_like(loader, pocl, name)) {
            any = true;
            const Context context = make_context({device});
            const Queue queue = make_queue(context, device, PI_QUEUE_PROFILING);
            const Mem mem = make_buffer(context, device, 4096);
            const uint32_t zero = 0;
            const uint64_t before = raw_clock();
            const Event event = fill(queue, mem, &zero, 4, 0, 4096);
            wait(event);
            const uint64_t after = raw_clock();
            uint64_t start = 0, end = 0, device_time = 0;
            OK(piEventGetProfilingInfo(event, PI_PROFILING_START, 8, &start, nullptr));
            OK(piEventGetProfilingInfo(event, PI_PROFILING_END, 8, &end, nullptr));
            OK(piDeviceGetGlobalTimestamps(device, &device_time, nullptr));
            CHECK(before <= start);
            CHECK(start <= end);
            CHECK(end <= after);
            CHECK(after <= device_time);
            CHECK(device_time <= raw_clock());
        }
    if (!any)
        pi_test::skip("needs PoCL");
}

TEST_CASE("pthread: sub-devices can be released as soon as their last command is complete",
          "[pocl_kinds]") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "pthread");
    if (devices.empty())
        return pi_test::skip("needs POCL_DEVICES=pthread");
    auto desc = pi::desc<pi_device_partition_desc>();
    desc.kind = PI_PARTITION_EQUALLY;
    desc.count = 1;
    for (int round = 0; round < 500; ++round) {
        pi_device part = nullptr;
        OK(piDevicePartition(devices[0], &desc, 1, &part, nullptr));
        {
            const Context context = make_context({part});
            const Queue queue = make_queue(context, part, 0);
            const Mem mem = make_buffer(context, part, 4096);
            const uint32_t zero = 0;
            wait(fill(queue, mem, &zero, 4, 0, 4096));
        }
        OK(piDeviceRelease(part));
    }
}

TEST_CASE("PoCL and rusticl: a view that does not begin with its buffer is refused, not wrong") {
    Loader loader;
    int found = 0;
    for (pi_device device : loader.devices()) {
        const std::string platform = platform_name_of(device);
        if (platform != pocl && platform != "rusticl")
            continue;
        ++found;
        INFO(name_of(device));
        const Place place(device);
        const uint64_t step = std::max<uint64_t>(512, scope_of(device).offset_alignment);
        const Mem buffer = place.buffer(4 * step), part = make_view(buffer, step, step);
        auto desc = image_desc(PI_IMAGE_1D, {16, 0, 0});
        Mem view;
        OK(piMemImageViewCreate(buffer, &desc, view.out()));
        refused(piMemImageViewCreate(part, &desc, view.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"byte " + std::to_string(step), "byte 0"});
        desc.offset = step;
        refused(piMemImageViewCreate(buffer, &desc, view.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"byte " + std::to_string(step), "byte 0"});
        uint64_t alignment = 0;
        refused(piDeviceGetInfo(device, PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT,
                                sizeof alignment, &alignment, nullptr),
                PI_ERROR_UNSUPPORTED_FEATURE, {"byte 0"});
    }
    if (!found)
        return pi_test::skip("needs PoCL or rusticl");
}

TEST_CASE("PoCL: a sub-device does not claim images") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "pthread");
    if (devices.empty())
        return pi_test::skip("needs POCL_DEVICES=pthread");
    auto desc = pi::desc<pi_device_partition_desc>();
    desc.kind = PI_PARTITION_EQUALLY;
    desc.count = 1;
    pi_device part = nullptr;
    OK(piDevicePartition(devices[0], &desc, 1, &part, nullptr));
    CHECK(info<uint32_t>(piDeviceGetInfo, part, PI_DEVICE_INFO_IMAGES) == 0);
    CHECK(!(info<uint64_t>(piDeviceGetInfo, part, PI_DEVICE_INFO_CAPABILITIES) &
            PI_CAPABILITY_IMAGE));
    {
        const Context context = make_context({part});
        const auto image = image_desc(PI_IMAGE_2D, {4, 4, 0});
        Mem mem;
        refused(piMemImageCreate(context, part, &image, mem.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"no images"});
    }
    OK(piDeviceRelease(part));
}

TEST_CASE("PoCL: the option for debuggers is translated, and builds accept it") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "");
    if (devices.empty())
        return pi_test::skip("needs PoCL");
    const auto platform = info<pi_platform>(piDeviceGetInfo, devices[0], PI_DEVICE_INFO_PLATFORM);
    char words[16] = "";
    OK(piPlatformGetBackendOption(platform, "-g", sizeof words, words, nullptr));
    CHECK(std::string(words) == "-g");
    const Context context = make_context(devices);
    const Program program =
        build(context, "kernel void once(global int *p) { p[get_global_id(0)] *= 3; }", words);
    CHECK(make_kernel(program, "once").get());
}

// Run by the test below in child processes.
TEST_CASE("a program that no process has built before is built", "[.build]") {
    Loader loader;
    const auto devices = devices_like(loader, pocl, "pthread");
    REQUIRE(!devices.empty());
    const Context context = make_context({devices[0]});
    const Program program =
        build(context, "kernel void once(global int *p) { p[get_global_id(0)] *= 3; }");
    CHECK(make_kernel(program, "once").get());
}

TEST_CASE("PoCL: processes that build the same program at once all succeed") {
    Loader loader;
    if (devices_like(loader, pocl, "pthread").empty())
        return pi_test::skip("needs POCL_DEVICES=pthread");
    char name[] = "/tmp/pi-pocl-cache-XXXXXX";
    REQUIRE(mkdtemp(name));
    const std::string folder = name;
    const std::string self = std::filesystem::read_symlink("/proc/self/exe");
    std::vector<FILE *> builders;
    for (int i = 0; i < 8; ++i)
        builders.push_back(popen(
            ("POCL_CACHE_DIR=" + folder + " '" + self + "' '[.build]' > /dev/null").c_str(), "r"));
    for (FILE *builder : builders) {
        REQUIRE(builder);
        CHECK(pclose(builder) == 0);
    }
    std::filesystem::remove_all(folder);
}

TEST_CASE("a required sub-group size is known although the driver refuses its query",
          "[pocl_kinds]") {
    Loader loader;
    bool any = false;
    for (pi_device device : loader.devices()) {
        const Place place(device);
        const Program program = build(place.context, "kernel void f() {}");
        const Kernel kernel = make_kernel(program, "f");
        const auto ask = [&](pi_kernel_sub_group_info name, uint32_t &value) {
            return piKernelGetSubGroupInfo(kernel, device, name, sizeof value, &value, nullptr);
        };
        uint32_t size = 99;
        if (ask(PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE, size) == PI_ERROR_UNSUPPORTED_FEATURE)
            continue;
        any = true;
        INFO(name_of(device));
        OK(ask(PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE, size));
        CHECK(size == 0);
    }
    if (!any)
        pi_test::skip("no device has sub-groups");
}
