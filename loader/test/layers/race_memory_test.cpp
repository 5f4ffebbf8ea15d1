// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer race (race.hpp) on maps, images and USM copies.

#include "race.hpp"

using namespace layer_test;

namespace {

/// Maps the first half; the pointer is written once the event has ended.
pi_event map(pi_queue queue, pi_mem mem, uint64_t flags, void **out_pointer) {
    auto desc = pi::desc<pi_buffer_map_desc>();
    desc.flags = flags;
    desc.mem = mem;
    desc.size = 32;
    desc.out_pointer = out_pointer;
    pi_event event = nullptr;
    OK(piEnqueueMemBufferMap(queue, &desc, 0, nullptr, &event));
    return event;
}

pi_event unmap(pi_queue queue, pi_mem mem, void *pointer, std::vector<pi_event> waits = {}) {
    auto desc = pi::desc<pi_unmap_desc>();
    desc.mem = mem;
    desc.pointer = pointer;
    pi_event event = nullptr;
    OK(piEnqueueMemUnmap(queue, &desc, static_cast<uint32_t>(waits.size()), waits.data(), &event));
    return event;
}

struct Box {
    uint64_t x, y, width, height;
};

/// An image with pixels of one byte, and commands on its boxes; host memory has space for 16 x 16.
struct Image {
    RaceBench &bench;
    pi_mem mem = nullptr;
    Bytes bytes = Bytes(16 * 16);  // target of reads on the first queue
    Bytes others = Bytes(16 * 16); // target of reads on the second queue
    Bytes pixels = Bytes(16 * 16); // source of writes

    explicit Image(RaceBench &of, uint64_t width = 16, uint64_t height = 16) : bench(of) {
        auto desc = pi::desc<pi_mem_image_desc>();
        desc.image_type = PI_IMAGE_2D;
        desc.channel_order = PI_CHANNEL_ORDER_R;
        desc.channel_type = PI_CHANNEL_UINT8;
        desc.width = width;
        desc.height = height;
        OK(piMemImageCreate(of.machine.context, of.machine.device, &desc, &mem));
    }
    ~Image() {
        piQueueFinish(bench.queues[0]);
        piQueueFinish(bench.queues[1]);
        piMemRelease(mem);
    }
    void fill(pi_queue queue, Box box) {
        const uint32_t color[4] = {};
        auto desc = pi::desc<pi_image_fill_desc>();
        desc.image = mem;
        desc.color = color;
        set(desc.origin, desc.extent, box);
        OK(piEnqueueMemImageFill(queue, &desc, 0, nullptr, nullptr));
    }
    void read(pi_queue queue, Box box) {
        const pi_image_region region = region_of(box);
        auto desc = pi::desc<pi_image_read_desc>();
        desc.image = mem;
        desc.host_ptr = queue == bench.queues[0] ? bytes.data() : others.data();
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueMemImageRead(queue, &desc, 0, nullptr, nullptr));
    }
    void write(pi_queue queue, Box box) {
        const pi_image_region region = region_of(box);
        auto desc = pi::desc<pi_image_write_desc>();
        desc.image = mem;
        desc.host_ptr = pixels.data();
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueMemImageWrite(queue, &desc, 0, nullptr, nullptr));
    }
    void copy_to(pi_queue queue, Box box, pi_mem dst) {
        pi_image_copy_region region{};
        set(region.src_origin, region.extent, box);
        auto desc = pi::desc<pi_image_copy_desc>();
        desc.src = mem;
        desc.dst = dst;
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueMemImageCopy(queue, &desc, 0, nullptr, nullptr));
    }

private:
    static void set(uint64_t (&origin)[3], uint64_t (&extent)[3], Box box) {
        origin[0] = box.x, origin[1] = box.y;
        extent[0] = box.width, extent[1] = box.height;
    }
    static pi_image_region region_of(Box box) {
        pi_image_region region{};
        set(region.origin, region.extent, box);
        return region;
    }
};

} // namespace

TEST_CASE("maps for reading do not race with each other or with their unmaps") {
    RaceBench bench;
    void *first = nullptr, *second = nullptr;
    const pi_event mapped = map(bench.queues[0], bench.mem, PI_MAP_READ, &first);
    const pi_event read = map(bench.queues[1], bench.mem, PI_MAP_READ, &second);
    OK(piEventWait(mapped, patience));
    OK(piEventWait(read, patience));
    drop({mapped, read, unmap(bench.queues[0], bench.mem, first),
          unmap(bench.queues[1], bench.mem, second)});
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
}

TEST_CASE("a map for writing writes its range, and so does its unmap") {
    RaceBench bench;
    void *pointer = nullptr;
    const pi_event mapped = map(bench.queues[0], bench.mem, PI_MAP_WRITE, &pointer);
    const pi_event apart = fill(bench.queues[1], bench.mem, 32, 32);
    CHECK(bench.races() == 0);
    OK(piEventWait(mapped, patience));
    const pi_event behind = fill(bench.queues[1], bench.mem, 0, 8, {mapped});
    INFO(bench.log.all());
    CHECK(bench.races() == 0); // the unmap is not enqueued yet
    SECTION("unordered with the command in between") {
        drop({unmap(bench.queues[0], bench.mem, pointer)});
        CHECK(bench.races() == 1);
        CHECK(bench.log.count("bytes 0 to 7 of mem 0x") == 1);
    }
    SECTION("ordered after the command in between") {
        drop({unmap(bench.queues[0], bench.mem, pointer, {behind})});
        CHECK(bench.races() == 0);
    }
    drop({mapped, apart, behind});
}

TEST_CASE("boxes of an image race where they meet, and only if one is written") {
    RaceBench bench;
    Image image(bench);
    image.fill(bench.queues[0], {0, 0, 8, 8});
    image.fill(bench.queues[1], {8, 0, 8, 8}); // next to it, in the same rows
    image.fill(bench.queues[1], {0, 8, 8, 8}); // below it
    CHECK(bench.races() == 0);
    image.read(bench.queues[1], {7, 7, 2, 2});
    INFO(bench.log.all());
    CHECK(bench.races() == 1); // one corner
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));

    image.read(bench.queues[0], {0, 0, 16, 16});
    image.read(bench.queues[1], {0, 0, 16, 16});
    CHECK(bench.races() == 1);
    image.write(bench.queues[1], {15, 15, 1, 1});
    CHECK(bench.races() == 2);
}

TEST_CASE("rows of a very wide image are apart, each to its end") {
    RaceBench bench;
    constexpr uint64_t width = (1 << 20) + 64;
    Image image(bench, width, 2);
    image.fill(bench.queues[0], {width - 64, 0, 64, 1});
    image.fill(bench.queues[1], {0, 1, 64, 1});
    INFO(bench.log.all());
    CHECK(bench.races() == 0);
    image.fill(bench.queues[1], {width - 1, 0, 1, 2});
    CHECK(bench.races() == 1);
}

TEST_CASE("a copy of an image reads one and writes the other") {
    RaceBench bench;
    Image image(bench), other(bench);
    image.read(bench.queues[0], {0, 0, 4, 4});
    other.read(bench.queues[0], {8, 8, 4, 4});
    image.copy_to(bench.queues[1], {0, 0, 4, 4}, other.mem);
    CHECK(bench.races() == 0); // the other's box is at its begin
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    other.read(bench.queues[0], {0, 0, 4, 4});
    image.copy_to(bench.queues[1], {8, 8, 4, 4}, other.mem);
    INFO(bench.log.all());
    CHECK(bench.races() == 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    image.write(bench.queues[0], {8, 8, 1, 1});
    image.copy_to(bench.queues[1], {8, 8, 4, 4}, other.mem);
    CHECK(bench.races() == 2);
}

TEST_CASE("a USM copy reads one allocation and writes the other") {
    RaceBench bench;
    auto usm = pi::desc<pi_usm_desc>();
    usm.kind = PI_USM_SHARED;
    usm.size = 64;
    void *first = nullptr, *second = nullptr;
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &first));
    OK(piUsmAlloc(bench.machine.context, bench.machine.device, &usm, &second));
    const auto copy_usm = [&](pi_queue queue, const void *src, void *dst) {
        const pi_region region = linear(0, 0, 64);
        auto desc = pi::desc<pi_usm_copy_desc>();
        desc.src = src;
        desc.dst = dst;
        desc.region_count = 1;
        desc.regions = &region;
        OK(piEnqueueUsmCopy(queue, &desc, 0, nullptr, nullptr));
    };
    Bytes host(64), apart(64);
    copy_usm(bench.queues[0], first, host.data());
    copy_usm(bench.queues[1], first, apart.data());
    CHECK(bench.races() == 0);
    copy_usm(bench.queues[1], first, second);
    CHECK(bench.races() == 0);
    copy_usm(bench.queues[0], second, first);
    INFO(bench.log.all());
    CHECK(bench.races() >= 1);
    OK(piQueueFinish(bench.queues[0]));
    OK(piQueueFinish(bench.queues[1]));
    OK(piUsmFree(bench.machine.context, first));
    OK(piUsmFree(bench.machine.context, second));
}
