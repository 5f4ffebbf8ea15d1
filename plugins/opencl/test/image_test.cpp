// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Refused arguments and images, and images that devices share.
#include "image.hpp"

using namespace opencl_test;

namespace {

constexpr const char *source = R"(
kernel void mixed(read_only image2d_t image, sampler_t sampler, global uint *p, uint value) {
    p[0] = value + read_imageui(image, sampler, (int2)(0, 0)).x;
}
)";

std::vector<uint32_t> numbers(uint64_t count, uint32_t first) {
    std::vector<uint32_t> pixels(count);
    for (uint64_t i = 0; i < count; ++i)
        pixels[i] = first + static_cast<uint32_t>(i) * 0x01010101;
    return pixels;
}

} // namespace

TEST_CASE("arguments of the wrong kind, context or size are refused with their index") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device), other(device);
        const auto desc = image_desc(PI_IMAGE_2D, {4, 4, 0});
        const Mem image = make_image(place.context, device, desc);
        const Mem another = make_image(other.context, device, desc);
        const Mem buffer = place.buffer(64);
        const Sampler sampler =
            make_sampler(place.context, 0, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST);
        const Sampler another_sampler =
            make_sampler(other.context, 0, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST);
        const Kernel kernel = make_kernel(build(place.context, source), "mixed");
        const uint32_t value = 7;
        const std::vector<pi_kernel_argument> good = {
            image_argument(image), sampler_argument(sampler), buffer_argument(buffer),
            value_argument(value)};
        const auto refuses = [&](size_t index, const pi_kernel_argument &argument, pi_result code,
                                 const std::vector<std::string> &parts) {
            std::vector<pi_kernel_argument> arguments = good;
            arguments[index] = argument;
            const auto launch = launch_desc(kernel, arguments, 1);
            Event event;
            refused(piEnqueueKernelLaunch(place.queue, &launch, 0, nullptr, event.out()), code,
                    parts);
            CHECK(event.get() == nullptr);
        };
        wait(launch(place.queue, kernel, 1, good));
        refuses(0, buffer_argument(buffer), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[0]", "'mixed'", "PI_ARGUMENT_IMAGE"});
        refuses(0, image_argument(buffer), PI_ERROR_INVALID_MEM_OBJECT,
                {"arguments[0].mem", "buffer"});
        refuses(0, image_argument(nullptr), PI_ERROR_INVALID_MEM_OBJECT, {"arguments[0].mem"});
        refuses(0, image_argument(another), PI_ERROR_INVALID_MEM_OBJECT,
                {"arguments[0].mem", "context"});
        refuses(1, image_argument(image), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[1]", "PI_ARGUMENT_SAMPLER"});
        refuses(1, sampler_argument(nullptr), PI_ERROR_INVALID_SAMPLER, {"arguments[1].sampler"});
        refuses(1, sampler_argument(another_sampler), PI_ERROR_INVALID_SAMPLER,
                {"arguments[1].sampler", "context"});
        refuses(2, buffer_argument(image), PI_ERROR_INVALID_MEM_OBJECT,
                {"arguments[2].mem", "PI_IMAGE_2D"});
        refuses(3, sampler_argument(sampler), PI_ERROR_INVALID_ARGUMENTS,
                {"arguments[3]", "PI_ARGUMENT_VALUE"});
        pi_kernel_argument sized = image_argument(image);
        sized.size = 64;
        refuses(0, sized, PI_ERROR_INVALID_ARGUMENTS, {"arguments[0]", "64"});
        sized = sampler_argument(sampler);
        sized.offset = 8;
        refuses(1, sized, PI_ERROR_INVALID_ARGUMENTS, {"arguments[1]", "8"});
        // Other backends use the image's sampler; here it is only checked.
        pi_kernel_argument joined = image_argument(image);
        joined.image_sampler = another_sampler;
        refuses(0, joined, PI_ERROR_INVALID_SAMPLER, {"arguments[0].image_sampler"});
        joined.image_sampler = sampler;
        std::vector<pi_kernel_argument> arguments = good;
        arguments[0] = joined;
        wait(launch(place.queue, kernel, 1, arguments));
        joined = buffer_argument(buffer);
        joined.image_sampler = sampler;
        refuses(2, joined, PI_ERROR_UNSUPPORTED_FEATURE, {"arguments[2].image_sampler"});
    }
}

TEST_CASE("devices of one context use each other's images; other contexts do not") {
    Loader loader;
    for (pi_platform platform : loader.platforms()) {
        std::vector<pi_device> devices;
        for (pi_device device : loader.devices())
            if (platform_of(device) == platform)
                devices.push_back(device);
        if (devices.size() < 2)
            continue;
        const Context context = make_context({devices[0], devices[1]});
        const Queue queues[] = {make_queue(context, devices[0]), make_queue(context, devices[1])};
        const Size3 size{7, 5, 0};
        const auto desc = image_desc(PI_IMAGE_2D, size);
        const Mem image = make_image(context, devices[0], desc);
        std::vector<uint32_t> pixels;
        for (uint32_t round = 0; round < 20; ++round) {
            pixels = numbers(35, round * 0x00100301);
            write_image(queues[round % 2], image, size, pixels);
            CHECK(read_image(queues[(round + 1) % 2], image, size) == pixels);
        }
        const Mem copy = make_image(context, devices[1], desc);
        pi_image_copy_region region{};
        region.extent[0] = 7;
        region.extent[1] = 5;
        auto copying = pi::desc<pi_image_copy_desc>();
        copying.flags = PI_COMMAND_BLOCKING;
        copying.src = image;
        copying.dst = copy;
        copying.region_count = 1;
        copying.regions = &region;
        OK(piEnqueueMemImageCopy(queues[1], &copying, 0, nullptr, nullptr));
        CHECK(read_image(queues[0], copy, size) == pixels);
        const Place apart(devices[0]);
        refused(piEnqueueMemImageCopy(apart.queue, &copying, 0, nullptr, nullptr),
                PI_ERROR_INVALID_MEM_OBJECT, {"src", "context"});
    }
}

TEST_CASE("a format that the driver does not list is refused with its name") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        auto desc = image_desc(PI_IMAGE_2D, {4, 4, 0});
        desc.channel_order = PI_CHANNEL_ORDER_BGRA;
        desc.channel_type = PI_CHANNEL_FLOAT; // OpenCL has BGRA of 8 bits only
        Mem image;
        refused(piMemImageCreate(place.context, device, &desc, image.out()),
                PI_ERROR_UNSUPPORTED_FEATURE,
                {"BGRA of FLOAT", "PI_IMAGE_2D", "clGetSupportedImageFormats"});
        const Mem buffer = place.buffer(4096);
        desc.image_type = PI_IMAGE_1D;
        desc.height = 0;
        refused(piMemImageViewCreate(buffer, &desc, image.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"BGRA of FLOAT", "PI_IMAGE_1D"});
        CHECK(image.get() == nullptr);
    }
}

TEST_CASE("views of unsupported shapes are refused with what is missing") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem buffer = place.buffer(65536);
        Mem view;
        auto desc = image_desc(PI_IMAGE_3D, {4, 4, 4});
        refused(piMemImageViewCreate(buffer, &desc, view.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                {"PI_IMAGE_3D", "PI_IMAGE_2D"});
        desc = image_desc(PI_IMAGE_2D, {4, 4, 0});
        uint64_t alignment = 0;
        if (piDeviceGetInfo(device, PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT, sizeof alignment,
                            &alignment, nullptr) == PI_SUCCESS) {
            desc.row_pitch = alignment;
            OK(piMemImageViewCreate(buffer, &desc, view.out()));
        } else {
            refused(piMemImageViewCreate(buffer, &desc, view.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                    {"cl_khr_image2d_from_buffer"});
        }
    }
}

TEST_CASE("two imports of one host pointer count as one storage in copies of their views") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        if (!info<uint32_t>(piDeviceGetInfo, device, PI_DEVICE_INFO_HOST_POINTER_IMPORT))
            continue;
        alignas(4096) static uint8_t memory[8192];
        auto import = pi::desc<pi_mem_import_desc>();
        import.size = 4096;
        import.handle.type = PI_EXTERNAL_HOST_POINTER;
        import.handle.pointer = memory;
        Mem first, second, apart, view;
        OK(piMemImport(place.context, device, &import, first.out()));
        OK(piMemImport(place.context, device, &import, second.out()));
        import.handle.pointer = memory + 4096;
        OK(piMemImport(place.context, device, &import, apart.out()));
        const auto desc = image_desc(PI_IMAGE_1D, {64, 0, 0});
        if (platform_name_of(device) == "rusticl") {
            refused(piMemImageViewCreate(first, &desc, view.out()), PI_ERROR_UNSUPPORTED_FEATURE,
                    {"cannot show this buffer", "PI_IMAGE_1D"});
            continue;
        }
        OK(piMemImageViewCreate(first, &desc, view.out()));
        pi_image_copy_region region{};
        region.extent[0] = 64;
        region.buffer_offset = 255;
        auto copying = pi::desc<pi_image_copy_desc>();
        copying.flags = PI_COMMAND_BLOCKING;
        copying.src = view;
        copying.dst = second;
        copying.region_count = 1;
        copying.regions = &region;
        refused(piEnqueueMemImageCopy(place.queue, &copying, 0, nullptr, nullptr),
                PI_ERROR_MEM_COPY_OVERLAP, {"source"});
        copying.dst = apart;
        OK(piEnqueueMemImageCopy(place.queue, &copying, 0, nullptr, nullptr));
        region.buffer_offset = 256;
        copying.dst = second;
        OK(piEnqueueMemImageCopy(place.queue, &copying, 0, nullptr, nullptr));
    }
}
