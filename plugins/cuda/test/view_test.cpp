// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of buffers as images, in kernels and the driver: properties that the conformance suite
// cannot see.
#include "plugin_fixture.hpp"

#include "fixture.hpp"
#include "images.hpp"

using namespace cuda_test;
using Catch::Contains;

namespace {

constexpr uint64_t alignment = 512, pitch_alignment = 32;

pi_mem_image_desc line(pi_channel_type channel, uint64_t width, uint64_t offset = 0) {
    auto d = image_desc(PI_IMAGE_1D, channel, width);
    d.offset = offset;
    return d;
}

pi_mem_image_desc plane(pi_channel_type channel, uint64_t width, uint64_t height,
                        uint64_t row_pitch, uint64_t offset = 0) {
    auto d = image_desc(PI_IMAGE_2D, channel, width, height);
    d.row_pitch = row_pitch;
    d.offset = offset;
    return d;
}

Owned<pi_mem> make_view(pi_mem buffer, const pi_mem_image_desc &d) {
    Owned<pi_mem> view;
    OK(piMemImageViewCreate(buffer, &d, view.out()));
    return view;
}

pi_result try_view(pi_mem buffer, const pi_mem_image_desc &d) {
    Owned<pi_mem> view;
    return piMemImageViewCreate(buffer, &d, view.out());
}

Owned<pi_sampler> fetching(const Machine &machine) {
    return make_sampler(machine, 0, PI_ADDRESSING_NONE, PI_FILTER_NEAREST);
}

} // namespace

TEST_CASE("a kernel reads a view through a sampler: the buffer's bytes, from the view's first on") {
    const Machine machine({first});
    const Onlooker kernel(machine);
    const Owned<pi_mem> buffer = machine.buffer(first, 4096);
    const uint8_t sign = 0x5a;
    auto fill = pi::desc<pi_buffer_fill_desc>();
    fill.mem = buffer;
    fill.pattern = &sign;
    fill.pattern_size = 1;
    fill.offset = alignment;
    fill.size = 1;
    OK(piEnqueueMemBufferFill(kernel.queue, &fill, 0, nullptr, nullptr));
    const Owned<pi_mem> rows = make_view(buffer, plane(PI_CHANNEL_UNORM8, 7, 5, 64, alignment));
    const Words record = kernel.look(
        rows, make_sampler(machine, 1, PI_ADDRESSING_MIRRORED_REPEAT, PI_FILTER_LINEAR));
    CHECK(record == Words{PI_IMAGE_2D, PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UNORM8, 7, 5, 1, sign, 1,
                          PI_ADDRESSING_MIRRORED_REPEAT, PI_FILTER_LINEAR});
    const Owned<pi_mem> row = make_view(buffer, line(PI_CHANNEL_UINT16, 9, alignment));
    const Words of_row = kernel.look(row, fetching(machine));
    CHECK(Words(of_row.begin(), of_row.begin() + 7) ==
          Words{PI_IMAGE_1D, PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT16, 9, 1, 1, sign});
}

TEST_CASE("a view has no surface, and 1-D views are only fetched from: launches report it") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> out = machine.buffer(first, 64), buffer = machine.buffer(first, 4096);
    const auto refused = [&](const char *text, const pi_mem_image_desc &d, pi_sampler sampler) {
        const Owned<pi_program> program =
            machine.program(std::string("function describe_image ") +
                            (sampler ? "texture" : "surface") + " pointer\n");
        const Owned<pi_kernel> kernel = make_kernel(program, "describe_image");
        const Owned<pi_mem> view = make_view(buffer, d);
        const std::vector arguments{image_argument(view, sampler), buffer_argument(out)};
        const auto launch = launch_desc(kernel, arguments, 1);
        REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, text,
                piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    };
    refused("no surfaces over linear memory", plane(PI_CHANNEL_UNORM8, 8, 4, 32), nullptr);
    refused("no surfaces over linear memory", line(PI_CHANNEL_UNORM8, 8), nullptr);
    for (const auto &sampler : {make_sampler(machine, 1, PI_ADDRESSING_NONE, PI_FILTER_NEAREST),
                                make_sampler(machine, 0, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST),
                                make_sampler(machine, 0, PI_ADDRESSING_NONE, PI_FILTER_LINEAR)})
        refused("by pixel index", line(PI_CHANNEL_UNORM8, 8), sampler);
    refused("integers are not filtered", plane(PI_CHANNEL_UINT8, 8, 4, 32),
            make_sampler(machine, 1, PI_ADDRESSING_REPEAT, PI_FILTER_LINEAR));
}

TEST_CASE("a view that the driver's textures do not support is refused with the reason") {
    const Machine machine({first});
    const Owned<pi_mem> buffer = machine.buffer(first, 1 << 20);
    REFUSED(PI_ERROR_MISALIGNED_OFFSET, "multiples of 512",
            try_view(buffer, line(PI_CHANNEL_UINT8, 8, 256)));
    REFUSED(PI_ERROR_MISALIGNED_OFFSET, "multiples of 32",
            try_view(buffer, plane(PI_CHANNEL_UINT8, 5, 4, 20)));
    REFUSED(PI_ERROR_INVALID_SIZE, "at most 65536",
            try_view(buffer, plane(PI_CHANNEL_UINT8, 8, 2, 65536 + pitch_alignment)));
    REFUSED(PI_ERROR_INVALID_SIZE, "at most 65000",
            try_view(buffer, plane(PI_CHANNEL_UINT8, 8, 65001, 32)));
    auto bgra = plane(PI_CHANNEL_UNORM8, 8, 4, 32);
    bgra.channel_order = PI_CHANNEL_ORDER_BGRA;
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "BGRA", try_view(buffer, bgra));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_IMAGE_3D",
            try_view(buffer, image_desc(PI_IMAGE_3D, PI_CHANNEL_UINT8, 8, 4, 2)));
}

TEST_CASE("a part of a buffer that is not aligned for views has none") {
    const Machine machine({first});
    const Owned<pi_mem> buffer = machine.buffer(first, 4096);
    auto d = pi::desc<pi_mem_partition_desc>();
    d.offset = 256;
    d.size = 2048;
    Owned<pi_mem> part;
    OK(piMemBufferPartition(buffer, &d, part.out()));
    REFUSED(PI_ERROR_MISALIGNED_OFFSET, "not a multiple of 512",
            try_view(part, line(PI_CHANNEL_UINT8, 8)));
}

TEST_CASE("a view reports its address and pitches; its native handle is that address") {
    const Machine machine({first});
    const Owned<pi_mem> buffer = machine.buffer(first, 4096);
    const Owned<pi_mem> view = make_view(buffer, plane(PI_CHANNEL_UINT8, 7, 5, 64, alignment));
    uint64_t begin = 0, address = 0, pitches[2]{};
    OK(piMemGetInfo(buffer, PI_MEM_INFO_DEVICE_ADDRESS, sizeof begin, &begin, nullptr));
    OK(piMemGetInfo(view, PI_MEM_INFO_DEVICE_ADDRESS, sizeof address, &address, nullptr));
    CHECK(address == begin + alignment);
    OK(piMemGetInfo(view, PI_MEM_INFO_PITCHES, sizeof pitches, pitches, nullptr));
    CHECK(pitches[0] == 64);
    CHECK(pitches[1] == 4);
    pi_native_handle handle{};
    OK(piMemGetNativeHandle(view, machine.devices[first], &handle));
    CHECK(handle.type == PI_NATIVE_CUDA_POINTER);
    CHECK(handle.value[0] == address);
}

TEST_CASE("a view of pinned memory is for its own device only, though all use the buffer") {
    const Machine machine;
    const Owned<pi_queue> queue = machine.queue(second);
    auto d = pi::desc<pi_mem_buffer_desc>();
    d.size = 4096;
    d.scope = 1;
    Owned<pi_mem> pinned;
    OK(piMemBufferCreate(machine.context, machine.devices[first], &d, pinned.out()));
    const Owned<pi_mem> view = make_view(pinned, plane(PI_CHANNEL_UINT8, 8, 4, 32));
    const uint32_t color[4]{1, 2, 3, 4};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.image = view;
    fill.color = color;
    fill.extent[0] = 3;
    fill.extent[1] = 2;
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "image is an image of first",
            piEnqueueMemImageFill(queue, &fill, 0, nullptr, nullptr));
    const Owned<pi_queue> own = machine.queue(first);
    OK(piEnqueueMemImageFill(own, &fill, 0, nullptr, nullptr));
    OK(piQueueFinish(own));
    void *pointer = nullptr;
    OK(piMemGetHostPointer(pinned, &pointer));
    const auto *bytes = static_cast<const uint8_t *>(pointer);
    CHECK(bytes[8] == 1);
    CHECK(bytes[32 + 11] == 4);
    CHECK(bytes[12] == 0xcb); // its previous contents
}

TEST_CASE("a view destroys its textures before the buffer's memory is freed") {
    {
        const Machine machine({first});
        const Onlooker kernel(machine);
        Owned<pi_mem> buffer = machine.buffer(first, 4096);
        const Owned<pi_mem> view = make_view(buffer, line(PI_CHANNEL_UINT8, 8));
        buffer = {};
        kernel.look(view, fetching(machine));
        kernel.look(view, fetching(machine));
        CHECK_THAT(pi_cuda_test::leaks(), Contains("1 texture object of device 0"));
    }
    CHECK_THAT(pi_cuda_test::leaks(), !Contains("object") && !Contains("allocation"));
}
