// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's use of the driver's images and samplers.
#include "fixture.hpp"

using namespace level_zero_test;
using Catch::Matchers::Contains;

namespace {

pi_mem_image_desc image_desc(pi_image_type type, uint64_t width, uint64_t height = 0,
                             uint64_t layers = 0) {
    auto d = pi::desc<pi_mem_image_desc>();
    d.image_type = type;
    d.channel_order = PI_CHANNEL_ORDER_RGBA;
    d.channel_type = PI_CHANNEL_UINT8;
    d.width = width;
    d.height = height;
    d.array_size = layers;
    return d;
}

pi_result try_image(const Machine &machine, const pi_mem_image_desc &d, Owned<pi_mem> &out) {
    return piMemImageCreate(machine.context, machine.devices.front(), &d, out.out());
}

Owned<pi_mem> make_image(const Machine &machine, const pi_mem_image_desc &d) {
    Owned<pi_mem> made;
    OK(try_image(machine, d, made));
    return made;
}

pi_sampler_desc sampler_desc() {
    auto d = pi::desc<pi_sampler_desc>();
    d.addressing = PI_ADDRESSING_CLAMP;
    d.filter = PI_FILTER_LINEAR;
    d.normalized_coordinates = 1;
    return d;
}

pi_image_region region_of(uint64_t width, uint64_t height, uint64_t slices,
                          uint64_t row_pitch = 0) {
    pi_image_region region{};
    region.extent[0] = width;
    region.extent[1] = height;
    region.extent[2] = slices;
    region.row_pitch = row_pitch;
    return region;
}

void read(pi_queue queue, pi_mem image, std::vector<uint8_t> &bytes, const pi_image_region &part) {
    auto d = pi::desc<pi_image_read_desc>();
    d.flags = PI_COMMAND_BLOCKING;
    d.image = image;
    d.host_ptr = bytes.data();
    d.region_count = 1;
    d.regions = &part;
    OK(piEnqueueMemImageRead(queue, &d, 0, nullptr, nullptr));
}

/// How often `body` calls each of the driver's copies of images: plain, with pitches, between
/// images.
template <class Body>
std::vector<uint64_t> copies(const InjectedFaults &faults, Body &&body) {
    const auto count = [&] {
        return std::vector<uint64_t>{faults.calls("zeCommandListAppendImageCopyToMemory"),
                                     faults.calls("zeCommandListAppendImageCopyToMemoryExt"),
                                     faults.calls("zeCommandListAppendImageCopyRegion")};
    };
    std::vector<uint64_t> made = count();
    body();
    const std::vector<uint64_t> after = count();
    for (size_t i = 0; i < made.size(); ++i)
        made[i] = after[i] - made[i];
    return made;
}

constexpr const char *image_calls[] = {"zeImageCreate", "zeImageDestroy"};
constexpr const char *sampler_calls[] = {"zeSamplerCreate", "zeSamplerDestroy"};

} // namespace

TEST_CASE("dense rows are one plain copy, others one with pitches") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const auto image = make_image(machine, image_desc(PI_IMAGE_2D_ARRAY, 8, 6, 4));
    std::vector<uint8_t> bytes(4096);
    CHECK(copies(faults, [&] { read(queue, image, bytes, region_of(8, 6, 4)); }) ==
          std::vector<uint64_t>{1, 0, 0});
    CHECK(copies(faults, [&] { read(queue, image, bytes, region_of(8, 6, 4, 40)); }) ==
          std::vector<uint64_t>{0, 1, 0});
    CHECK(copies(faults, [&] { read(queue, image, bytes, region_of(3, 2, 1)); }) ==
          std::vector<uint64_t>{1, 0, 0});
}

TEST_CASE("images are copied by one call, or by one per layer if layers are different axes") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const auto lines = make_image(machine, image_desc(PI_IMAGE_1D_ARRAY, 8, 0, 5));
    const auto more_lines = make_image(machine, image_desc(PI_IMAGE_1D_ARRAY, 8, 0, 5));
    const auto planes = make_image(machine, image_desc(PI_IMAGE_2D_ARRAY, 8, 1, 5));
    const auto copy = [&](pi_mem src, pi_mem dst) {
        pi_image_copy_region region{};
        region.extent[0] = 8;
        region.extent[1] = 1;
        region.extent[2] = 5;
        auto d = pi::desc<pi_image_copy_desc>();
        d.flags = PI_COMMAND_BLOCKING;
        d.src = src;
        d.dst = dst;
        d.region_count = 1;
        d.regions = &region;
        OK(piEnqueueMemImageCopy(queue, &d, 0, nullptr, nullptr));
    };
    CHECK(copies(faults, [&] { copy(lines, more_lines); }) == std::vector<uint64_t>{0, 0, 1});
    CHECK(copies(faults, [&] { copy(lines, planes); }) == std::vector<uint64_t>{0, 0, 5});
}

TEST_CASE("a fill copies a strip of pinned memory, not a whole image") {
    const InjectedFaults faults;
    const Machine machine;
    const auto queue = machine.queue();
    const auto image = make_image(machine, image_desc(PI_IMAGE_2D, 1024, 1024)); // 4 MiB
    const uint32_t color[4] = {1, 2, 3, 4};
    const auto fill = [&] {
        auto d = pi::desc<pi_image_fill_desc>();
        d.flags = PI_COMMAND_BLOCKING;
        d.image = image;
        d.color = color;
        d.extent[0] = d.extent[1] = 1024;
        OK(piEnqueueMemImageFill(queue, &d, 0, nullptr, nullptr));
    };
    const uint64_t before = faults.calls("zeCommandListAppendImageCopyFromMemory");
    fill();
    CHECK(faults.calls("zeCommandListAppendImageCopyFromMemory") - before == 16);
    const uint64_t allocations = faults.calls("zeMemAllocHost");
    fill();
    CHECK(faults.calls("zeMemAllocHost") == allocations); // the strip is reused
    std::vector<uint8_t> bytes(4 << 20), expected(bytes.size());
    read(queue, image, bytes, region_of(1024, 1024, 1));
    for (size_t i = 0; i < expected.size(); ++i)
        expected[i] = static_cast<uint8_t>(1 + i % 4);
    CHECK(bytes == expected);
}

TEST_CASE("an image that the driver refuses is described in the error, and leaks no memory") {
    const InjectedFaults faults;
    const Machine machine;
    const uint64_t left = faults.left(image_calls[0], image_calls[1]);
    const pi_mem_image_desc d = image_desc(PI_IMAGE_2D, 512, 512);
    Owned<pi_mem> image;
    faults.fail("zeImageCreate", ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT, 1, 0);
    CHECK(try_image(machine, d, image) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK_THAT(last_error(), Contains("RGBA of UINT8") && Contains("zeImageCreate"));
    faults.fail("zeImageCreate", ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, 1, 0);
    CHECK(try_image(machine, d, image) == PI_ERROR_OUT_OF_DEVICE_MEMORY);
    CHECK_THAT(last_error(), Contains("1 MiB requested") && Contains("free on"));
    CHECK(faults.left(image_calls[0], image_calls[1]) == left + 2); // two create calls that failed
    // If the pixels cannot be written, the create call fails and leaves no image behind.
    std::vector<uint8_t> pixels(1 << 20);
    pi_mem_image_desc with_pixels = d;
    with_pixels.flags = PI_MEM_COPY_HOST_PTR;
    with_pixels.host_ptr = pixels.data();
    faults.fail("zeCommandListAppendImageCopyFromMemory", ZE_RESULT_ERROR_INVALID_ARGUMENT, 1, 0);
    CHECK(try_image(machine, with_pixels, image) == PI_ERROR_BACKEND);
    CHECK(faults.left(image_calls[0], image_calls[1]) == left + 2);
    OK(try_image(machine, with_pixels, image));
    CHECK(faults.left(image_calls[0], image_calls[1]) == left + 3);
    image.reset();
    CHECK(faults.left(image_calls[0], image_calls[1]) == left + 2);
}

TEST_CASE("a sampler has a driver sampler per device, all destroyed with it or on failure") {
    const InjectedFaults faults;
    const Machine machine;
    const uint64_t left = faults.left(sampler_calls[0], sampler_calls[1]);
    const pi_sampler_desc d = sampler_desc();
    Owned<pi_sampler> sampler;
    OK(piSamplerCreate(machine.context, &d, sampler.out()));
    CHECK(faults.left(sampler_calls[0], sampler_calls[1]) == left + 2);
    sampler.reset();
    CHECK(faults.left(sampler_calls[0], sampler_calls[1]) == left);
    faults.fail("zeSamplerCreate", ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, 2, 0);
    CHECK(piSamplerCreate(machine.context, &d, sampler.out()) == PI_ERROR_OUT_OF_HOST_MEMORY);
    // one create call that failed
    CHECK(faults.left(sampler_calls[0], sampler_calls[1]) == left + 1);
}

TEST_CASE("a sampler of several devices has no native handle, since each belongs to one device") {
    const InjectedFaults faults;
    const Machine machine;
    const pi_sampler_desc d = sampler_desc();
    Owned<pi_sampler> sampler;
    OK(piSamplerCreate(machine.context, &d, sampler.out()));
    pi_native_handle handle{};
    CHECK(piSamplerGetNativeHandle(sampler, &handle) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK_THAT(last_error(), Contains("2 devices"));
}

TEST_CASE("the application's sampler is destroyed exactly if it is owned") {
    const InjectedFaults faults;
    const Machine machine;
    auto one = pi::desc<pi_context_desc>();
    one.device_count = 1;
    one.devices = machine.devices.data();
    Owned<pi_context> context;
    OK(piContextCreate(machine.platform, &one, context.out()));
    pi_native_handle of_context{}, of_device{};
    OK(piContextGetNativeHandle(context, nullptr, &of_context));
    OK(piDeviceGetNativeHandle(machine.devices.front(), &of_device));
    ze_sampler_desc_t described{};
    described.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
    ze_sampler_handle_t native = nullptr;
    REQUIRE(faults.create_sampler(reinterpret_cast<ze_context_handle_t>(of_context.value[0]),
                                  reinterpret_cast<ze_device_handle_t>(of_device.value[0]),
                                  &described, &native) == ZE_RESULT_SUCCESS);
    for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_NATIVE_OWN}}) {
        auto d = pi::desc<pi_native_desc>();
        d.flags = flags;
        d.handle.type = PI_NATIVE_LEVEL_ZERO;
        d.handle.count = 1;
        d.handle.value[0] = reinterpret_cast<uintptr_t>(native);
        Owned<pi_sampler> around;
        OK(piSamplerCreateWithNativeHandle(context, &d, around.out()));
        uint32_t word = 0;
        CHECK(piSamplerGetInfo(around, PI_SAMPLER_INFO_FILTER, sizeof word, &word, nullptr) ==
              PI_ERROR_UNSUPPORTED_FEATURE);
        pi_native_handle again{};
        OK(piSamplerGetNativeHandle(around, &again));
        CHECK(again.value[0] == d.handle.value[0]);
        const uint64_t destroyed = faults.calls("zeSamplerDestroy");
        around.reset();
        CHECK(faults.calls("zeSamplerDestroy") - destroyed == (flags ? 1u : 0u));
    }
}

TEST_CASE("an image's native handle is for its own device, and cannot be imported") {
    const InjectedFaults faults;
    const Machine machine;
    const auto image = make_image(machine, image_desc(PI_IMAGE_2D, 8, 8));
    pi_native_handle handle{};
    OK(piMemGetNativeHandle(image, machine.devices[0], &handle));
    CHECK(handle.type == PI_NATIVE_LEVEL_ZERO);
    CHECK(handle.value[0] != 0);
    CHECK(piMemGetNativeHandle(image, machine.devices[1], &handle) == PI_ERROR_UNSUPPORTED_FEATURE);
    auto d = pi::desc<pi_mem_import_desc>();
    d.size = 256;
    d.handle.type = PI_EXTERNAL_NATIVE;
    d.handle.native = handle;
    Owned<pi_mem> imported;
    CHECK(piMemImport(machine.context, machine.devices[0], &d, imported.out()) ==
          PI_ERROR_INVALID_NATIVE_HANDLE);
    CHECK_THAT(last_error(), Contains("ze_image_handle_t"));
}
