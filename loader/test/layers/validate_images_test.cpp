// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer validate: images, their views and their commands.

#include "misuse.hpp"

using namespace layer_test;

namespace {

pi_mem_image_desc image_of(uint64_t width, uint64_t height) {
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = height != 0 ? PI_IMAGE_2D : PI_IMAGE_1D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UINT8;
    desc.width = width;
    desc.height = height;
    return desc;
}

pi_mem make_image(const Machine &machine, const pi_mem_image_desc &desc) {
    pi_mem made = nullptr;
    OK(piMemImageCreate(machine.context, machine.device, &desc, &made));
    return made;
}

} // namespace

TEST_CASE("validate: misdescribed images do not reach the plugin") {
    const Machine machine(counted());
    using Desc = pi_mem_image_desc;
    pi_mem out = nullptr;
    static unsigned char pixels[64];
    const auto create = [&](const Desc *desc) {
        return piMemImageCreate(machine.context, machine.device, desc, &out);
    };
    const Desc valid = image_of(4, 4);
    OK(create(&valid));
    OK(piMemRelease(out));
    check_misuses<Desc>(
        machine, "piMemImageCreate", valid, create,
        {{PI_ERROR_INVALID_ENUMERATION,
          "desc->image_type is 6; PI_IMAGE_1D (1) to PI_IMAGE_2D_ARRAY (5)",
          [](Desc &desc) { desc.image_type = 6; }},
         {PI_ERROR_INVALID_ENUMERATION, "desc->channel_order is 0",
          [](Desc &desc) { desc.channel_order = 0; }},
         {PI_ERROR_INVALID_ENUMERATION, "desc->channel_type is 13",
          [](Desc &desc) { desc.channel_type = 13; }},
         {PI_ERROR_INVALID_SIZE, "desc->width is 0; PI_IMAGE_2D needs",
          [](Desc &desc) { desc.width = 0; }},
         {PI_ERROR_INVALID_SIZE, "desc->height is 0", [](Desc &desc) { desc.height = 0; }},
         {PI_ERROR_INVALID_VALUE, "desc->depth is 2; PI_IMAGE_2D has no such axis",
          [](Desc &desc) { desc.depth = 2; }},
         {PI_ERROR_INVALID_VALUE, "desc->array_size is 1", [](Desc &desc) { desc.array_size = 1; }},
         {PI_ERROR_INVALID_SIZE, "exceed 64 bits",
          [](Desc &desc) { desc.width = desc.height = uint64_t{1} << 32; }},
         {PI_ERROR_INVALID_VALUE, "desc->offset is 4; only a view",
          [](Desc &desc) { desc.offset = 4; }},
         {PI_ERROR_INVALID_VALUE, "desc->row_pitch is 16; without host_ptr",
          [](Desc &desc) { desc.row_pitch = 16; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->host_ptr is NULL",
          [](Desc &desc) { desc.flags = PI_MEM_COPY_HOST_PTR; }},
         {PI_ERROR_INVALID_VALUE, "desc->host_ptr is 0x",
          [](Desc &desc) { desc.host_ptr = pixels; }},
         {PI_ERROR_INVALID_SIZE, "desc->row_pitch is 12; at least 16",
          [](Desc &desc) {
              desc.flags = PI_MEM_COPY_HOST_PTR;
              desc.host_ptr = pixels;
              desc.row_pitch = 12;
          }},
         {PI_ERROR_INVALID_SIZE, "desc->row_pitch is 18; a multiple of a pixel's 4 bytes",
          [](Desc &desc) {
              desc.flags = PI_MEM_COPY_HOST_PTR;
              desc.host_ptr = pixels;
              desc.row_pitch = 18;
          }},
         {PI_ERROR_INVALID_VALUE, "desc->flags is 0x3, with PI_MEM_READ_ONLY",
          [](Desc &desc) { desc.flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY; }}});
    check_refused(
        machine, "piMemImageCreate", PI_ERROR_INVALID_NULL_POINTER, "out_mem is NULL",
        [&] { return piMemImageCreate(machine.context, machine.device, &valid, nullptr); });
}

TEST_CASE("validate: images of a vendor's type or format are left to the plugin") {
    const Machine machine(counted());
    const auto create = [&](const pi_mem_image_desc &desc) {
        pi_mem image = nullptr;
        return piMemImageCreate(machine.context, machine.device, &desc, &image);
    };
    pi_mem_image_desc desc = image_of(4, 4);
    desc.image_type = PI_VENDOR_BIT | 0x7fff'ffff;
    CHECK(create(desc) != PI_SUCCESS);
    CHECK_THAT(last_error(), !Catch::Contains("piMemImageCreate: "));
    desc = image_of(4, 4);
    desc.channel_order = PI_VENDOR_BIT | 1;
    desc.row_pitch = 64;
    CHECK(create(desc) != PI_SUCCESS);
    desc = image_of(4, 4);
    desc.channel_type = PI_VENDOR_BIT | 1;
    CHECK(create(desc) != PI_SUCCESS);
}

TEST_CASE("validate: misdescribed views as images do not reach the plugin") {
    const Machine machine(counted());
    using Desc = pi_mem_image_desc;
    const pi_mem mem = machine.make_buffer(64);
    const pi_mem image = make_image(machine, image_of(4, 4));
    pi_mem out = nullptr;
    const auto create = [&](const Desc *desc) { return piMemImageViewCreate(mem, desc, &out); };
    check_misuses<Desc>(machine, "piMemImageViewCreate", image_of(4, 4), create,
                        {{PI_ERROR_INVALID_SIZE, "desc->offset is 4; its pixels end at byte 68",
                          [](Desc &desc) { desc.offset = 4; }},
                         {PI_ERROR_UNSUPPORTED_FEATURE, "with the unknown bits 0x20",
                          [](Desc &desc) { desc.flags = PI_MEM_REQUIRE_PINNED; }},
                         {PI_ERROR_INVALID_VALUE, "a view uses the bytes of its buffer",
                          [&](Desc &desc) { desc.host_ptr = &out; }}});
    const Desc valid = image_of(4, 4);
    check_refused(machine, "piMemImageViewCreate", PI_ERROR_INVALID_MEM_OBJECT,
                  "mem is an image; a buffer is needed",
                  [&] { return piMemImageViewCreate(image, &valid, &out); });
    for (const pi_mem one : {mem, image})
        OK(piMemRelease(one));
}

TEST_CASE("validate: misdescribed commands on images do not reach the plugin") {
    const Machine machine(counted());
    const pi_mem image = make_image(machine, image_of(4, 4));
    pi_mem_image_desc other_format = image_of(4, 4);
    other_format.channel_order = PI_CHANNEL_ORDER_BGRA;
    const pi_mem bgra = make_image(machine, other_format);
    const pi_mem mem = machine.make_buffer(64);
    Bytes host(256);

    pi_image_region region{};
    region.extent[0] = 4;
    region.extent[1] = 2;
    pi_image_region spoiled[2];
    const auto in = [&](pi_result code, const char *words, auto spoil) {
        return Misuse<pi_image_write_desc>{code, words, [&, spoil](pi_image_write_desc &desc) {
                                               spoiled[0] = spoiled[1] = region;
                                               spoiled[1].origin[1] = 2;
                                               spoil(spoiled[1]);
                                               desc.region_count = 2;
                                               desc.regions = spoiled;
                                           }};
    };
    auto write = pi::desc<pi_image_write_desc>();
    write.image = image;
    write.host_ptr = host.data();
    write.region_count = 1;
    write.regions = &region;
    check_command<pi_image_write_desc>(
        machine, "piEnqueueMemImageWrite", piEnqueueMemImageWrite, write,
        {{PI_ERROR_INVALID_MEM_OBJECT, "desc->image is a buffer; an image is needed",
          [&](auto &desc) { desc.image = mem; }},
         {PI_ERROR_INVALID_NULL_POINTER, "desc->host_ptr is NULL",
          [](auto &desc) { desc.host_ptr = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->region_count is 0",
          [](auto &desc) { desc.region_count = 0; }},
         in(PI_ERROR_INVALID_SIZE,
            "desc->regions[1].origin[1] is 3; with 2 pixels it goes past the end of desc->image, "
            "whose height is 4",
            [](pi_image_region &one) { one.origin[1] = 3; }),
         in(PI_ERROR_INVALID_SIZE, "desc->regions[1].extent[0] is 0 pixels",
            [](pi_image_region &one) { one.extent[0] = 0; }),
         in(PI_ERROR_INVALID_VALUE, "desc->regions[1].mip_level is 1",
            [](pi_image_region &one) { one.mip_level = 1; }),
         in(PI_ERROR_INVALID_SIZE, "desc->regions[1].row_pitch is 15; at least 16",
            [](pi_image_region &one) { one.row_pitch = 15; }),
         in(PI_ERROR_INVALID_VALUE, "desc->regions[1] writes pixels that desc->regions[0]",
            [](pi_image_region &one) { one.origin[1] = 1; }),
         in(PI_ERROR_UNSUPPORTED_FEATURE, "desc->regions[1].reserved is 1",
            [](pi_image_region &one) { one.reserved[0] = 1; })});

    auto read = pi::desc<pi_image_read_desc>();
    read.image = image;
    read.host_ptr = host.data();
    read.region_count = 1;
    read.regions = &region;
    check_command<pi_image_read_desc>(
        machine, "piEnqueueMemImageRead", piEnqueueMemImageRead, read,
        {{PI_ERROR_INVALID_VALUE, "desc->regions[1] writes bytes that desc->regions[0]",
          [&](auto &desc) {
              spoiled[0] = spoiled[1] = region; // to the same host memory
              desc.region_count = 2;
              desc.regions = spoiled;
          }}});

    const float color[4] = {};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.image = image;
    fill.color = color;
    fill.extent[0] = 4;
    check_command<pi_image_fill_desc>(
        machine, "piEnqueueMemImageFill", piEnqueueMemImageFill, fill,
        {{PI_ERROR_INVALID_NULL_POINTER, "desc->color is NULL",
          [](auto &desc) { desc.color = nullptr; }},
         {PI_ERROR_INVALID_SIZE, "desc->origin[0] is 1; with 4 pixels",
          [](auto &desc) { desc.origin[0] = 1; }}});
    for (const pi_mem one : {image, bgra, mem})
        OK(piMemRelease(one));
}

TEST_CASE("validate: misdescribed copies of images do not reach the plugin") {
    const Machine machine(counted());
    const pi_mem image = make_image(machine, image_of(4, 4));
    pi_mem_image_desc other_format = image_of(4, 4);
    other_format.channel_order = PI_CHANNEL_ORDER_BGRA;
    const pi_mem bgra = make_image(machine, other_format);
    const pi_mem mem = machine.make_buffer(64);
    pi_image_copy_region region{};
    region.extent[0] = 4;
    region.extent[1] = 2;
    pi_image_copy_region spoiled;
    const auto in = [&](pi_result code, const char *words, auto spoil) {
        return Misuse<pi_image_copy_desc>{code, words, [&, spoil](pi_image_copy_desc &desc) {
                                              spoiled = region;
                                              spoil(spoiled);
                                              desc.regions = &spoiled;
                                          }};
    };
    auto copy = pi::desc<pi_image_copy_desc>();
    copy.src = image;
    copy.dst = mem;
    copy.region_count = 1;
    copy.regions = &region;
    check_command<pi_image_copy_desc>(
        machine, "piEnqueueMemImageCopy", piEnqueueMemImageCopy, copy,
        {{PI_ERROR_INVALID_MEM_OBJECT, "desc->dst is a buffer, as is desc->src",
          [&](auto &desc) { desc.src = mem; }},
         {PI_ERROR_INVALID_VALUE, "both images need the same format",
          [&](auto &desc) { desc.dst = bgra; }},
         {PI_ERROR_MEM_COPY_OVERLAP, "desc->regions[0] copies within one image",
          [&](auto &desc) { desc.dst = image; }},
         in(PI_ERROR_INVALID_SIZE,
            "desc->regions[0].buffer_offset is 40; the region ends at byte 72, and the buffer "
            "has 64 bytes",
            [](auto &one) { one.buffer_offset = 40; }),
         in(PI_ERROR_INVALID_VALUE, "desc->regions[0].dst_origin[2] is 1; desc->dst is a buffer",
            [](auto &one) { one.dst_origin[2] = 1; }),
         {PI_ERROR_INVALID_VALUE, "desc->regions[0].buffer_row_pitch is 16; both ends are images",
          [&](auto &desc) {
              spoiled = region;
              spoiled.dst_origin[1] = 2;
              spoiled.buffer_row_pitch = 16;
              desc.regions = &spoiled;
              desc.dst = image;
          }},
         in(PI_ERROR_INVALID_SIZE, "desc->regions[0].src_origin[0] is 1",
            [](auto &one) { one.src_origin[0] = 1; })});
    void *pointer = nullptr;
    auto map = pi::desc<pi_buffer_map_desc>();
    map.flags = PI_MAP_READ | PI_COMMAND_BLOCKING;
    map.mem = mem;
    map.size = 64;
    map.out_pointer = &pointer;
    OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
    check_refused(machine, "piEnqueueMemImageCopy", PI_ERROR_INVALID_OPERATION,
                  "desc->dst is mapped for reading",
                  [&] { return piEnqueueMemImageCopy(machine.queue, &copy, 0, nullptr, nullptr); });
    for (const pi_mem one : {image, bgra, mem})
        OK(piMemRelease(one));
}
