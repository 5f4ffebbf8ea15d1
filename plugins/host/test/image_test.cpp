// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images of the host: bytes that the application can address, records for native kernels, and the
// words of refusals. The conformance suite tests what all plugins share.
#include "native.hpp"

#include <array>

namespace pi_test {

namespace {

pi_mem_image_desc image_desc(uint64_t width, uint64_t height) {
    auto d = pi::desc<pi_mem_image_desc>();
    d.image_type = PI_IMAGE_2D;
    d.channel_order = PI_CHANNEL_ORDER_RG;
    d.channel_type = PI_CHANNEL_UINT16;
    d.width = width;
    d.height = height;
    return d;
}

Owned<pi_mem> make_image(const Host &host, const pi_mem_image_desc &d) {
    Owned<pi_mem> image;
    OK(piMemImageCreate(host.context, host.device, &d, image.out()));
    return image;
}

std::vector<uint64_t> pitches(pi_mem image) {
    uint64_t size = 0;
    OK(piMemGetInfo(image, PI_MEM_INFO_PITCHES, 0, nullptr, &size));
    std::vector<uint64_t> bytes(size / sizeof(uint64_t));
    OK(piMemGetInfo(image, PI_MEM_INFO_PITCHES, size, bytes.data(), nullptr));
    return bytes;
}

void *pointer(pi_mem image) {
    void *found = nullptr;
    OK(piMemGetHostPointer(image, &found));
    return found;
}

/// Copies the records of its arguments.
struct Records {
    pi_native_image image;
    pi_native_sampler image_sampler;
    pi_native_sampler sampler;
};
void PI_CALL take_records(const pi_native_group *, void *const *arguments) {
    auto &out = **static_cast<Records **>(arguments[0]);
    out.image = *static_cast<const pi_native_image *>(arguments[1]);
    if (out.image.sampler)
        out.image_sampler = *out.image.sampler;
    out.sampler = *static_cast<const pi_native_sampler *>(arguments[2]);
}
const pi_native_kernel kernels[] = {{"take_records", take_records, 3, 0}};
const pi_native_program program_of_records = {sizeof(pi_native_program), 1, kernels};

pi_sampler make_sampler(const Host &host, pi_addressing_mode addressing, pi_filter_mode filter) {
    auto d = pi::desc<pi_sampler_desc>();
    d.normalized_coordinates = 1;
    d.addressing = addressing;
    d.filter = filter;
    pi_sampler sampler = nullptr;
    OK(piSamplerCreate(host.context, &d, &sampler));
    return sampler;
}

} // namespace

TEST_CASE("an image over host memory is that memory, at its pitches") {
    const Host host;
    std::vector<uint16_t> memory(8 * 3 * 2);
    auto d = image_desc(5, 3);
    d.flags = PI_MEM_USE_HOST_PTR;
    d.host_ptr = memory.data();
    d.row_pitch = 32;
    const Owned<pi_mem> image = make_image(host, d);
    CHECK(pointer(image) == memory.data());
    CHECK(pitches(image) == std::vector<uint64_t>{32, 4});
    const Owned<pi_queue> queue = host.make_queue();
    const std::array<uint32_t, 4> color{7, 9, 0, 0};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.flags = PI_COMMAND_BLOCKING;
    fill.image = image;
    fill.color = color.data();
    fill.origin[1] = 1;
    fill.extent[0] = 5;
    OK(piEnqueueMemImageFill(queue, &fill, 0, nullptr, nullptr));
    for (size_t i = 0; i < memory.size(); ++i)
        CHECK(memory[i] == (i < 16 || i >= 26 ? 0 : i % 2 ? 9 : 7));
}

TEST_CASE("a view as an image is the buffer's memory, from any byte on") {
    const Host host;
    const Owned<pi_mem> buffer = host.make_buffer(100), part = make_view(buffer, 10, 90);
    auto d = image_desc(4, 3);
    d.offset = 3;
    d.row_pitch = 20;
    Owned<pi_mem> view;
    OK(piMemImageViewCreate(part, &d, view.out()));
    CHECK(pointer(view) == static_cast<std::byte *>(pointer(buffer)) + 13);
    CHECK(pitches(view) == std::vector<uint64_t>{20, 4});
    CHECK(info<pi_mem>(piMemGetInfo, view, PI_MEM_INFO_PARENT) == buffer);
    CHECK(info<uint64_t>(piMemGetInfo, view, PI_MEM_INFO_OFFSET) == 13);
    d.row_pitch = 40;
    Owned<pi_mem> none;
    REFUSED(PI_ERROR_INVALID_SIZE, "end at byte 99, and mem has 90",
            piMemImageViewCreate(part, &d, none.out()));
    REFUSED(PI_ERROR_INVALID_MEM_OBJECT, "mem is an image (PI_IMAGE_2D); a buffer is needed",
            piMemImageViewCreate(view, &d, none.out()));
}

TEST_CASE("native kernels get the records of images and samplers") {
    const Host host;
    auto d = image_desc(6, 2);
    d.image_type = PI_IMAGE_2D_ARRAY;
    d.array_size = 5;
    const Owned<pi_mem> image = make_image(host, d);
    const pi_sampler joined = make_sampler(host, PI_ADDRESSING_CLAMP, PI_FILTER_LINEAR);
    const pi_sampler apart = make_sampler(host, PI_ADDRESSING_REPEAT, PI_FILTER_NEAREST);
    const Owned<pi_program> program = make_unbuilt(host.context, program_of_records);
    OK(piProgramBuild(program, nullptr));
    const Owned<pi_kernel> kernel = make_kernel(program, "take_records");
    const Owned<pi_queue> queue = host.make_queue();
    for (const bool with : {false, true}) {
        Records seen{};
        Records *into = &seen;
        pi_kernel_argument arguments[3] = {value_argument(into), {}, {}};
        arguments[1].kind = PI_ARGUMENT_IMAGE;
        arguments[1].mem = image;
        arguments[1].image_sampler = with ? joined : nullptr;
        arguments[2].kind = PI_ARGUMENT_SAMPLER;
        arguments[2].sampler = apart;
        auto launch = launch_desc(kernel, 1, arguments, 3);
        launch.flags = PI_COMMAND_BLOCKING;
        OK(piEnqueueKernelLaunch(queue, &launch, 0, nullptr, nullptr));
        CHECK(seen.image.struct_size == sizeof seen.image);
        CHECK(seen.image.image_type == PI_IMAGE_2D_ARRAY);
        CHECK(seen.image.channel_order == PI_CHANNEL_ORDER_RG);
        CHECK(seen.image.channel_type == PI_CHANNEL_UINT16);
        CHECK(seen.image.data == pointer(image));
        CHECK(
            (seen.image.extent[0] == 6 && seen.image.extent[1] == 2 && seen.image.extent[2] == 5));
        CHECK((seen.image.row_pitch == 24 && seen.image.slice_pitch == 48));
        CHECK(seen.image.pixel_size == 4);
        CHECK((seen.image.sampler != nullptr) == with);
        if (with) {
            CHECK(seen.image_sampler.addressing == PI_ADDRESSING_CLAMP);
            CHECK(seen.image_sampler.filter == PI_FILTER_LINEAR);
        }
        CHECK(seen.sampler.struct_size == sizeof seen.sampler);
        CHECK(seen.sampler.normalized_coordinates == 1);
        CHECK(seen.sampler.addressing == PI_ADDRESSING_REPEAT);
        CHECK(seen.sampler.filter == PI_FILTER_NEAREST);
    }
    OK(piSamplerRelease(joined));
    OK(piSamplerRelease(apart));
}

TEST_CASE(
    "an image that cannot be created is refused with the wrong member and what would be right") {
    const Host host;
    const auto create = [&](auto &&change) {
        auto d = image_desc(8, 4);
        change(d);
        pi_mem image = nullptr;
        return piMemImageCreate(host.context, host.device, &d, &image);
    };
    char bytes[1000];
    REFUSED(PI_ERROR_INVALID_SIZE, "height is 0; PI_IMAGE_2D needs",
            create([](auto &d) { d.height = 0; }));
    REFUSED(PI_ERROR_INVALID_VALUE, "depth is 3; PI_IMAGE_2D has no such axis",
            create([](auto &d) { d.depth = 3; }));
    REFUSED(PI_ERROR_INVALID_SIZE, "width is 2000000000; the device's images",
            create([](auto &d) { d.width = 2'000'000'000; }));
    REFUSED(PI_ERROR_INVALID_SIZE, "row_pitch is 33; a multiple of a pixel's 4 bytes",
            create([&](auto &d) {
                d.flags = PI_MEM_COPY_HOST_PTR;
                d.host_ptr = bytes;
                d.row_pitch = 33;
            }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "mip_levels is 2; the device has at most 1",
            create([](auto &d) { d.mip_levels = 2; }));
    REFUSED(PI_ERROR_UNSUPPORTED_FEATURE, "PI_MEM_USE_HOST_PTR", create([&](auto &d) {
                d.flags = PI_MEM_USE_HOST_PTR | PI_MEM_REQUIRE_PINNED;
                d.host_ptr = bytes;
            }));
    REFUSED(PI_ERROR_INVALID_SIZE, "the end of the address space", create([&](auto &d) {
                d.flags = PI_MEM_COPY_HOST_PTR;
                d.host_ptr = bytes;
                d.height = 1 << 20;
                d.row_pitch = UINT64_MAX >> 22 << 2;
            }));
    REFUSED(PI_ERROR_OUT_OF_DEVICE_MEMORY, "requested",
            create([](auto &d) { d.width = d.height = 1 << 30; }));
}

} // namespace pi_test
