// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Properties of images that the conformance suite cannot see: their objects in the driver.
#include "plugin_fixture.hpp"

#include "fixture.hpp"
#include "images.hpp"

#include <array>
#include <numeric>

using namespace cuda_test;
using Catch::Contains;

namespace {

/// The last words, which describe the sampler.
Words sampler_words(const Words &record) {
    return {record.begin() + 7, record.end()};
}

} // namespace

TEST_CASE("kernels see an image of every type with its descriptor's properties") {
    const Machine machine({first});
    const Onlooker kernel(machine);
    for (const pi_image_type type :
         {PI_IMAGE_1D, PI_IMAGE_2D, PI_IMAGE_3D, PI_IMAGE_1D_ARRAY, PI_IMAGE_2D_ARRAY}) {
        const bool rows = type == PI_IMAGE_2D || type == PI_IMAGE_3D || type == PI_IMAGE_2D_ARRAY;
        const bool slices = type >= PI_IMAGE_3D;
        const Owned<pi_mem> image = make_image(
            machine, image_desc(type, PI_CHANNEL_UINT16, 7, rows ? 5 : 0, slices ? 3 : 0));
        const Words record = kernel.look(image);
        CHECK(Words(record.begin(), record.begin() + 6) == Words{type, PI_CHANNEL_ORDER_RGBA,
                                                                 PI_CHANNEL_UINT16, 7,
                                                                 rows ? 5u : 1u, slices ? 3u : 1u});
    }
}

TEST_CASE("a texture converts normalised types, and leaves integers unchanged") {
    const Machine machine({first});
    const Onlooker kernel(machine);
    const Owned<pi_sampler> sampler =
        make_sampler(machine, 0, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST);
    for (pi_channel_type type = PI_CHANNEL_UNORM8; type <= PI_CHANNEL_FLOAT; ++type) {
        const Owned<pi_mem> image = make_image(machine, image_desc(PI_IMAGE_2D, type, 4, 4));
        CHECK(kernel.look(image, sampler)[2] == type);
    }
    // A surface has no normalised types: kernels load and store their integers.
    const Owned<pi_mem> norm =
        make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_SNORM16, 4, 4));
    CHECK(kernel.look(norm)[2] == PI_CHANNEL_SINT16);
}

TEST_CASE("a texture has the settings of the sampler that the image is read with") {
    const Machine machine({first});
    const Onlooker kernel(machine);
    const Owned<pi_mem> image =
        make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_UNORM8, 4, 4));
    CHECK(sampler_words(kernel.look(image)) == Words{99, 99, 99});
    for (const uint32_t normalized : {0u, 1u})
        for (const pi_filter_mode filter : {PI_FILTER_NEAREST, PI_FILTER_LINEAR})
            for (pi_addressing_mode mode = PI_ADDRESSING_CLAMP_TO_EDGE;
                 mode <= (normalized ? PI_ADDRESSING_MIRRORED_REPEAT : PI_ADDRESSING_CLAMP);
                 ++mode) {
                const Owned<pi_sampler> sampler = make_sampler(machine, normalized, mode, filter);
                CHECK(sampler_words(kernel.look(image, sampler)) ==
                      Words{normalized, mode, filter});
            }
}

TEST_CASE("an image has one texture for all equal samplers, and destroys all textures") {
    {
        const Machine machine({first});
        const Onlooker kernel(machine);
        Owned<pi_mem> image = make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_UNORM8, 4, 4));
        for (int round = 0; round < 3; ++round) {
            kernel.look(image, make_sampler(machine, 1, PI_ADDRESSING_REPEAT, PI_FILTER_LINEAR));
            kernel.look(image, make_sampler(machine, 0, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST));
            kernel.look(image);
        }
        CHECK_THAT(pi_cuda_test::leaks(), Contains("2 texture objects of device 0"));
        CHECK_THAT(pi_cuda_test::leaks(), Contains("1 surface object of device 0"));
        CHECK_THAT(pi_cuda_test::leaks(), Contains("1 array of device 0"));
    }
    CHECK_THAT(pi_cuda_test::leaks(), !Contains("object") && !Contains("array"));
}

TEST_CASE("a sampler that filters is refused for images of integers") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_program> program = machine.program("function describe_image texture pointer\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "describe_image");
    const Owned<pi_mem> image =
        make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_UINT8, 4, 4));
    const Owned<pi_sampler> sampler =
        make_sampler(machine, 1, PI_ADDRESSING_REPEAT, PI_FILTER_LINEAR);
    const Owned<pi_mem> out = machine.buffer(first, 64);
    const std::vector arguments{image_argument(image, sampler), buffer_argument(out)};
    const auto launch = launch_desc(kernel, arguments, 1);
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "RGBA of UINT8",
            piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
}

TEST_CASE("a kernel is refused another device's image, even with peer access") {
    const Machine machine;
    REQUIRE(machine.connection(second, first).connection == PI_MEMORY_CONNECTION_UNIFIED);
    const Owned<pi_queue> queue = machine.queue(first);
    const Owned<pi_program> program = machine.program("function describe_image surface pointer\n");
    const Owned<pi_kernel> kernel = make_kernel(program, "describe_image");
    const Owned<pi_mem> image =
        make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_UINT8, 4, 4), second);
    const Owned<pi_mem> out = machine.buffer(first, 64);
    const std::vector arguments{image_argument(image), buffer_argument(out)};
    const auto launch = launch_desc(kernel, arguments, 1);
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "arguments[0].mem is an image of second",
            piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
}

TEST_CASE("a sampler as an argument has 4 bytes") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_program> program = machine.program(count_up);
    const Owned<pi_kernel> kernel = make_kernel(program, "count_up");
    const Owned<pi_mem> out = machine.buffer(first, 16);
    const Owned<pi_sampler> sampler =
        make_sampler(machine, 1, PI_ADDRESSING_REPEAT, PI_FILTER_LINEAR);
    pi_kernel_argument word{};
    word.kind = PI_ARGUMENT_SAMPLER;
    word.sampler = sampler;
    const std::vector arguments{buffer_argument(out), word};
    const auto launch = launch_desc(kernel, arguments, 1);
    OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
    CHECK(read_words(queue, out, 1) ==
          Words{256 * PI_ADDRESSING_REPEAT + 16 * PI_FILTER_LINEAR + 1});
}

TEST_CASE("an image that does not fit is out of device memory, with the requested and free sizes") {
    const Machine machine({first});
    const Owned<pi_mem> most = machine.buffer(first, 48 << 20);
    const auto d = image_desc(PI_IMAGE_2D, PI_CHANNEL_FLOAT, 1024, 2048);
    Owned<pi_mem> image;
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY,
            "cuArray3DCreate_v2: CUDA_ERROR_OUT_OF_MEMORY: 32 MiB requested",
            piMemImageCreate(machine.context, machine.devices[first], &d, image.out()));
}

TEST_CASE("an image reuses the memory of one just released") {
    const Machine machine({first});
    const auto d = image_desc(PI_IMAGE_2D, PI_CHANNEL_FLOAT, 1024, 3072); // 48 of 64 MiB
    for (int round = 0; round < 5; ++round)
        make_image(machine, d);
}

TEST_CASE(
    "images are read to and written from pinned memory in the stream, with pitches and slices") {
    const Machine machine({first});
    const Owned<pi_queue> queue = machine.queue();
    const Owned<pi_mem> image =
        make_image(machine, image_desc(PI_IMAGE_3D, PI_CHANNEL_UINT8, 3, 2, 2));
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_HOST;
    usm.size = 4096;
    void *pinned = nullptr;
    OK(piUsmAlloc(machine.context, machine.devices[first], &usm, &pinned));
    auto *bytes = static_cast<uint8_t *>(pinned);
    std::iota(bytes, bytes + 2048, uint8_t{0});
    pi_image_region region{.extent = {3, 2, 2}};
    region.row_pitch = 20;
    region.slice_pitch = 70; // not a multiple of the row pitch
    auto write = pi::desc<pi_image_write_desc>();
    write.image = image;
    write.host_ptr = bytes;
    write.region_count = 1;
    write.regions = &region;
    OK(piEnqueueMemImageWrite(queue, &write, 0, nullptr, nullptr));
    auto read = pi::desc<pi_image_read_desc>();
    const pi_image_region dense{.extent = {3, 2, 2}, .offset = 2048};
    read.flags = PI_COMMAND_BLOCKING;
    read.image = image;
    read.host_ptr = bytes;
    read.region_count = 1;
    read.regions = &dense;
    OK(piEnqueueMemImageRead(queue, &read, 0, nullptr, nullptr));
    for (size_t z = 0, at = 2048; z < 2; ++z)
        for (size_t y = 0; y < 2; ++y)
            for (size_t i = 0; i < 12; ++i)
                CHECK(bytes[at++] == bytes[z * 70 + y * 20 + i]);
    OK(piUsmFree(machine.context, pinned));
}

TEST_CASE("an image's native handle is its array and a texture, destroyed with it") {
    const Machine machine({first});
    const Owned<pi_mem> image = make_image(machine, image_desc(PI_IMAGE_2D, PI_CHANNEL_HALF, 6, 4));
    pi_native_handle handle{};
    OK(piMemGetNativeHandle(image, machine.devices[first], &handle));
    CHECK(handle.type == PI_NATIVE_CUDA_ARRAY_TEXTURE);
    CHECK(handle.count == 2);
    const pi_cuda_test::Current current(first);
    pi_cuda_test::CUDA_ARRAY3D_DESCRIPTOR array{};
    REQUIRE(pi_cuda_test::cu().cuArray3DGetDescriptor_v2(
                &array, reinterpret_cast<pi_cuda_test::CUarray>(handle.value[0])) ==
            pi_cuda_test::CUDA_SUCCESS);
    CHECK(array.Width == 6);
    CHECK(array.Height == 4);
    CHECK(array.Format == pi_cuda_test::CU_AD_FORMAT_HALF);
    CHECK(handle.value[1] != 0);
}
