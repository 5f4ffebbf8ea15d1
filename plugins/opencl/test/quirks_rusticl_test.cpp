// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rows of rusticl only.
#include "image.hpp"
#include "quirks.hpp"
#include "skip.hpp"

using namespace opencl_test;

TEST_CASE("a queue may be out of order although the driver has none (rusticl)") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Place place(devices[0], PI_QUEUE_OUT_OF_ORDER);
    CHECK(info<uint64_t>(piQueueGetInfo, place.queue, PI_QUEUE_INFO_FLAGS) ==
          PI_QUEUE_OUT_OF_ORDER);
    const Mem mem = place.buffer(16);
    const uint8_t one = 1, two = 2;
    const Event gate = make_host_event(place.context);
    const Event held = fill(place.queue, mem, &one, 1, 0, 8, {{gate}});
    wait(fill(place.queue, mem, &two, 1, 0, 16)); // passes the one before it
    OK(piEventSignalHost(gate, PI_SUCCESS));
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

TEST_CASE("rusticl: at most 64 bytes of alignment are promised, and more is honoured") {
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
        kept.push_back(
            make_buffer(place.context, devices[0], buffer_desc(10 + round, 0, nullptr, 128)));
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
    CHECK(!(info<uint64_t>(piDeviceGetInfo, devices[0], PI_DEVICE_INFO_QUEUE_FLAGS) &
            PI_QUEUE_PROFILING));
    auto desc = pi::desc<pi_queue_desc>();
    desc.flags = PI_QUEUE_PROFILING;
    Queue queue;
    refused(piQueueCreate(context, devices[0], &desc, queue.out()), PI_ERROR_UNSUPPORTED_FEATURE,
            {"profiling"});
}

TEST_CASE("rusticl: a binary never reaches the driver, which would abort the process") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Context context = make_context({devices[0]});
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_DEVICE_BINARY;
    desc.data = "nonsense";
    desc.size = 8;
    Program program;
    refused(piProgramCreate(context, &desc, program.out()), PI_ERROR_UNSUPPORTED_FEATURE,
            {"binaries"});
}

TEST_CASE("rusticl: a launch of more work-items than fit 32 bits is refused before the driver") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs RUSTICL_ENABLE=llvmpipe");
    const Place place(devices[0]);
    const Program program = build(place.context, "kernel void nothing(void) {}");
    const Kernel nothing = make_kernel(program, "nothing");
    auto desc = pi::desc<pi_kernel_launch_desc>();
    desc.kernel = nothing;
    desc.dimensions = 1;
    desc.global_size[0] = uint64_t{1} << 40;
    desc.local_size[0] = 1;
    refused(piEnqueueKernelLaunch(place.queue, &desc, 0, nullptr, nullptr),
            PI_ERROR_INVALID_WORK_SIZE, {"32 bits"});
}

TEST_CASE("rusticl: a copy between a 1-D array and a 2-D image moves the pixels that it names") {
    Loader loader;
    int found = 0;
    for (pi_device device : loader.devices()) {
        if (platform_name_of(device) != "rusticl")
            continue;
        ++found;
        const Place place(device);
        const Size3 rows{4, 0, 3}, size{26, 11, 0};
        const Mem from = make_image(place.context, device, image_desc(PI_IMAGE_1D_ARRAY, rows));
        const Mem to = make_image(place.context, device, image_desc(PI_IMAGE_2D, size));
        std::vector<uint32_t> pixels(12), expected(26 * 11);
        for (uint32_t i = 0; i < 12; ++i)
            pixels[i] = 0x01020304 * (i + 1);
        write_image(place.queue, from, rows, pixels);
        write_image(place.queue, to, size, expected);
        for (uint64_t layer = 0; layer < 3; ++layer) {
            pi_image_copy_region region{};
            region.src_origin[0] = 1;
            region.src_origin[2] = layer;
            region.dst_origin[0] = 5 + layer;
            region.dst_origin[1] = 4 * layer;
            region.extent[0] = 3;
            auto copying = pi::desc<pi_image_copy_desc>();
            copying.src = from;
            copying.dst = to;
            copying.region_count = 1;
            copying.regions = &region;
            Event event;
            OK(piEnqueueMemImageCopy(place.queue, &copying, 0, nullptr, event.out()));
            wait(event);
            for (uint64_t x = 0; x < 3; ++x)
                expected[4 * layer * 26 + 5 + layer + x] = pixels[4 * layer + 1 + x];
        }
        CHECK(read_image(place.queue, to, size) == expected);
    }
    if (!found)
        return pi_test::skip("needs rusticl");
}

TEST_CASE("rusticl: the option for debuggers, which no build accepts, has no counterpart") {
    Loader loader;
    const auto devices = devices_like(loader, "rusticl", "");
    if (devices.empty())
        return pi_test::skip("needs rusticl");
    const auto platform = info<pi_platform>(piDeviceGetInfo, devices[0], PI_DEVICE_INFO_PLATFORM);
    char words[16] = "x";
    OK(piPlatformGetBackendOption(platform, "-g", sizeof words, words, nullptr));
    CHECK(std::string(words).empty());
}
