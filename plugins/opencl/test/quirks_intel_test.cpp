// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of Intel's driver for CPUs, and its differences from others.
#include "image.hpp"
#include "quirks.hpp"
#include "skip.hpp"

#include <algorithm>

using namespace opencl_test;

namespace {

constexpr const char *intel = "Intel(R) OpenCL";

/// NULL if there is none: then the test is skipped.
pi_device find_intel(const Loader &loader) {
    const auto devices = devices_like(loader, intel, "");
    if (!devices.empty())
        return devices[0];
    pi_test::skip("needs Intel's driver for CPUs");
    return nullptr;
}

Program make_program(pi_context context, const std::string &source) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_OPENCL_C;
    desc.data = source.data();
    desc.size = source.size();
    Program program;
    OK(piProgramCreate(context, &desc, program.out()));
    return program;
}

pi_program_build_desc build_desc(const char *options) {
    auto desc = pi::desc<pi_program_build_desc>();
    desc.options = options;
    return desc;
}

using SubDevice = Owned<pi_device>;

/// Equal parts of `units` units; two at most.
std::vector<SubDevice> parts_of(pi_device whole, uint32_t units) {
    auto desc = pi::desc<pi_device_partition_desc>();
    desc.kind = PI_PARTITION_EQUALLY;
    desc.count = units;
    pi_device made[2]{};
    uint32_t count = 0;
    OK(piDevicePartition(whole, &desc, 2, made, &count));
    std::vector<SubDevice> parts;
    for (uint32_t i = 0; i < std::min(count, 2U); ++i)
        parts.emplace_back(made[i]);
    return parts;
}

} // namespace

TEST_CASE("Intel: the processor's signature is not an id of PCI", "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    CHECK(info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_VENDOR_ID) == 0x8086);
    uint32_t id = 0;
    refused(piDeviceGetInfo(device, PI_DEVICE_INFO_DEVICE_ID, sizeof id, &id, nullptr),
            PI_ERROR_UNSUPPORTED_FEATURE, {"does not report"});
}

TEST_CASE("Intel: an out-of-order queue is released while its last command leaves the driver",
          "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    const std::vector<SubDevice> parts = parts_of(device, 1);
    std::vector<pi_device> devices{device};
    if (!parts.empty())
        devices.push_back(parts.front());
    for (const pi_device on : devices) {
        const Place place(on);
        const Mem mem = place.buffer(64);
        for (int round = 0; round < 1000; ++round) {
            const Queue queue = make_queue(place.context, on, PI_QUEUE_OUT_OF_ORDER);
            const uint8_t value = static_cast<uint8_t>(round);
            const Event event = fill(queue, mem, &value, 1, 0, 64);
            for (uint32_t status = 0; status != PI_EVENT_COMPLETE;)
                status = info<uint32_t>(piEventGetInfo, event, PI_EVENT_INFO_STATUS);
        }
    }
}

TEST_CASE("Intel: each build and compilation uses its own options", "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    const Place place(device);
    const Program program =
        make_program(place.context, "kernel void f(global uchar *p) { p[get_global_id(0)] = V; }");
    const Mem mem = place.buffer(16);
    const auto value_of = [&](pi_program built) {
        wait(launch(place.queue, make_kernel(built, "f"), 16, {buffer_argument(mem)}));
        return contents(place.queue, mem)[3];
    };
    const auto without = build_desc(""), one = build_desc("-DV=1"), two = build_desc("-DV=2");
    // A failure has no later effect.
    refused(piProgramBuild(program, &without), PI_ERROR_BUILD_FAILED, {"'V'"});
    OK(piProgramBuild(program, &one));
    CHECK(value_of(program) == 1);
    refused(piProgramCompile(program, &without), PI_ERROR_BUILD_FAILED, {"'V'"});
    OK(piProgramCompile(program, &one));
    OK(piProgramCompile(program, &one)); // with equal options
    OK(piProgramBuild(program, &two));
    CHECK(value_of(program) == 2);
}

TEST_CASE("Intel: groups need not be uniform if the source names no standard", "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    REQUIRE((info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_LAUNCH_FEATURES) &
             PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS) != 0);
    const Place place(device);
    const Program program =
        build(place.context,
              "kernel void size(global uchar *p) { p[get_global_id(0)] = get_local_size(0); }");
    const Kernel kernel = make_kernel(program, "size");
    const Mem mem = place.buffer(100);
    const std::vector<pi_kernel_argument> arguments{buffer_argument(mem)};
    const auto desc = launch_desc(kernel, arguments, 100, 32);
    Event event;
    OK(piEnqueueKernelLaunch(place.queue, &desc, 0, nullptr, event.out()));
    wait(event);
    const auto sizes = contents(place.queue, mem);
    CHECK(std::count(sizes.begin(), sizes.end(), 32) == 96);
    CHECK(std::count(sizes.begin(), sizes.end(), 4) == 4);
}

TEST_CASE("Intel: the error of a build shows what is wrong, behind the driver's stages",
          "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    const Place place(device);
    const Program program =
        make_program(place.context, "void elsewhere(global int *p); kernel void f(global int *p) { "
                                    "elsewhere(p); }");
    const auto desc = build_desc("");
    refused(piProgramBuild(program, &desc), PI_ERROR_BUILD_FAILED, {"elsewhere"});
}

TEST_CASE("Intel: a marker has all of its times, in their order", "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
        const Place place(device, flags | PI_QUEUE_PROFILING);
        const Mem mem = place.buffer(1 << 20);
        const uint8_t value = 1;
        const Event work = fill(place.queue, mem, &value, 1, 0, 1 << 20);
        const Event marker = events_wait(place.queue, {{work}});
        wait(marker);
        uint64_t before = 1;
        for (const pi_profiling_info name :
             {PI_PROFILING_QUEUED, PI_PROFILING_SUBMIT, PI_PROFILING_START, PI_PROFILING_END}) {
            const auto time = info<uint64_t>(piEventGetProfilingInfo, marker, name);
            CHECK(time >= before);
            before = time;
        }
    }
}

TEST_CASE("Intel: layers of one image are copied to each other", "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
        const Place place(device, flags);
        const Size3 size{8, 4, 3};
        std::vector<uint32_t> pixels(8 * 4 * 3);
        for (size_t i = 0; i < pixels.size(); ++i)
            pixels[i] = static_cast<uint32_t>(i);
        const Mem image = make_image(place.context, device, image_desc(PI_IMAGE_2D_ARRAY, size));
        write_image(place.queue, image, size, pixels);
        pi_image_copy_region region{};
        region.dst_origin[2] = 2;
        region.extent[0] = 8;
        region.extent[1] = 4;
        region.extent[2] = 1;
        auto desc = pi::desc<pi_image_copy_desc>();
        desc.src = desc.dst = image;
        desc.region_count = 1;
        desc.regions = &region;
        Event event;
        OK(piEnqueueMemImageCopy(place.queue, &desc, 0, nullptr, event.out()));
        wait(event);
        std::copy_n(pixels.begin(), 32, pixels.begin() + 64);
        CHECK(read_image(place.queue, image, size) == pixels);
    }
}

TEST_CASE("Intel: a view needs whole rows in the buffer, others are refused", "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    const Place place(device);
    auto desc = image_desc(PI_IMAGE_2D, {2, 5, 0});
    desc.row_pitch = 4096;
    const auto offset =
        info<uint64_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT);
    Mem view;
    for (const uint64_t begin : {uint64_t{0}, offset}) {
        desc.offset = begin;
        const Mem whole = place.buffer(begin + 5 * 4096), cut = place.buffer(begin + 4 * 4096 + 8);
        OK(piMemImageViewCreate(whole, &desc, view.out()));
        refused(piMemImageViewCreate(cut, &desc, view.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"4096", "5 rows"});
    }
}

TEST_CASE("Intel: all units can be one equal part, and a device of one unit has no sub-devices",
          "[intel]") {
    Loader loader;
    const pi_device device = find_intel(loader);
    if (!device)
        return;
    const auto units = info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_COMPUTE_UNITS);
    const std::vector<SubDevice> all = parts_of(device, units), ones = parts_of(device, 1);
    REQUIRE(all.size() == 1);
    CHECK(info<uint32_t>(piDeviceGetInfo, all[0], PI_DEVICE_INFO_COMPUTE_UNITS) == units);
    CHECK(info<uint32_t>(piDeviceGetInfo, ones.at(0), PI_DEVICE_INFO_COMPUTE_UNITS) == 1);
    CHECK(info<uint32_t>(piDeviceGetInfo, ones.at(0), PI_DEVICE_INFO_PARTITION_KINDS) == 0);
}

TEST_CASE("Intel: a blocking write has read the host's memory after another device used the buffer",
          "[intel]") {
    Loader loader;
    const pi_device whole = find_intel(loader);
    if (!whole)
        return;
    const std::vector<SubDevice> parts = parts_of(whole, 1);
    if (parts.size() < 2)
        return pi_test::skip("needs two compute units");
    const Context context = make_context({parts[0], parts[1]});
    const Queue first = make_queue(context, parts[0]), second = make_queue(context, parts[1]);
    constexpr uint64_t size = 1 << 20, written = 1 << 14, begin = size - written;
    alignas(4096) static uint8_t memory[size];
    const Mem mem = make_buffer(context, parts[0], buffer_desc(size, PI_MEM_USE_HOST_PTR, memory));
    std::vector<uint8_t> bytes(written), seen(written);
    for (int round = 0; round < 100; ++round) {
        bytes.assign(written, 1);
        write(first, mem, bytes.data(), {range(0, begin, written)}, {.blocking = true});
        bytes.assign(written, 2);
        write(second, mem, bytes.data(), {range(0, begin, written)}, {.blocking = true});
        bytes.assign(written, 3);
        read(first, mem, seen.data(), {range(begin, 0, written)}, {.blocking = true});
        REQUIRE(seen == std::vector<uint8_t>(written, 2));
    }
}
