// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "adapter.hpp"
#include "skip.hpp"

#include <algorithm>
#include <limits>

using namespace ur_test;

namespace {

constexpr ur_image_format_t rgba8{UR_IMAGE_CHANNEL_ORDER_RGBA, UR_IMAGE_CHANNEL_TYPE_UNORM_INT8};

/// What the type does not have is 1, as in UR's own programs.
ur_image_desc_t desc_of(ur_mem_type_t type, size_t width, size_t height = 1, size_t depth = 1,
                        size_t layers = 1) {
    return {UR_STRUCTURE_TYPE_IMAGE_DESC, nullptr, type, width, height, depth, layers, 0, 0, 0, 0};
}

ur_result_t create(const Machine &machine, const ur_image_desc_t &desc, Owned<ur_mem_handle_t> &out,
                   const ur_image_format_t &format = rgba8,
                   ur_mem_flags_t flags = UR_MEM_FLAG_READ_WRITE, void *host = nullptr) {
    return ur().Mem.pfnImageCreate(machine.context, flags, &format, &desc, host, out.out());
}

bool has_images(const Machine &machine) {
    if (info<ur_bool_t>(ur().Device.pfnGetInfo, machine.devices[0], UR_DEVICE_INFO_IMAGE_SUPPORT)) {
        return true;
    }
    pi_test::skip("needs a device with images");
    return false;
}

struct Shape {
    ur_image_desc_t desc;
    ur_rect_region_t region; // all of it
};
const Shape shapes[] = {
    {desc_of(UR_MEM_TYPE_IMAGE1D, 16), {16, 1, 1}},
    {desc_of(UR_MEM_TYPE_IMAGE2D, 16, 8), {16, 8, 1}},
    {desc_of(UR_MEM_TYPE_IMAGE3D, 8, 4, 2), {8, 4, 2}},
    {desc_of(UR_MEM_TYPE_IMAGE1D_ARRAY, 16, 1, 1, 3), {16, 3, 1}},
    {desc_of(UR_MEM_TYPE_IMAGE2D_ARRAY, 16, 8, 1, 3), {16, 8, 3}},
};

} // namespace

TEST_CASE("pixels arrive in images of all types") {
    const Machine machine(GENERATE(from_range(device_counts())));
    if (!has_images(machine)) {
        return;
    }
    const auto &enqueue = ur().Enqueue;
    for (const Shape &shape : shapes) {
        CAPTURE(shape.desc.type);
        const size_t size = 4 * shape.region.width * shape.region.height * shape.region.depth;
        Owned<ur_mem_handle_t> image;
        Owned<ur_mem_handle_t> other;
        OK(create(machine, shape.desc, image));
        OK(create(machine, shape.desc, other));
        Bytes bytes = counting(size);
        OK(enqueue.pfnMemImageWrite(machine.queue(), image, true, {0, 0, 0}, shape.region, 0, 0,
                                    bytes.data(), 0, nullptr, nullptr));
        OK(enqueue.pfnMemImageCopy(machine.queue(), image, other, {0, 0, 0}, {0, 0, 0},
                                   shape.region, 0, nullptr, nullptr));
        // The last pixel, where the layer of a 1-D array is the second axis.
        const ur_rect_offset_t last{shape.region.width - 1, shape.region.height - 1,
                                    shape.region.depth - 1};
        Bytes pixel{9, 8, 7, 6};
        OK(enqueue.pfnMemImageWrite(machine.queue(), other, true, last, {1, 1, 1}, 0, 0,
                                    pixel.data(), 0, nullptr, nullptr));
        Bytes seen(size);
        OK(enqueue.pfnMemImageRead(machine.queue(), other, true, {0, 0, 0}, shape.region, 0, 0,
                                   seen.data(), 0, nullptr, nullptr));
        std::copy(pixel.begin(), pixel.end(), bytes.end() - 4);
        CHECK(seen == bytes);
        CHECK(info<size_t>(ur().Mem.pfnGetInfo, image.get(), UR_MEM_INFO_SIZE) >= size);
    }
}

TEST_CASE("pitches of the host are honoured") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    // Rows of 2 pixels in 3, slices of 2 rows in 3.
    const auto desc = desc_of(UR_MEM_TYPE_IMAGE3D, 2, 2, 2);
    Bytes source = counting(72);
    Bytes dense;
    for (const size_t row : {0, 1, 3, 4}) {
        dense.insert(dense.end(), source.begin() + static_cast<ptrdiff_t>(row * 12),
                     source.begin() + static_cast<ptrdiff_t>(row * 12 + 8));
    }
    Owned<ur_mem_handle_t> image;
    OK(create(machine, desc, image));
    OK(ur().Enqueue.pfnMemImageWrite(machine.queue(), image, true, {0, 0, 0}, {2, 2, 2}, 12, 36,
                                     source.data(), 0, nullptr, nullptr));
    Bytes seen(32);
    OK(ur().Enqueue.pfnMemImageRead(machine.queue(), image, true, {0, 0, 0}, {2, 2, 2}, 0, 0,
                                    seen.data(), 0, nullptr, nullptr));
    CHECK(seen == dense);

    auto pitched = desc;
    pitched.rowPitch = 12;
    pitched.slicePitch = 36;
    OK(create(machine, pitched, image, rgba8, UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, source.data()));
    OK(ur().Enqueue.pfnMemImageRead(machine.queue(), image, true, {0, 0, 0}, {2, 2, 2}, 0, 0,
                                    seen.data(), 0, nullptr, nullptr));
    CHECK(seen == dense);
    CHECK(info<size_t>(ur().Mem.pfnImageGetInfo, image.get(), UR_IMAGE_INFO_ROW_PITCH) == 12);
    CHECK(info<size_t>(ur().Mem.pfnImageGetInfo, image.get(), UR_IMAGE_INFO_SLICE_PITCH) == 36);
}

TEST_CASE("infos of images") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    Owned<ur_mem_handle_t> image;
    OK(create(machine, desc_of(UR_MEM_TYPE_IMAGE2D, 16, 8), image));
    const auto get = ur().Mem.pfnImageGetInfo;
    const auto format = info<ur_image_format_t>(get, image.get(), UR_IMAGE_INFO_FORMAT);
    CHECK(format.channelOrder == rgba8.channelOrder);
    CHECK(format.channelType == rgba8.channelType);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_ELEMENT_SIZE) == 4);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_ROW_PITCH) == 64);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_SLICE_PITCH) == 0);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_WIDTH) == 16);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_HEIGHT) == 8);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_DEPTH) == 1);
    CHECK(info<size_t>(get, image.get(), UR_IMAGE_INFO_ARRAY_SIZE) == 1);
    CHECK(info<uint32_t>(get, image.get(), UR_IMAGE_INFO_NUM_MIP_LEVELS) == 0);
    CHECK(info<uint32_t>(get, image.get(), UR_IMAGE_INFO_NUM_SAMPLES) == 0);
    size_t value = 0;
    FAILS(INVALID_ENUMERATION,
          get(image, UR_IMAGE_INFO_FORCE_UINT32, sizeof value, &value, nullptr));
    FAILS(INVALID_SIZE, get(image, UR_IMAGE_INFO_FORMAT, 3, &value, nullptr));
    FAILS(INVALID_NULL_POINTER, get(image, UR_IMAGE_INFO_FORMAT, 8, nullptr, nullptr));
}

TEST_CASE("every primary format is accepted; formats that PI lacks are refused") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    const auto desc = desc_of(UR_MEM_TYPE_IMAGE2D, 4, 4);
    Owned<ur_mem_handle_t> image;
    for (const ur_image_channel_type_t type :
         {UR_IMAGE_CHANNEL_TYPE_UNORM_INT8, UR_IMAGE_CHANNEL_TYPE_UNORM_INT16,
          UR_IMAGE_CHANNEL_TYPE_SNORM_INT8, UR_IMAGE_CHANNEL_TYPE_SNORM_INT16,
          UR_IMAGE_CHANNEL_TYPE_SIGNED_INT8, UR_IMAGE_CHANNEL_TYPE_SIGNED_INT16,
          UR_IMAGE_CHANNEL_TYPE_SIGNED_INT32, UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT8,
          UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT16, UR_IMAGE_CHANNEL_TYPE_UNSIGNED_INT32,
          UR_IMAGE_CHANNEL_TYPE_HALF_FLOAT, UR_IMAGE_CHANNEL_TYPE_FLOAT}) {
        CAPTURE(type);
        OK(create(machine, desc, image, {UR_IMAGE_CHANNEL_ORDER_RGBA, type}));
    }
    FAILS(UNSUPPORTED_IMAGE_FORMAT,
          create(machine, desc, image,
                 {UR_IMAGE_CHANNEL_ORDER_LUMINANCE, UR_IMAGE_CHANNEL_TYPE_FLOAT}));
    CHECK(last_error().find("RGBA") != std::string::npos);
    FAILS(UNSUPPORTED_IMAGE_FORMAT,
          create(machine, desc, image,
                 {UR_IMAGE_CHANNEL_ORDER_RGB, UR_IMAGE_CHANNEL_TYPE_UNORM_SHORT_565}));
    FAILS(UNSUPPORTED_IMAGE_FORMAT,
          create(machine, desc, image,
                 {UR_IMAGE_CHANNEL_ORDER_RGBA, UR_IMAGE_CHANNEL_TYPE_INT_101010}));
}

TEST_CASE("wrong images are refused with UR's codes") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    const auto good = desc_of(UR_MEM_TYPE_IMAGE3D, 4, 4, 4);
    Owned<ur_mem_handle_t> image;
    const auto changed = [&](auto member, auto value) {
        auto desc = good;
        desc.*member = value;
        return desc;
    };
    using Desc = ur_image_desc_t;
    constexpr size_t huge = SIZE_MAX;
    for (const auto &desc : {changed(&Desc::width, huge), changed(&Desc::height, huge),
                             changed(&Desc::depth, huge), changed(&Desc::width, size_t{0})}) {
        FAILS(INVALID_IMAGE_SIZE, create(machine, desc, image));
    }
    for (const auto &desc :
         {changed(&Desc::stype, UR_STRUCTURE_TYPE_FORCE_UINT32),
          changed(&Desc::type, UR_MEM_TYPE_FORCE_UINT32), changed(&Desc::numMipLevel, 1U),
          changed(&Desc::numSamples, 1U), changed(&Desc::rowPitch, size_t{16}),
          changed(&Desc::slicePitch, size_t{64})}) {
        FAILS(INVALID_IMAGE_FORMAT_DESCRIPTOR, create(machine, desc, image));
    }
    Bytes host(4096);
    for (const auto &desc :
         {changed(&Desc::rowPitch, size_t{12}), changed(&Desc::rowPitch, size_t{18}),
          changed(&Desc::slicePitch, size_t{48}), changed(&Desc::slicePitch, size_t{72})}) {
        FAILS(
            INVALID_IMAGE_FORMAT_DESCRIPTOR,
            create(machine, desc, image, rgba8, UR_MEM_FLAG_ALLOC_COPY_HOST_POINTER, host.data()));
    }
    FAILS(INVALID_ENUMERATION, create(machine, good, image, rgba8, UR_MEM_FLAG_FORCE_UINT32));
    FAILS(INVALID_HOST_PTR, create(machine, good, image, rgba8, UR_MEM_FLAG_USE_HOST_POINTER));
    FAILS(INVALID_HOST_PTR, create(machine, good, image, rgba8, 0, host.data()));
    FAILS(INVALID_NULL_POINTER,
          ur().Mem.pfnImageCreate(machine.context, 0, nullptr, &good, nullptr, image.out()));
    FAILS(INVALID_NULL_POINTER,
          ur().Mem.pfnImageCreate(machine.context, 0, &rgba8, nullptr, nullptr, image.out()));
    FAILS(INVALID_NULL_POINTER,
          ur().Mem.pfnImageCreate(machine.context, 0, &rgba8, &good, nullptr, nullptr));
    FAILS(UNSUPPORTED_FEATURE, ur().Mem.pfnImageCreateWithNativeHandle(
                                   1, machine.context, &rgba8, &good, nullptr, image.out()));
}

TEST_CASE("wrong regions of images are refused") {
    const Machine machine;
    if (!has_images(machine)) {
        return;
    }
    Bytes host(4096);
    const auto read = [&](ur_mem_handle_t image, ur_rect_offset_t origin, ur_rect_region_t region,
                          size_t row_pitch = 0) {
        return ur().Enqueue.pfnMemImageRead(machine.queue(), image, true, origin, region, row_pitch,
                                            0, host.data(), 0, nullptr, nullptr);
    };
    for (const Shape &shape : shapes) {
        CAPTURE(shape.desc.type);
        const auto [width, height, depth] = shape.region;
        Owned<ur_mem_handle_t> image;
        OK(create(machine, shape.desc, image));
        FAILS(INVALID_SIZE, read(image, {1, 0, 0}, {width, height, depth}));
        FAILS(INVALID_SIZE, read(image, {0, 1, 0}, {width, height, depth}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 1}, {width, height, depth}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {width + 1, height, depth}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {width, height + 1, depth}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {width, height, depth + 1}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {0, 1, 1}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {1, 0, 1}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {1, 1, 0}));
        FAILS(INVALID_SIZE, read(image, {0, 0, 0}, {2, 1, 1}, 4));
    }
    const auto buffer = machine.buffer(64);
    FAILS(INVALID_MEM_OBJECT, read(buffer, {0, 0, 0}, {1, 1, 1}));
    Owned<ur_mem_handle_t> image;
    OK(create(machine, shapes[0].desc, image));
    FAILS(INVALID_NULL_POINTER,
          ur().Enqueue.pfnMemImageRead(machine.queue(), image, true, {0, 0, 0}, {1, 1, 1}, 0, 0,
                                       nullptr, 0, nullptr, nullptr));
    FAILS(INVALID_MEM_OBJECT, ur().Enqueue.pfnMemBufferRead(machine.queue(), image, true, 0, 1,
                                                            host.data(), 0, nullptr, nullptr));
    void *address = nullptr;
    FAILS(INVALID_MEM_OBJECT,
          ur().Enqueue.pfnMemBufferMap(machine.queue(), image, true, UR_MAP_FLAG_READ, 0, 1, 0,
                                       nullptr, nullptr, &address));
}

// With PI_UR_PLATFORM of two drivers.
TEST_CASE("an image cannot be used by the device of another driver", "[.parts]") {
    const Machine machine(2);
    Owned<ur_mem_handle_t> image;
    OK(create(machine, shapes[1].desc, image));
    Bytes host(4096);
    FAILS(UNSUPPORTED_FEATURE,
          ur().Enqueue.pfnMemImageRead(machine.queue(1), image, true, {0, 0, 0}, {1, 1, 1}, 0, 0,
                                       host.data(), 0, nullptr, nullptr));
    CHECK(last_error().find("of another driver") != std::string::npos);
    OK(ur().Enqueue.pfnMemImageRead(machine.queue(0), image, true, {0, 0, 0}, {1, 1, 1}, 0, 0,
                                    host.data(), 0, nullptr, nullptr));
    Owned<ur_sampler_handle_t> sampler;
    const ur_sampler_desc_t desc{UR_STRUCTURE_TYPE_SAMPLER_DESC, nullptr, true,
                                 UR_SAMPLER_ADDRESSING_MODE_CLAMP, UR_SAMPLER_FILTER_MODE_NEAREST};
    OK(ur().Sampler.pfnCreate(machine.context, &desc, sampler.out()));
    ur_native_handle_t native = 0;
    FAILS(UNSUPPORTED_FEATURE, ur().Sampler.pfnGetNativeHandle(sampler, &native));
}
