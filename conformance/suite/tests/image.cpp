// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images: creation, queries, and their pixels by reads and writes, compared with a plain byte
// array.

#include "image.hpp"

#include "checks.hpp"
#include "registry.hpp"

#include <cstddef>

namespace pi::suite {
namespace {

CONFORMANCE_TEST("image",
                 "a device with images has some format, and reports how large images can be") {
    const std::vector<pi_image_type> types = types_of(fixture);
    require(!types.empty(), "there is no format of any type");
    require_equal(info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_IMAGES, 1u), 1u,
                  "PI_DEVICE_INFO_IMAGES");
    const auto has = [&](pi_image_type type) {
        return std::find(types.begin(), types.end(), type) != types.end();
    };
    // Those with which the formats were found have been made.
    if (has(PI_IMAGE_2D)) {
        constexpr std::array<uint64_t, 2> made{4, 3};
        const auto flat =
            info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE, made);
        require(flat[0] >= made[0] && flat[1] >= made[1], "the largest 2-D image has ", flat[0],
                " x ", flat[1], " pixels");
    }
    if (has(PI_IMAGE_3D)) {
        constexpr Pixels made{4, 3, 2};
        const auto deep =
            info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, made);
        require(deep[0] >= made[0] && deep[1] >= made[1] && deep[2] >= made[2],
                "the largest 3-D image has ", deep[0], " x ", deep[1], " x ", deep[2], " pixels");
    }
}

CONFORMANCE_TEST("image",
                 "an image of every type and format returns the pixels that were written") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        for (const PixelFormat &format : formats_of(fixture, type)) {
            const pi_mem_image_desc desc = image_desc(
                type, format, {fixture.random(1, 40), fixture.random(1, 12), fixture.random(1, 5)});
            const Mem image = make_image(fixture, desc);
            const Bytes pixels = random_pixels(fixture, desc);
            image_upload(fixture, queue, image, desc, pixels);
            require_pixels(fixture, queue, image, desc, pixels, "what was written to an image");
        }
    }
}

CONFORMANCE_TEST("image", "a write of random regions of an image changes no other pixel") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc = random_image_desc(fixture, type);
        const uint64_t pixel = format_of(desc).size();
        const Mem image = make_image(fixture, desc);
        Bytes model = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, model);
        for (int round = 0; round < 12; ++round) {
            const Box box = random_box(fixture, extent_of(desc));
            const Rows host = random_linear(fixture, box.extent, pixel);
            Bytes from(host.end());
            const pi_mem_image_desc part = image_desc(PI_IMAGE_3D, format_of(desc), box.extent);
            move_rows(random_pixels(fixture, part), rows_of(part), from, host);
            const std::vector<pi_image_region> regions{image_region(box, host)};
            fixture.wait(fixture.enqueue(queue, image_write_desc(image, from.data(), regions)),
                         text_of(regions[0]));
            move_rows(from, host, model, rows_of(desc, box.origin, box.extent));
            require_pixels(fixture, queue, image, desc, model,
                           "an image after a write of " + text_of(regions[0]));
        }
    }
}

CONFORMANCE_TEST("image", "a read of random regions of an image changes no other host memory") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc = random_image_desc(fixture, type);
        const Mem image = make_image(fixture, desc);
        const Bytes model = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, model);
        for (int round = 0; round < 12; ++round) {
            const Box box = random_box(fixture, extent_of(desc));
            const Rows host = random_linear(fixture, box.extent, format_of(desc).size());
            Bytes into = fixture.random_bytes(host.end() + 32);
            Bytes expected = into;
            move_rows(model, rows_of(desc, box.origin, box.extent), expected, host);
            const std::vector<pi_image_region> regions{image_region(box, host)};
            fixture.wait(fixture.enqueue(queue, image_read_desc(image, into.data(), regions)),
                         text_of(regions[0]));
            require_same_bytes(
                into.data(), expected.data(), into.size(),
                join("host memory after a read of ", text_of(regions[0]), " of ", text_of(desc)));
        }
        require_pixels(fixture, queue, image, desc, model, "an image that was read");
    }
}

CONFORMANCE_TEST("image", "one command has many regions, which are copied during the call") {
    const pi_mem_image_desc desc = flat_image_desc(fixture, 64, 32);
    const uint64_t pixel = format_of(desc).size(), row = 64 * pixel;
    const Queue queue = fixture.make_queue();
    const Mem image = make_image(fixture, desc);
    const Bytes pixels = random_pixels(fixture, desc);
    image_upload(fixture, queue, image, desc, random_pixels(fixture, desc));
    Bytes into(pixels.size());
    // Rows in another order: the host's last is the image's first.
    std::vector<pi_image_region> write, read;
    Bytes expected(pixels.size());
    for (uint64_t y = 0; y < 32; ++y) {
        const Box line{{0, y, 0}, {64, 1, 1}};
        write.push_back(image_region(line, {(31 - y) * row, row, 1, 1, 0, 0}));
        read.push_back(image_region(line, {y * row, row, 1, 1, 0, 0}));
        move_rows(pixels, {(31 - y) * row, row, 1, 1, row, row}, expected,
                  {y * row, row, 1, 1, row, row});
    }
    const Event gate = fixture.make_host_event();
    fixture.enqueue(queue, image_write_desc(image, pixels.data(), write), {gate});
    const Event done = fixture.enqueue(queue, image_read_desc(image, into.data(), read));
    for (std::vector<pi_image_region> *regions : {&write, &read}) {
        std::fill(regions->begin(), regions->end(), image_region({{}, {1, 1, 1}}));
        regions->clear();
        regions->shrink_to_fit();
    }
    fixture.signal(gate);
    fixture.wait(done, "a read of 32 regions");
    require_same_bytes(into.data(), expected.data(), into.size(), "rows that changed places");
}

CONFORMANCE_TEST("image", "0 rows or slices mean 1, and pitches of 0 mean dense") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc = random_image_desc(fixture, type);
        const Mem image = make_image(fixture, desc);
        Bytes model = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, model);
        Box box = random_box(fixture, extent_of(desc));
        box.extent[1] = box.extent[2] = 0;
        const std::vector<pi_image_region> regions{image_region(box)};
        box.extent[1] = box.extent[2] = 1;
        const Rows line = rows_of(desc, box.origin, box.extent);
        Bytes into(line.row), expected(line.row);
        fixture.wait(fixture.enqueue(queue, image_read_desc(image, into.data(), regions)),
                     "a read of 0 rows and slices");
        move_rows(model, line, expected, {0, line.row, 1, 1, line.row, line.row});
        require_same_bytes(into.data(), expected.data(), into.size(), "a line of " + text_of(desc));
        // The same as a write, with pitches that nothing steps over.
        std::vector<pi_image_region> unused = regions;
        unused[0].row_pitch = unused[0].slice_pitch = UINT64_MAX;
        const Bytes pixels = random_pixels(fixture, desc);
        move_rows(pixels, line, into, {0, line.row, 1, 1, line.row, line.row});
        move_rows(pixels, line, model, line);
        fixture.wait(fixture.enqueue(queue, image_write_desc(image, into.data(), unused)),
                     "a write of 0 rows and slices");
        require_pixels(fixture, queue, image, desc, model, text_of(desc) + " with a new line");
    }
}

// ----- What they are made with -----

// Host memory with the image in it, at pitches of its own.
struct Picture {
    pi_mem_image_desc desc;
    Rows rows;
    Bytes bytes;
    Bytes dense;

    Picture(Fixture &fixture, pi_image_type type, bool pitches, uint64_t flags)
        : desc(random_image_desc(fixture, type)), rows(rows_of(desc)),
          dense(random_pixels(fixture, desc)) {
        const uint64_t pixel = format_of(desc).size();
        if (pitches) {
            rows.row_pitch += pixel * fixture.random(0, 5);
            rows.slice_pitch = rows.row_pitch * (rows.rows + fixture.random(0, 3));
            desc.row_pitch = rows.row_pitch;
            if (type != PI_IMAGE_1D && type != PI_IMAGE_2D)
                desc.slice_pitch = rows.slice_pitch;
        }
        // The whole of each slice, as some drivers read them.
        bytes = fixture.random_bytes(rows.slice_pitch * rows.slices);
        move_rows(dense, rows_of(desc), bytes, rows);
        desc.flags = flags;
        desc.host_ptr = bytes.data();
    }
};

CONFORMANCE_TEST("image", "an image begins with the pixels that host_ptr has during the call") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        for (const bool pitches : {false, true}) {
            Picture picture(fixture, type, pitches, PI_MEM_COPY_HOST_PTR);
            const Mem image = make_image(fixture, picture.desc);
            const Bytes before = picture.bytes;
            std::fill(picture.bytes.begin(), picture.bytes.end(), std::byte{0x77});
            require_pixels(fixture, queue, image, picture.desc, picture.dense,
                           pitches ? "an image made of pixels with pitches"
                                   : "an image made of pixels");
            image_upload(fixture, queue, image, picture.desc, random_pixels(fixture, picture.desc));
            for (const std::byte byte : picture.bytes)
                require(byte == std::byte{0x77}, "a write has changed memory that was copied");
        }
    }
}

CONFORMANCE_TEST("image", "an image over host memory has its pixels, and can be written") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        for (const bool pitches : {false, true}) {
            const Picture picture(fixture, type, pitches, PI_MEM_USE_HOST_PTR);
            const Mem image = make_image(fixture, picture.desc);
            require_pixels(fixture, queue, image, picture.desc, picture.dense,
                           "an image over host memory");
            require_equal(get_info<uint64_t>(&piMemGetInfo, image.get(), PI_MEM_INFO_SIZE),
                          uint64_t{picture.dense.size()}, "the size of an image over host memory");
            const Bytes others = random_pixels(fixture, picture.desc);
            image_upload(fixture, queue, image, picture.desc, others);
            require_pixels(fixture, queue, image, picture.desc, others,
                           "what was written to an image over host memory");
            // The last slice alone, behind whatever lies between slices.
            const Pixels extent = extent_of(picture.desc);
            Bytes last(others.size() / extent[2]);
            pi_image_region region{};
            region.origin[2] = extent[2] - 1;
            region.extent[0] = extent[0];
            region.extent[1] = extent[1];
            auto read = pi::desc<pi_image_read_desc>();
            read.image = image;
            read.host_ptr = last.data();
            read.region_count = 1;
            read.regions = &region;
            fixture.wait(fixture.enqueue(queue, read));
            require_same_bytes(last.data(), others.data() + others.size() - last.size(),
                               last.size(), "the last slice of an image over host memory");
        }
    }
}

CONFORMANCE_TEST("image", "requirements on an image's memory hold, or it is refused") {
    for (const uint64_t demand : {PI_MEM_REQUIRE_PINNED, PI_MEM_REQUIRE_CONTIGUOUS}) {
        pi_mem_image_desc desc = any_image_desc(fixture);
        desc.flags = demand;
        Mem image;
        const pi_result result =
            piMemImageCreate(fixture.context(), fixture.device(), &desc, image.out());
        if (result != PI_SUCCESS) {
            require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "an image with a demand");
            continue;
        }
        require_equal(get_info<uint64_t>(&piMemGetInfo, image.get(), PI_MEM_INFO_FLAGS), demand,
                      "PI_MEM_INFO_FLAGS");
        const Queue queue = fixture.make_queue();
        const Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        require_pixels(fixture, queue, image, desc, pixels, "an image with a demand");
    }
}

CONFORMANCE_TEST("image",
                 "a requirement that a scope does not support is refused for images, too") {
    need_images(fixture);
    const std::vector<pi_memory_scope> scopes = fixture.scopes();
    for (uint32_t scope = 0; scope < scopes.size(); ++scope) {
        for (const auto &[demand, scope_flag] :
             {std::pair{PI_MEM_REQUIRE_CONTIGUOUS, PI_SCOPE_CONTIGUOUS},
              std::pair{PI_MEM_REQUIRE_PINNED, PI_SCOPE_PINNED}}) {
            if ((scopes[scope].flags & scope_flag) != 0)
                continue;
            pi_mem_image_desc desc = any_image_desc(fixture);
            desc.flags = demand;
            desc.scope = scope;
            require_untouched<pi_mem>(join("an image of scope ", scope, " with flags ", demand),
                                      {PI_ERROR_UNSUPPORTED_FEATURE}, [&](pi_mem *out) {
                                          return piMemImageCreate(fixture.context(),
                                                                  fixture.device(), &desc, out);
                                      });
        }
    }
}

CONFORMANCE_TEST("image", "an image reports what it was created with") {
    for (const pi_image_type type : types_of(fixture)) {
        for (const uint64_t flags :
             std::initializer_list<uint64_t>{0, PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY}) {
            if (formats_of(fixture, type, flags).empty())
                continue;
            pi_mem_image_desc desc = image_desc(type, formats_of(fixture, type, flags).front(),
                                                {fixture.random(1, 60), fixture.random(1, 20), 3});
            desc.flags = flags;
            const Mem image = make_image(fixture, desc);
            const auto word = [&](pi_mem_info name) {
                return get_info<uint64_t>(&piMemGetInfo, image.get(), name);
            };
            require_equal(word(PI_MEM_INFO_SIZE), size_of(desc), "the size of ", text_of(desc));
            require_equal(word(PI_MEM_INFO_FLAGS), flags, "PI_MEM_INFO_FLAGS");
            require_equal(word(PI_MEM_INFO_OFFSET), 0u, "PI_MEM_INFO_OFFSET");
            require_equal(get_info<pi_context>(&piMemGetInfo, image.get(), PI_MEM_INFO_CONTEXT),
                          fixture.context(), "PI_MEM_INFO_CONTEXT");
            require_equal(get_info<pi_device>(&piMemGetInfo, image.get(), PI_MEM_INFO_DEVICE),
                          fixture.device(), "PI_MEM_INFO_DEVICE");
            require_equal(get_info<uint32_t>(&piMemGetInfo, image.get(), PI_MEM_INFO_SCOPE), 0u,
                          "PI_MEM_INFO_SCOPE");
            require_equal(get_info<pi_mem>(&piMemGetInfo, image.get(), PI_MEM_INFO_PARENT),
                          pi_mem{nullptr}, "PI_MEM_INFO_PARENT");
            require_equal(get_info<pi_memory_kind>(&piMemGetInfo, image.get(), PI_MEM_INFO_KIND),
                          pi_memory_kind{PI_MEMORY_KIND_IMAGE}, "PI_MEM_INFO_KIND");
            check_info(
                "piMemGetInfo of " + text_of(desc),
                [&](uint32_t name, uint64_t size, void *value, uint64_t *out_size) {
                    return piMemGetInfo(image, name, size, value, out_size);
                },
                mem_info_names());
        }
    }
}

CONFORMANCE_TEST(
    "image", "an image's pitches, if it reports them, lead from row to row and slice to slice") {
    for (const pi_image_type type : types_of(fixture)) {
        const Picture picture(fixture, type, true, PI_MEM_USE_HOST_PTR);
        for (const bool borrowed : {false, true}) {
            pi_mem_image_desc desc = picture.desc;
            if (!borrowed) {
                desc.flags = desc.row_pitch = desc.slice_pitch = 0;
                desc.host_ptr = nullptr;
            }
            const Mem image = make_image(fixture, desc);
            uint64_t size = 0;
            if (piMemGetInfo(image, PI_MEM_INFO_PITCHES, 0, nullptr, &size) != PI_SUCCESS)
                skip("images of the plugin do not report pitches");
            const auto pitches =
                get_info_list<uint64_t>(&piMemGetInfo, image.get(), PI_MEM_INFO_PITCHES);
            const Pixels extent = extent_of(desc);
            const bool rows = desc.height != 0, slices = desc.depth != 0 || desc.array_size != 0;
            require_equal(pitches.size(), 1u + rows + slices, "the axes with a pitch of ",
                          text_of(desc));
            require_equal(pitches.back(), format_of(desc).size(), "the pitch of a pixel");
            if (borrowed && rows)
                require_equal(pitches[slices], desc.row_pitch, "the pitch of rows of host memory");
            if (borrowed && slices)
                require_equal(pitches[0], desc.slice_pitch, "the pitch of slices of host memory");
            if (rows)
                require(pitches[slices] >= extent[0] * pitches.back(), "rows of ", pitches[slices],
                        " bytes are too near to each other");
            if (slices)
                require(pitches[0] >= extent[1] * extent[0] * pitches.back(), "slices of ",
                        pitches[0], " bytes are too near to each other");
        }
    }
}

CONFORMANCE_TEST("image", "an image's descriptor obeys the rules of descriptors") {
    const pi_mem_image_desc valid = any_image_desc(fixture);
    check_descriptor("piMemImageCreate", valid, offsetof(pi_mem_image_desc, flags),
                     [&](const pi_mem_image_desc *desc) {
                         return try_create<pi_mem>([&](pi_mem *out) {
                             return piMemImageCreate(fixture.context(), fixture.device(), desc,
                                                     out);
                         });
                     });
    require_error(piMemImageCreate(fixture.context(), fixture.device(), &valid, nullptr),
                  PI_ERROR_INVALID_NULL_POINTER, "piMemImageCreate with out_mem NULL");
}

CONFORMANCE_TEST("image", "an image may be made, used and released by many threads at once") {
    const pi_mem_image_desc desc = any_image_desc(fixture, 16, 16);
    std::vector<Bytes> pixels;
    std::vector<Queue> queues;
    for (int i = 0; i < 6; ++i) {
        pixels.push_back(random_pixels(fixture, desc));
        queues.push_back(fixture.make_queue());
    }
    fixture.run_threads(6, [&](unsigned thread) {
        for (int i = 0; i < 20; ++i) {
            const Mem image = make_image(fixture, desc);
            image_upload(fixture, queues[thread], image, desc, pixels[thread]);
            require_pixels(fixture, queues[thread], image, desc, pixels[thread],
                           "an image of one thread among several");
        }
    });
}

CONFORMANCE_TEST("image", "each level of an image has pixels of its own, where it has several") {
    need_images(fixture);
    pi_mem_image_desc desc = any_image_desc(fixture, 8, 8);
    desc.mip_levels = 2;
    Mem image;
    const pi_result result =
        piMemImageCreate(fixture.context(), fixture.device(), &desc, image.out());
    if (result == PI_ERROR_UNSUPPORTED_FEATURE)
        skip("the device has no images of two levels");
    require_success(result, "piMemImageCreate of two levels");
    const Queue queue = fixture.make_queue();
    const uint64_t pixel = format_of(desc).size();
    const Bytes pixels[] = {fixture.random_bytes(64 * pixel), fixture.random_bytes(16 * pixel)};
    for (uint32_t level = 0; level < 2; ++level) {
        std::vector<pi_image_region> all{image_region({{}, {8u >> level, 8u >> level, 1}})};
        all[0].mip_level = level;
        fixture.wait(fixture.enqueue(queue, image_write_desc(image, pixels[level].data(), all)));
    }
    for (uint32_t level = 0; level < 2; ++level) {
        Bytes read(pixels[level].size());
        std::vector<pi_image_region> all{image_region({{}, {8u >> level, 8u >> level, 1}})};
        all[0].mip_level = level;
        fixture.wait(fixture.enqueue(queue, image_read_desc(image, read.data(), all)));
        require_same_bytes(read.data(), pixels[level].data(), read.size(),
                           join("level ", level, " of an image"));
    }
}

} // namespace
} // namespace pi::suite
