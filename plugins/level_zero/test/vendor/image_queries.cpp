// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "queries.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace level_zero_vendor_test {

namespace {

ze_image_desc_t description(ze_image_type_t type, uint32_t height, uint32_t depth,
                            uint32_t layers) {
    ze_image_desc_t made{};
    made.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC;
    made.flags = ZE_IMAGE_FLAG_KERNEL_WRITE;
    made.type = type;
    made.format = {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, ZE_IMAGE_FORMAT_TYPE_UINT,
                   ZE_IMAGE_FORMAT_SWIZZLE_R,      ZE_IMAGE_FORMAT_SWIZZLE_G,
                   ZE_IMAGE_FORMAT_SWIZZLE_B,      ZE_IMAGE_FORMAT_SWIZZLE_A};
    made.width = 8;
    made.height = height;
    made.depth = depth;
    made.arraylevels = layers;
    return made;
}

/// A plane of 8 x 6 pixels.
ze_image_desc_t plane() {
    return description(ZE_IMAGE_TYPE_2D, 6, 0, 0);
}

struct Image {
    Image(const Driver &driver, const ze_image_desc_t &made)
        : result(zeImageCreate(driver.context, driver.device, &made, &handle)) {}
    Image(const Image &) = delete;
    ~Image() {
        if (result == ZE_RESULT_SUCCESS) {
            zeImageDestroy(handle);
        }
    }
    ze_image_handle_t handle = nullptr;
    ze_result_t result;
};

/// An immediate list. On the vendor's driver, which runs nothing, there is no wait for it.
struct List {
    explicit List(const Driver &driver) {
        ze_command_queue_desc_t description{};
        description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
        description.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
        zeCommandListCreateImmediate(driver.context, driver.device, &description, &handle);
    }
    List(const List &) = delete;
    ~List() { zeCommandListDestroy(handle); }
    ze_command_list_handle_t handle = nullptr;
};

std::string created(const Driver &driver, const std::vector<ze_image_desc_t> &descriptions) {
    std::vector<ze_result_t> results;
    for (const ze_image_desc_t &made : descriptions) {
        results.push_back(Image(driver, made).result);
    }
    return names_of(results);
}

struct Channels {
    ze_image_format_layout_t layout;
    uint32_t count;
};
constexpr std::array<Channels, 9> layouts{{{ZE_IMAGE_FORMAT_LAYOUT_8, 1},
                                           {ZE_IMAGE_FORMAT_LAYOUT_16, 1},
                                           {ZE_IMAGE_FORMAT_LAYOUT_32, 1},
                                           {ZE_IMAGE_FORMAT_LAYOUT_8_8, 2},
                                           {ZE_IMAGE_FORMAT_LAYOUT_16_16, 2},
                                           {ZE_IMAGE_FORMAT_LAYOUT_32_32, 2},
                                           {ZE_IMAGE_FORMAT_LAYOUT_8_8_8_8, 4},
                                           {ZE_IMAGE_FORMAT_LAYOUT_16_16_16_16, 4},
                                           {ZE_IMAGE_FORMAT_LAYOUT_32_32_32_32, 4}}};

/// Images of integers in all layouts; missing channels are 0 and 1.
std::vector<ze_image_desc_t> planes(ze_image_format_type_t type) {
    std::vector<ze_image_desc_t> made;
    for (const Channels &channels : layouts) {
        ze_image_desc_t one = plane();
        one.format.layout = channels.layout;
        one.format.type = type;
        if (channels.count < 4) {
            one.format.z = ZE_IMAGE_FORMAT_SWIZZLE_0;
            one.format.w = ZE_IMAGE_FORMAT_SWIZZLE_1;
        }
        if (channels.count < 2) {
            one.format.y = ZE_IMAGE_FORMAT_SWIZZLE_0;
        }
        made.push_back(one);
    }
    return made;
}

} // namespace

const std::vector<Query> &image_queries() {
    static const std::vector<Query> queries{
        {"how large images can be",
         [](const Driver &driver) {
             ze_device_image_properties_t most{};
             most.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES;
             const ze_result_t result = zeDeviceGetImageProperties(driver.device, &most);
             return name_of(result) +
                    (most.maxImageDims2D != 0 ? ", there are images" : ", there are no images");
         }},
        {"images of all types",
         [](const Driver &driver) {
             return created(driver, {description(ZE_IMAGE_TYPE_1D, 0, 0, 0),
                                     description(ZE_IMAGE_TYPE_1DARRAY, 0, 0, 3), plane(),
                                     description(ZE_IMAGE_TYPE_2DARRAY, 6, 0, 3),
                                     description(ZE_IMAGE_TYPE_3D, 6, 3, 0)});
         }},
        {"unsigned integers in all layouts",
         [](const Driver &driver) { return created(driver, planes(ZE_IMAGE_FORMAT_TYPE_UINT)); }},
        {"signed integers in all layouts",
         [](const Driver &driver) { return created(driver, planes(ZE_IMAGE_FORMAT_TYPE_SINT)); }},
        {"red and blue exchanged",
         [](const Driver &driver) {
             ze_image_desc_t made = plane();
             std::swap(made.format.x, made.format.z);
             return created(driver, {made});
         }},
        {"numbers from 0 to 1 of 32 bits, floats of 8",
         [](const Driver &driver) {
             ze_image_desc_t norm = plane(), narrow = plane();
             norm.format.layout = ZE_IMAGE_FORMAT_LAYOUT_32;
             norm.format.type = ZE_IMAGE_FORMAT_TYPE_UNORM;
             narrow.format.type = ZE_IMAGE_FORMAT_TYPE_FLOAT;
             return created(driver, {norm, narrow});
         },
         as_specified},
        {"an image of a buffer",
         [](const Driver &driver) {
             return created(driver, {description(ZE_IMAGE_TYPE_BUFFER, 0, 0, 0)});
         },
         as_specified},
        {"a plane copied to memory and back, and a part of it",
         [](const Driver &driver) {
             const Image image(driver, plane());
             const List list(driver);
             std::array<std::byte, 192> bytes{};
             const ze_image_region_t part{2, 1, 0, 4, 3, 1};
             return names_of(
                 {zeCommandListAppendImageCopyToMemory(list.handle, bytes.data(), image.handle,
                                                       nullptr, nullptr, 0, nullptr),
                  zeCommandListAppendImageCopyFromMemory(list.handle, image.handle, bytes.data(),
                                                         nullptr, nullptr, 0, nullptr),
                  zeCommandListAppendImageCopyToMemory(list.handle, bytes.data(), image.handle,
                                                       &part, nullptr, 0, nullptr)});
         }},
        {"a part copied to memory with pitches",
         [](const Driver &driver) {
             const Image image(driver, plane());
             const List list(driver);
             std::array<std::byte, 400> bytes{};
             const ze_image_region_t part{2, 1, 0, 4, 3, 1};
             return names_of(
                 {zeCommandListAppendImageCopyToMemoryExt(list.handle, bytes.data(), image.handle,
                                                          &part, 100, 300, nullptr, 0, nullptr),
                  zeCommandListAppendImageCopyFromMemoryExt(list.handle, image.handle, bytes.data(),
                                                            &part, 100, 300, nullptr, 0, nullptr)});
         },
         "the vendor's does not have the extension, and answers so; ours does without it if asked"},
        {"parts of one image that are apart",
         [](const Driver &driver) {
             const Image image(driver, plane());
             const List list(driver);
             const ze_image_region_t from{0, 0, 0, 4, 3, 1}, apart{4, 3, 0, 4, 3, 1};
             return name_of(zeCommandListAppendImageCopyRegion(
                 list.handle, image.handle, image.handle, &apart, &from, nullptr, 0, nullptr));
         }},
        {"parts of one image that overlap, and one past its end",
         [](const Driver &driver) {
             const Image image(driver, plane());
             const List list(driver);
             const ze_image_region_t from{0, 0, 0, 4, 3, 1}, past{6, 4, 0, 4, 3, 1};
             return names_of(
                 {zeCommandListAppendImageCopyRegion(list.handle, image.handle, image.handle, &from,
                                                     &from, nullptr, 0, nullptr),
                  zeCommandListAppendImageCopyRegion(list.handle, image.handle, image.handle, &past,
                                                     &from, nullptr, 0, nullptr)});
         },
         as_specified},
        {"samplers of all modes, and of a mode that there is not",
         [](const Driver &driver) {
             std::vector<ze_result_t> results;
             for (int mode = 0; mode <= ZE_SAMPLER_ADDRESS_MODE_MIRROR; ++mode) {
                 for (int filter = 0; filter <= ZE_SAMPLER_FILTER_MODE_LINEAR; ++filter) {
                     ze_sampler_desc_t made{};
                     made.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
                     made.addressMode = static_cast<ze_sampler_address_mode_t>(mode);
                     made.filterMode = static_cast<ze_sampler_filter_mode_t>(filter);
                     made.isNormalized = 1;
                     ze_sampler_handle_t sampler = nullptr;
                     results.push_back(
                         zeSamplerCreate(driver.context, driver.device, &made, &sampler));
                     if (sampler != nullptr) {
                         results.push_back(zeSamplerDestroy(sampler));
                     }
                 }
             }
             return names_of(results);
         }},
    };
    return queries;
}

} // namespace level_zero_vendor_test
