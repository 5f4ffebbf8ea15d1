// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer trace on commands on images and USM: their bytes and routes.

#include "trace.hpp"

using namespace layer_test;

namespace {

/// One command of that name was traced, with this size and route.
void check_command(const std::vector<json> &events, const std::string &name, uint64_t bytes,
                   const std::string &route) {
    INFO(name);
    const std::vector<json> found = commands(events, name);
    REQUIRE(found.size() == 1);
    CHECK(sum_of_bytes(found) == bytes);
    CHECK(found[0]["args"]["route"] == route);
}

pi_mem make_image(const Machine &machine) {
    auto desc = pi::desc<pi_mem_image_desc>();
    desc.image_type = PI_IMAGE_2D;
    desc.channel_order = PI_CHANNEL_ORDER_RGBA;
    desc.channel_type = PI_CHANNEL_UINT16; // 8 bytes per pixel
    desc.width = 16;
    desc.height = 4;
    pi_mem made = nullptr;
    OK(piMemImageCreate(machine.context, machine.device, &desc, &made));
    return made;
}

template <class Desc>
Desc on_box(const pi_image_region &box, pi_mem image, Bytes &bytes) {
    auto desc = pi::desc<Desc>();
    desc.image = image;
    desc.host_ptr = bytes.data();
    desc.region_count = 1;
    desc.regions = &box;
    return desc;
}

template <class Desc, class Region>
Desc between(const std::vector<Region> &regions) {
    auto desc = pi::desc<Desc>();
    desc.region_count = static_cast<uint32_t>(regions.size());
    desc.regions = regions.data();
    return desc;
}

} // namespace

TEST_CASE("commands on images are traced with the bytes of their pixels") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    {
        const Machine machine(traced(file));
        const pi_mem image = make_image(machine), other = make_image(machine);
        const pi_mem buffer = machine.make_buffer(16 * 4 * 8);
        Bytes bytes(16 * 4 * 8);
        pi_image_region box{};
        box.extent[0] = 5, box.extent[1] = 3;
        const auto write = on_box<pi_image_write_desc>(box, image, bytes);
        OK(piEnqueueMemImageWrite(machine.queue, &write, 0, nullptr, nullptr));
        box.extent[0] = 7, box.extent[1] = 0; // one row
        const auto read = on_box<pi_image_read_desc>(box, image, bytes);
        OK(piEnqueueMemImageRead(machine.queue, &read, 0, nullptr, nullptr));
        const uint32_t color[4] = {};
        auto fill = pi::desc<pi_image_fill_desc>();
        fill.image = image;
        fill.color = color;
        fill.extent[0] = 2, fill.extent[1] = 2;
        OK(piEnqueueMemImageFill(machine.queue, &fill, 0, nullptr, nullptr));
        pi_image_copy_region pixels{};
        pixels.extent[0] = 3, pixels.extent[1] = 4;
        const std::vector<pi_image_copy_region> one(1, pixels);
        auto copy = between<pi_image_copy_desc>(one);
        // If one end is a buffer, the image defines the pixel size.
        for (const auto &[src, dst] : {std::pair(image, other), {image, buffer}, {buffer, image}}) {
            copy.src = src;
            copy.dst = dst;
            OK(piEnqueueMemImageCopy(machine.queue, &copy, 0, nullptr, nullptr));
        }
        OK(piQueueFinish(machine.queue));
        for (const pi_mem mem : {image, other, buffer})
            OK(piMemRelease(mem));
    }
    const std::vector<json> events = read_events(file);
    check_command(events, "MemImageWrite", 5 * 3 * 8, "host to device");
    check_command(events, "MemImageRead", 7 * 8, "device to host");
    check_command(events, "MemImageFill", 2 * 2 * 8, "fill");
    const std::vector<json> copies = commands(events, "MemImageCopy");
    REQUIRE(copies.size() == 3);
    for (const json &copy : copies) {
        CHECK(copy["args"]["bytes"] == 3 * 4 * 8);
        CHECK(copy["args"]["route"] == "within the device");
    }
}

TEST_CASE("USM commands are traced with their bytes, and maps with the mapped bytes") {
    const loader_test::TemporaryFolder folder;
    const std::string file = folder.str("trace.json");
    {
        const Machine machine(traced(file));
        auto usm = pi::desc<pi_usm_desc>();
        usm.kind = PI_USM_SHARED;
        usm.size = 256;
        void *memory = nullptr;
        OK(piUsmAlloc(machine.context, machine.device, &usm, &memory));
        auto *const bytes = static_cast<unsigned char *>(memory);
        const unsigned char zero = 0;
        auto fill = pi::desc<pi_usm_fill_desc>();
        fill.pointer = bytes;
        fill.pattern = &zero;
        fill.pattern_size = 1;
        fill.size = 100;
        OK(piEnqueueUsmFill(machine.queue, &fill, 0, nullptr, nullptr));
        const std::vector<pi_region> regions = {linear(0, 0, 10), linear(20, 20, 30)};
        auto copy = between<pi_usm_copy_desc>(regions);
        copy.src = bytes;
        copy.dst = bytes + 128;
        OK(piEnqueueUsmCopy(machine.queue, &copy, 0, nullptr, nullptr));
        auto prefetch = pi::desc<pi_usm_prefetch_desc>();
        prefetch.flags = PI_USM_PREFETCH_TO_HOST;
        prefetch.pointer = bytes;
        prefetch.size = 64;
        OK(piEnqueueUsmPrefetch(machine.queue, &prefetch, 0, nullptr, nullptr));

        const pi_mem mem = machine.make_buffer(64);
        auto map = pi::desc<pi_buffer_map_desc>();
        map.flags = PI_MAP_READ | PI_COMMAND_BLOCKING;
        map.mem = mem;
        map.offset = 8;
        map.size = 16;
        void *pointer = nullptr;
        map.out_pointer = &pointer;
        OK(piEnqueueMemBufferMap(machine.queue, &map, 0, nullptr, nullptr));
        auto unmap = pi::desc<pi_unmap_desc>();
        unmap.mem = mem;
        unmap.pointer = pointer;
        OK(piEnqueueMemUnmap(machine.queue, &unmap, 0, nullptr, nullptr));
        OK(piQueueFinish(machine.queue));
        OK(piUsmFree(machine.context, memory));
        OK(piMemRelease(mem));
    }
    const std::vector<json> events = read_events(file);
    check_command(events, "UsmFill", 100, "fill");
    check_command(events, "UsmCopy", 40, "by address");
    check_command(events, "UsmPrefetch", 64, "prefetch to host");
    check_command(events, "MemBufferMap", 16, "map");
    const std::vector<json> unmaps = commands(events, "MemUnmap");
    REQUIRE(unmaps.size() == 1);
    CHECK_FALSE(unmaps[0]["args"].contains("bytes")); // it moves nothing beyond the map
}
