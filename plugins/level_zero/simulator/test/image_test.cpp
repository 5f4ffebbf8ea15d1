// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <pi/pi.h>

#include <numeric>

using namespace pi_level_zero_test;

namespace {

ze_image_desc_t description(ze_image_type_t type, std::uint64_t width, std::uint32_t height = 0,
                            std::uint32_t depth = 0, std::uint32_t layers = 0) {
    ze_image_desc_t made{};
    made.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
    made.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
    made.type = type;
    made.format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UNORM,
                   ZE_IMAGE_FORMAT_SWIZZLE_R,      ZE_IMAGE_FORMAT_SWIZZLE_G,
                   ZE_IMAGE_FORMAT_SWIZZLE_B,      ZE_IMAGE_FORMAT_SWIZZLE_A};
    made.width = width;
    made.height = height;
    made.depth = depth;
    made.arraylevels = layers;
    return made;
}

class Image {
public:
    Image(const Context &context, const ze_image_desc_t &made) {
        REQUIRE(zeImageCreate(context, devices()[0], &made, &handle) == ZE_RESULT_SUCCESS);
    }
    Image(const Image &) = delete;
    ~Image() { CHECK(zeImageDestroy(handle) == ZE_RESULT_SUCCESS); }
    ze_image_handle_t handle = nullptr;
};

std::vector<std::uint8_t> counted(size_t size) {
    std::vector<std::uint8_t> bytes(size);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t(1));
    return bytes;
}

std::vector<std::uint8_t> pixels(const List &list, const Image &image, size_t size,
                                 const ze_image_region_t *region = nullptr) {
    std::vector<std::uint8_t> bytes(size);
    list.barrier();
    CHECK(zeCommandListAppendImageCopyToMemory(list, bytes.data(), image.handle, region, nullptr, 0,
                                               nullptr) == ZE_RESULT_SUCCESS);
    list.finish();
    return bytes;
}

void write(const List &list, const Image &image, const std::vector<std::uint8_t> &bytes,
           const ze_image_region_t *region = nullptr) {
    CHECK(zeCommandListAppendImageCopyFromMemory(list, image.handle, bytes.data(), region, nullptr,
                                                 0, nullptr) == ZE_RESULT_SUCCESS);
    list.finish();
}

} // namespace

TEST_CASE("Images of all types store pixels, which are poisoned at first") {
    const Context context;
    const List list(context);
    for (const ze_image_desc_t &made :
         {description(ZE_IMAGE_TYPE_1D, 12), description(ZE_IMAGE_TYPE_1DARRAY, 4, 0, 0, 3),
          description(ZE_IMAGE_TYPE_2D, 4, 3), description(ZE_IMAGE_TYPE_2DARRAY, 3, 2, 0, 2),
          description(ZE_IMAGE_TYPE_3D, 2, 3, 2)}) {
        CAPTURE(made.type);
        const Image image(context, made);
        CHECK(pixels(list, image, 48) == std::vector<std::uint8_t>(48, 0xcb));
        write(list, image, counted(48));
        CHECK(pixels(list, image, 48) == counted(48));
    }
}

TEST_CASE("Regions of images are copied to and from memory and each other") {
    const Context context;
    const List list(context);
    const Image first(context, description(ZE_IMAGE_TYPE_2D, 8, 4)),
        second(context, description(ZE_IMAGE_TYPE_2D, 8, 4));
    write(list, first, counted(128));
    write(list, second, counted(128));
    const ze_image_region_t from{2, 1, 0, 3, 2, 1}, to{5, 2, 0, 3, 2, 1};
    CHECK(zeCommandListAppendImageCopyRegion(list, second.handle, first.handle, &to, &from, nullptr,
                                             0, nullptr) == ZE_RESULT_SUCCESS);
    const std::vector<std::uint8_t> block = pixels(list, second, 24, &to);
    CHECK(block == pixels(list, first, 24, &from));
    CHECK(block[0] == 1 + (8 + 2) * 4);
    CHECK(block[12] == 1 + (16 + 2) * 4);
    const ze_image_region_t beyond{6, 0, 0, 3, 1, 1};
    CHECK(zeCommandListAppendImageCopyRegion(list, second.handle, first.handle, &beyond, &from,
                                             nullptr, 0, nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
    CHECK(zeCommandListAppendImageCopy(list, second.handle, first.handle, nullptr, 0, nullptr) ==
          ZE_RESULT_SUCCESS);
    CHECK(pixels(list, second, 128) == counted(128));
}

TEST_CASE("Regions of one image are copied to each other unless they share a pixel") {
    const Context context;
    const List list(context);
    const Image image(context, description(ZE_IMAGE_TYPE_3D, 6, 4, 3));
    write(list, image, counted(288));
    const auto copy = [&](const ze_image_region_t &to, const ze_image_region_t &from) {
        return zeCommandListAppendImageCopyRegion(list, image.handle, image.handle, &to, &from,
                                                  nullptr, 0, nullptr);
    };
    const ze_image_region_t corner{0, 0, 0, 3, 2, 1};
    CHECK(copy({2, 1, 0, 3, 2, 1}, corner) == ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    for (const ze_image_region_t &apart :
         {ze_image_region_t{3, 0, 0, 3, 2, 1}, {0, 2, 0, 3, 2, 1}, {0, 0, 1, 3, 2, 1}}) {
        CHECK(copy(apart, corner) == ZE_RESULT_SUCCESS);
        CHECK(pixels(list, image, 24, &apart) == pixels(list, image, 24, &corner));
    }
}

TEST_CASE("Images whose layers are different axes are not copied to each other as one region") {
    const Context context;
    const List list(context);
    const Image lines(context, description(ZE_IMAGE_TYPE_1DARRAY, 4, 0, 0, 3)),
        planes(context, description(ZE_IMAGE_TYPE_2DARRAY, 4, 1, 0, 3));
    const ze_image_region_t of_lines{0, 0, 0, 4, 3, 1}, of_planes{0, 0, 0, 4, 1, 3};
    CHECK(zeCommandListAppendImageCopyRegion(list, planes.handle, lines.handle, &of_planes,
                                             &of_lines, nullptr, 0,
                                             nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
    const ze_image_region_t one{0, 1, 0, 4, 1, 1}, first{0, 0, 0, 4, 1, 1};
    write(list, lines, counted(48));
    CHECK(zeCommandListAppendImageCopyRegion(list, planes.handle, lines.handle, &first, &one,
                                             nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(pixels(list, planes, 16, &first)[0] == 17);
}

TEST_CASE("Copies between images and memory support pitches by the extension") {
    const Context context;
    const List list(context);
    const Image image(context, description(ZE_IMAGE_TYPE_2D, 2, 2));
    const Memory memory(context, 20);
    const std::vector<std::uint8_t> bytes = counted(20);
    CHECK(zeCommandListAppendMemoryCopy(list, memory.address, bytes.data(), 20, nullptr, 0,
                                        nullptr) == ZE_RESULT_SUCCESS);
    list.barrier();
    CHECK(zeCommandListAppendImageCopyFromMemoryExt(list, image.handle, memory.address, nullptr, 12,
                                                    0, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(pixels(list, image, 16)[8] == 13);
    CHECK(zeCommandListAppendImageCopyToMemoryExt(list, memory.address, image.handle, nullptr, 12,
                                                  0, nullptr, 0, nullptr) == ZE_RESULT_SUCCESS);
    CHECK(read(list, memory.address, 20) == bytes);
    CHECK(zeCommandListAppendImageCopyToMemoryExt(list, memory.address, image.handle, nullptr, 13,
                                                  0, nullptr, 0,
                                                  nullptr) == ZE_RESULT_ERROR_INVALID_ARGUMENT);
    CHECK(zeCommandListAppendImageCopyToMemoryExt(list, memory.address, image.handle, nullptr, 7, 0,
                                                  nullptr, 0,
                                                  nullptr) == ZE_RESULT_ERROR_INVALID_SIZE);
}

TEST_CASE("Kernels receive images and samplers as native kernels' records") {
    const Context context;
    const List list(context);
    ze_image_desc_t made = description(ZE_IMAGE_TYPE_2DARRAY, 3, 2, 0, 2);
    std::swap(made.format.x, made.format.z);
    const Image image(context, made);
    write(list, image, counted(48));
    ze_sampler_handle_t sampler = nullptr;
    const ze_sampler_desc_t how{ZE_STRUCTURE_TYPE_SAMPLER_DESC, nullptr,
                                ZE_SAMPLER_ADDRESS_MODE_CLAMP_TO_BORDER,
                                ZE_SAMPLER_FILTER_MODE_LINEAR, true};
    REQUIRE(zeSamplerCreate(context, devices()[0], &how, &sampler) == ZE_RESULT_SUCCESS);
    Module module(context, "function describe_image image sampler pointer\n");
    const ze_kernel_handle_t kernel = module.kernel("describe_image");
    const Memory out(context, 40, Kind::shared);
    CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof image.handle, &image.handle) ==
          ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof sampler, &sampler) == ZE_RESULT_SUCCESS);
    CHECK(zeKernelSetArgumentValue(kernel, 2, sizeof out.address, &out.address) ==
          ZE_RESULT_SUCCESS);
    run(list, kernel);
    const auto *const record = out.as<std::uint32_t>();
    const std::vector<std::uint32_t> wanted = {
        PI_IMAGE_2D_ARRAY,   PI_CHANNEL_ORDER_BGRA, PI_CHANNEL_UNORM8, 3, 2, 2, 1, 1,
        PI_ADDRESSING_CLAMP, PI_FILTER_LINEAR};
    CHECK(std::vector<std::uint32_t>(record, record + 10) == wanted);
    CHECK(zeSamplerDestroy(sampler) == ZE_RESULT_SUCCESS);
}

TEST_CASE("Images that are too large, of invalid format or of a buffer are refused") {
    const Context context;
    const ze_device_handle_t device = devices()[0];
    ze_image_handle_t out = nullptr;
    ze_image_desc_t made = description(ZE_IMAGE_TYPE_2D, 16385, 1);
    CHECK(zeImageCreate(context, device, &made, &out) == ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    made = description(ZE_IMAGE_TYPE_2D, 16384, 16384);
    CHECK(zeImageCreate(context, device, &made, &out) == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    made = description(ZE_IMAGE_TYPE_2D, 4, 4);
    made.format.layout = ZE_IMAGE_FORMAT_LAYOUT_NV12;
    CHECK(zeImageCreate(context, device, &made, &out) == ZE_RESULT_ERROR_UNSUPPORTED_IMAGE_FORMAT);
    made = description(ZE_IMAGE_TYPE_BUFFER, 64);
    CHECK(zeImageCreate(context, device, &made, &out) == ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION);
    ze_image_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES;
    made = description(ZE_IMAGE_TYPE_2D, 4, 4);
    CHECK(zeImageGetProperties(device, &made, &properties) == ZE_RESULT_SUCCESS);
    CHECK(properties.samplerFilterFlags ==
          (ZE_IMAGE_SAMPLER_FILTER_FLAG_POINT | ZE_IMAGE_SAMPLER_FILTER_FLAG_LINEAR));
}
