// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The number of driver calls of a command, counted by a layer (plugins/opencl/simulator/counter).
#include "fixture.hpp"
#include "image.hpp"
#include "layers.hpp"
#include "quirks.hpp"
#include "skip.hpp"

using namespace opencl_test;

namespace {

/// Copies and fills of any kind that the body enqueues.
template <class Body>
uint64_t copies_of(const Body &body) {
    const auto now = [] {
        uint64_t sum = 0;
        for (const char *name :
             {"clEnqueueCopyBuffer", "clEnqueueCopyBufferRect", "clEnqueueCopyBufferToImage",
              "clEnqueueCopyImageToBuffer", "clEnqueueFillBuffer", "clEnqueueReadBufferRect",
              "clEnqueueSVMMemcpy", "clEnqueueWriteBuffer", "clEnqueueWriteBufferRect"})
            sum += calls(name);
        return sum;
    };
    const uint64_t before = now();
    body();
    return now() - before;
}

pi_region rectangle(uint64_t row, uint64_t rows, uint64_t slices, uint64_t row_pitch,
                    uint64_t slice_pitch = 0) {
    pi_region region{};
    region.extent[0] = row;
    region.extent[1] = rows;
    region.extent[2] = slices;
    region.src_pitch[0] = region.dst_pitch[0] = row_pitch;
    region.src_pitch[1] = region.dst_pitch[1] = slice_pitch;
    return region;
}

uint64_t at(const uint64_t (&pitch)[2], const pi_region &region, uint64_t row, uint64_t slice) {
    const uint64_t row_pitch = pitch[0] ? pitch[0] : region.extent[0];
    return row * row_pitch + slice * (pitch[1] ? pitch[1] : row_pitch * region.extent[1]);
}

/// The expected destination of a copy.
std::vector<uint8_t> copied(const std::vector<uint8_t> &src, std::vector<uint8_t> dst,
                            const pi_region &region) {
    for (uint64_t slice = 0; slice < region.extent[2]; ++slice)
        for (uint64_t row = 0; row < region.extent[1]; ++row)
            for (uint64_t byte = 0; byte < region.extent[0]; ++byte)
                dst[region.dst_offset + at(region.dst_pitch, region, row, slice) + byte] =
                    src[region.src_offset + at(region.src_pitch, region, row, slice) + byte];
    return dst;
}

constexpr uint64_t size = 64 * 1024;

} // namespace

TEST_CASE("rectangles between two buffers are one call, or as few as they have rows or slices",
          "[.calls]") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem src = place.buffer(size), dst = place.buffer(size);
        const auto copy_counted = [&](const pi_region &region) {
            const auto from = random.bytes(size), to = random.bytes(size);
            set_contents(place.queue, src, from);
            set_contents(place.queue, dst, to);
            const uint64_t seen = copies_of([&] { wait(copy(place.queue, src, dst, {region})); });
            CHECK(contents(place.queue, dst) == copied(from, to, region));
            return seen;
        };
        CHECK(copy_counted(rectangle(1, 4000, 1, 8)) == 1);
        CHECK(copy_counted(rectangle(3, 5, 100, 8, 80)) == 1);
        CHECK(copy_counted(rectangle(3, 1, 100, 0, 81)) == 1);
        // Slices that are not whole rows.
        CHECK(copy_counted(rectangle(3, 2, 1000, 8, 21)) == 2);
        CHECK(copy_counted(rectangle(3, 1000, 2, 8, 8001)) == 2);
    }
}

TEST_CASE("rectangles within one buffer are one call, or go through another buffer", "[.calls]") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    for (pi_device device : loader.devices()) {
        for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
            INFO(name_of(device));
            const Place place(device, flags);
            const Mem mem = place.buffer(size);
            const auto copy_counted = [&](const pi_region &region) {
                const auto before = random.bytes(size);
                set_contents(place.queue, mem, before);
                const uint64_t seen =
                    copies_of([&] { wait(copy(place.queue, mem, mem, {region})); });
                CHECK(contents(place.queue, mem) == copied(before, before, region));
                return seen;
            };
            pi_region apart = rectangle(1, 4000, 1, 8);
            apart.dst_offset = 32'000;
            CHECK(copy_counted(apart) == 1);
            pi_region between = rectangle(1, 4000, 1, 8); // in the gaps of the rows
            between.dst_offset = 4;
            CHECK(copy_counted(between) <= 3);
            pi_region other_pitch = apart;
            other_pitch.src_pitch[0] = 7;
            CHECK(copy_counted(other_pitch) == 2);
            pi_region odd = rectangle(3, 2, 1000, 8, 21);
            odd.dst_offset = 22'000;
            CHECK(copy_counted(odd) <= 4);
        }
    }
}

TEST_CASE("rows of a buffer to and from an image are one call, or two through another buffer",
          "[.calls]") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    struct Pitches {
        uint64_t row, slice, most;
    };
    constexpr Size3 extent{6, 50, 4}; // rows of 24 bytes
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem image = make_image(place.context, device, image_desc(PI_IMAGE_3D, extent));
        for (const auto &[row, slice, most] :
             {Pitches{24, 1200, 1}, {40, 2000, 2}, {24, 1300, 4}, {29, 1501, 5}}) {
            const Mem src = place.buffer(size), dst = place.buffer(size);
            const auto from = random.bytes(size), to = random.bytes(size);
            set_contents(place.queue, src, from);
            set_contents(place.queue, dst, to);
            pi_image_copy_region region{};
            std::copy(extent.begin(), extent.end(), region.extent);
            region.buffer_offset = 12;
            region.buffer_row_pitch = row;
            region.buffer_slice_pitch = slice;
            auto desc = pi::desc<pi_image_copy_desc>();
            desc.flags = PI_COMMAND_BLOCKING;
            desc.region_count = 1;
            desc.regions = &region;
            for (const bool reads : {false, true}) {
                desc.src = reads ? pi_mem(image) : src;
                desc.dst = reads ? dst : pi_mem(image);
                const uint64_t seen = copies_of(
                    [&] { OK(piEnqueueMemImageCopy(place.queue, &desc, 0, nullptr, nullptr)); });
                CHECK(seen <= most);
            }
            pi_region bytes = rectangle(24, extent[1], extent[2], row, slice);
            bytes.src_offset = bytes.dst_offset = region.buffer_offset;
            CHECK(contents(place.queue, dst) == copied(from, to, bytes));
        }
    }
}

TEST_CASE("a fill of a part of a view's rows is two calls, and so is one at an odd offset",
          "[.calls]") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    for (pi_device device : loader.devices()) {
        INFO(name_of(device));
        const Place place(device);
        const Mem buffer = place.buffer(size);
        auto before = random.bytes(size);
        set_contents(place.queue, buffer, before);
        const auto desc = image_desc(PI_IMAGE_2D, {64, 100, 0});
        Mem view;
        if (piMemImageViewCreate(buffer, &desc, view.out()) == PI_SUCCESS) {
            const uint32_t color[] = {1, 2, 3, 4};
            auto fill = pi::desc<pi_image_fill_desc>();
            fill.flags = PI_COMMAND_BLOCKING;
            fill.image = view;
            fill.color = color;
            fill.origin[0] = 3;
            fill.extent[0] = 5;
            fill.extent[1] = 100;
            CHECK(copies_of([&] {
                      OK(piEnqueueMemImageFill(place.queue, &fill, 0, nullptr, nullptr));
                  }) == 2);
            for (uint64_t y = 0; y < 100; ++y)
                for (uint64_t x = 0; x < 20; ++x)
                    before[y * 256 + 12 + x] = static_cast<uint8_t>(color[x % 4]);
            CHECK(contents(place.queue, buffer) == before);
        }
        // A view may begin at an offset that is not a multiple of the pattern.
        const uint64_t begin = scope_of(device).offset_alignment;
        const Mem odd = make_view(buffer, begin, size - begin);
        const std::vector<uint8_t> pattern = random.bytes(128);
        auto fill = pi::desc<pi_buffer_fill_desc>();
        fill.flags = PI_COMMAND_BLOCKING;
        fill.mem = odd;
        fill.size = 128 * 100;
        fill.pattern = pattern.data();
        fill.pattern_size = pattern.size();
        CHECK(copies_of([&] {
                  OK(piEnqueueMemBufferFill(place.queue, &fill, 0, nullptr, nullptr));
              }) <= 2);
        for (uint64_t i = 0; i < fill.size; ++i)
            before[begin + i] = pattern[i % 128];
        CHECK(contents(place.queue, buffer) == before);
    }
}

TEST_CASE("rectangles of USM are one call, at either end and within one allocation", "[.calls]") {
    Loader loader;
    Random random;
    INFO("seed " << random.seed());
    for (pi_device device : loader.devices()) {
        if (!has_usm(device))
            continue;
        INFO(name_of(device));
        const Place place(device);
        auto desc = pi::desc<pi_usm_desc>();
        desc.kind = PI_USM_DEVICE;
        desc.size = size;
        std::vector<void *> usm(2);
        for (void *&pointer : usm)
            OK(piUsmAlloc(place.context, device, &desc, &pointer));
        std::vector<uint8_t> host(size);
        const auto move = [&](const void *src, void *dst, const pi_region &region) {
            auto copy = pi::desc<pi_usm_copy_desc>();
            copy.src = src;
            copy.dst = dst;
            copy.regions = &region;
            copy.region_count = 1;
            Event event;
            OK(piEnqueueUsmCopy(place.queue, &copy, 0, nullptr, event.out()));
            wait(event);
        };
        const auto bytes_at = [&](const void *pointer) {
            if (pointer == host.data())
                return host;
            std::vector<uint8_t> bytes(size);
            move(pointer, bytes.data(), range(0, 0, size));
            return bytes;
        };
        for (void *src : {usm[0], usm[1], static_cast<void *>(host.data())})
            for (void *dst : {usm[0], static_cast<void *>(host.data())}) {
                if (src == host.data() && dst == src)
                    continue;
                pi_region region = rectangle(1, 2000, 2, 8, 16'000);
                region.dst_offset = 32'000;
                const auto from = random.bytes(size), to = src == dst ? from : random.bytes(size);
                for (auto &[pointer, bytes] : {std::pair{src, &from}, std::pair{dst, &to}})
                    if (pointer == host.data())
                        std::copy(bytes->begin(), bytes->end(), host.begin());
                    else
                        move(bytes->data(), pointer, range(0, 0, size));
                CHECK(copies_of([&] { move(src, dst, region); }) == 1);
                CHECK(bytes_at(dst) == copied(from, to, region));
            }
        for (void *pointer : usm)
            OK(piUsmFree(place.context, pointer));
    }
}

TEST_CASE("a command with many regions never has more than some thousand driver commands pending",
          "[.calls]") {
    Loader loader;
    for (pi_device device : loader.devices()) {
        for (const uint64_t flags : {uint64_t{0}, uint64_t{PI_QUEUE_OUT_OF_ORDER}}) {
            INFO(name_of(device));
            const Place place(device, flags);
            constexpr uint64_t count = 10'000;
            const Mem src = place.buffer(2 * count), dst = place.buffer(2 * count);
            std::vector<uint8_t> bytes(2 * count), expected(2 * count, 0);
            std::vector<pi_region> regions;
            for (uint64_t i = 0; i < count; ++i) {
                bytes[2 * i] = static_cast<uint8_t>(i % 251);
                expected[2 * i + 1] = bytes[2 * i];
                regions.push_back(range(2 * i, 2 * i + 1, 1));
            }
            set_contents(place.queue, src, bytes);
            set_contents(place.queue, dst, std::vector<uint8_t>(2 * count, 0));
            const uint64_t before = calls("clWaitForEvents");
            const Event event = copy(place.queue, src, dst, regions);
            CHECK(calls("clWaitForEvents") - before > 0); // before the call returns
            wait(event);
            CHECK(contents(place.queue, dst) == expected);
        }
    }
}

TEST_CASE("a blocking write or read of an idle queue is one call of the driver", "[.calls]") {
    Loader loader;
    bool any = false;
    for (pi_device device : loader.devices()) {
        // Theirs are explained in the table of quirks.
        if (platform_name_of(device) == pocl || platform_name_of(device) == "rusticl")
            continue;
        any = true;
        INFO(name_of(device));
        const Place place(device);
        const Mem mem = place.buffer(64);
        std::vector<uint8_t> bytes(64, 7), seen(64);
        How blocking;
        blocking.blocking = true;
        for (int round = 0; round < 3; ++round) {
            auto desc = pi::desc<pi_buffer_write_desc>();
            desc.flags = PI_COMMAND_BLOCKING;
            desc.mem = mem;
            desc.host_ptr = bytes.data();
            const pi_region region = range(0, 0, 64);
            desc.regions = &region;
            desc.region_count = 1;
            const uint64_t before = calls("");
            OK(piEnqueueMemBufferWrite(place.queue, &desc, 0, nullptr, nullptr));
            CHECK(calls("") - before == 1);
        }
        CHECK(contents(place.queue, mem) == bytes);
    }
    if (!any)
        pi_test::skip("no driver has blocking calls that are used");
}
