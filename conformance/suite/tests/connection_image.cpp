// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Connections of images, which piGetMemoryConnectionInfo reports.

#include "checks.hpp"
#include "image.hpp"
#include "image_kernels.hpp"
#include "link.hpp"
#include "registry.hpp"

#include <cstring>

namespace pi::suite {
namespace {

pi_memory_connection image_connection(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE", fixture.src().device);
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE", fixture.dst().device);
    auto query = pi::desc<pi_memory_connection_query>();
    query.kind = PI_MEMORY_KIND_IMAGE;
    return connection_info(fixture.src(), fixture.dst(), &query).connection;
}

// An image of a type and format that both devices support.
pi_mem_image_desc common_image_desc(Fixture &fixture) {
    for (const pi_image_type type : all_image_types) {
        const std::vector<PixelFormat> theirs = formats_of(fixture.dst(), type);
        for (const PixelFormat &format : formats_of(fixture.src(), type))
            if (std::find(theirs.begin(), theirs.end(), format) != theirs.end())
                return image_desc(type, format, {20, 10, 2});
    }
    skip("the devices have no format of images in common");
}

// An image at src and one at dst, and a queue of each.
struct Ends {
    Fixture &fixture;
    pi_mem_image_desc desc;
    Bytes pixels, own_pixels;
    Mem image, own;
    Queue src_queue, queue;

    explicit Ends(Fixture &on)
        : fixture(on), desc(common_image_desc(on)), pixels(random_pixels(on, desc)),
          own_pixels(random_pixels(on, desc)), image(make_image(on.src(), desc)),
          own(make_image(on.dst(), desc)), src_queue(on.make_queue(on.src())),
          queue(on.make_queue(on.dst())) {
        image_upload(on, src_queue, image, desc, pixels);
        image_upload(on, queue, own, desc, own_pixels);
    }
    CopyRegions whole() const { return {image_copy_region({}, {}, extent_of(desc))}; }
};

CONFORMANCE_TEST_PAIRS("connection", "an image is UNIFIED with its own place") {
    const pi_memory_connection connection = image_connection(fixture);
    if (fixture.relation() != Relation::one_place)
        skip("the places are two");
    require_equal(connection, pi_memory_connection{PI_MEMORY_CONNECTION_UNIFIED},
                  "the connection of images");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "dst's kernels accept an image that is UNIFIED, and refuse one of NONE") {
    const pi_memory_connection connection = image_connection(fixture);
    const pi_program_format format = kernel_format(fixture, fixture.dst().device);
    need_program_format(fixture, format, fixture.dst().device);
    const PixelFormat numbers{PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT8};
    for (const Place &place : {fixture.src(), fixture.dst()}) {
        const std::vector<PixelFormat> all = formats_of(place, PI_IMAGE_2D);
        if (std::find(all.begin(), all.end(), numbers) == all.end())
            skip("a device has no 2-D images of " + numbers.text());
    }
    const Program program = make_image_program(fixture, fixture.dst());
    const Kernel kernel = make_kernel(program, "transpose");
    const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, numbers, {8, 8, 1});
    const Bytes pixels = random_pixels(fixture, desc), own_pixels = random_pixels(fixture, desc);
    const Mem image = make_image(fixture.src(), desc), own = make_image(fixture.dst(), desc);
    const Queue src_queue = fixture.make_queue(fixture.src());
    const Queue queue = fixture.make_queue(fixture.dst());
    image_upload(fixture, src_queue, image, desc, pixels);
    image_upload(fixture, queue, own, desc, own_pixels);
    Arguments arguments;
    arguments.image(image).image(own);
    const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 2, {8, 8, 1});
    Bytes expected = own_pixels;
    if (connection == PI_MEMORY_CONNECTION_UNIFIED) {
        fixture.wait(fixture.enqueue(queue, launch), "a launch of dst on src's image");
        for (std::size_t i = 0; i < 64; ++i)
            std::memcpy(&expected[(i % 8 * 8 + i / 8) * 4], &pixels[i * 4], 4);
    } else if (connection == PI_MEMORY_CONNECTION_NONE) {
        require_untouched<pi_event>(
            "a launch of dst on src's image", {PI_ERROR_INVALID_MEM_OBJECT},
            [&](pi_event *out) { return try_enqueue(queue, launch, {}, out); });
    } else {
        skip("images of these places are MIGRATABLE");
    }
    require_pixels(fixture, queue, own, desc, expected, "dst's image");
    require_pixels(fixture, src_queue, image, desc, pixels, "src's image");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "images of every scope are read and written by dst as their answer says") {
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE", fixture.src().device);
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE", fixture.dst().device);
    pi_mem_image_desc desc = common_image_desc(fixture);
    const auto scopes = static_cast<uint32_t>(fixture.scopes(fixture.src().device).size());
    const Queue src_queue = fixture.make_queue(fixture.src());
    const Queue queue = fixture.make_queue(fixture.dst());
    for (desc.scope = 0; desc.scope < scopes; ++desc.scope) {
        auto query = pi::desc<pi_memory_connection_query>();
        query.kind = PI_MEMORY_KIND_IMAGE;
        query.src_scope = desc.scope;
        pi_memory_connection_info info{};
        Mem image;
        if (try_connection_info(fixture.src(), fixture.dst(), &query, info) != PI_SUCCESS ||
            piMemImageCreate(fixture.src().context, fixture.src().device, &desc, image.out()) !=
                PI_SUCCESS)
            continue;
        Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, src_queue, image, desc, pixels);
        const std::string what = join("an image of scope ", desc.scope);
        Bytes host(pixels.size());
        const std::vector<pi_image_region> all{image_region({{}, extent_of(desc)})};
        if (info.connection == PI_MEMORY_CONNECTION_UNIFIED) {
            require_pixels(fixture, queue, image, desc, pixels, what + " at dst");
            pixels = random_pixels(fixture, desc);
            image_upload(fixture, queue, image, desc, pixels);
        } else if (info.connection == PI_MEMORY_CONNECTION_NONE) {
            require_untouched<pi_event>(
                "a read by dst of " + what, {PI_ERROR_INVALID_MEM_OBJECT}, [&](pi_event *out) {
                    return try_enqueue(queue, image_read_desc(image, host.data(), all), {}, out);
                });
        }
        require_pixels(fixture, src_queue, image, desc, pixels, what);
    }
}

CONFORMANCE_TEST_PAIRS("connection",
                       "every command of dst's queues accepts an image that is UNIFIED") {
    if (image_connection(fixture) != PI_MEMORY_CONNECTION_UNIFIED)
        skip("images of these places are not UNIFIED");
    Ends ends(fixture);
    require_pixels(fixture, ends.queue, ends.image, ends.desc, ends.pixels, "src's image at dst");
    ends.pixels = random_pixels(fixture, ends.desc);
    image_upload(fixture, ends.queue, ends.image, ends.desc, ends.pixels);
    require_pixels(fixture, ends.src_queue, ends.image, ends.desc, ends.pixels,
                   "what dst wrote to src's image");
    const CopyRegions whole = ends.whole();
    fixture.wait(fixture.enqueue(ends.queue, image_copy_desc(ends.image, ends.own, whole)));
    require_pixels(fixture, ends.queue, ends.own, ends.desc, ends.pixels, "a copy of src's image");
    const Mem buffer = fixture.make_buffer(fixture.dst(), ends.own_pixels);
    fixture.wait(fixture.enqueue(ends.queue, image_copy_desc(buffer, ends.image, whole)));
    require_pixels(fixture, ends.src_queue, ends.image, ends.desc, ends.own_pixels,
                   "src's image that dst copied a buffer to");
    const uint32_t color[4] = {};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.image = ends.image;
    fill.color = color;
    const Pixels extent = extent_of(ends.desc);
    std::copy(extent.begin(), extent.end(), fill.extent);
    fixture.wait(fixture.enqueue(ends.queue, fill));
    require_pixels(fixture, ends.src_queue, ends.image, ends.desc, Bytes(ends.pixels.size()),
                   "src's image that dst filled");
}

// A dense image of dst, of a type and format that it supports.
pi_mem_image_desc image_at_dst(Fixture &fixture) {
    fixture.need(PI_CAPABILITY_IMAGE, "PI_CAPABILITY_IMAGE", fixture.dst().device);
    for (const pi_image_type type : all_image_types)
        for (const PixelFormat &format : formats_of(fixture.dst(), type))
            return image_desc(type, format, {64, 16, 4});
    skip("dst has no format of images");
}

CONFORMANCE_TEST_PAIRS(
    "connection", "image copies of dst accept a buffer that is UNIFIED, and refuse one of NONE") {
    const pi_mem_image_desc desc = image_at_dst(fixture);
    const Queue queue = fixture.make_queue(fixture.dst());
    const CopyRegions whole{image_copy_region({}, {}, extent_of(desc))};
    bool any = false;
    for (const Link &link : all_links(fixture)) {
        if (link.connection == PI_MEMORY_CONNECTION_MIGRATABLE)
            continue;
        any = true;
        const Queue src_queue = fixture.make_queue(link.src);
        Bytes pixels = random_pixels(fixture, desc);
        const uint64_t dense = pixels.size();
        pixels.resize((dense + 4095) / 4096 * 4096);
        const LinkMemory memory(link, fixture, pixels);
        pixels.resize(dense);
        const Mem image = make_image(fixture.dst(), desc);
        const pi_image_copy_desc to_image = image_copy_desc(memory, image, whole),
                                 from_image = image_copy_desc(image, memory, whole);
        if (link.connection == PI_MEMORY_CONNECTION_NONE) {
            for (const pi_image_copy_desc &copy : {to_image, from_image})
                require_untouched<pi_event>("an image copy of dst with " + link.name() + " of src",
                                            {PI_ERROR_INVALID_MEM_OBJECT}, [&](pi_event *out) {
                                                return try_enqueue(queue, copy, {}, out);
                                            });
            fixture.require_contents(src_queue, memory, pixels, link.name());
            continue;
        }
        fixture.wait(fixture.enqueue(queue, to_image), link.name() + ", copied to an image");
        require_pixels(fixture, queue, image, desc, pixels, "dst's image");
        pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        fixture.wait(fixture.enqueue(queue, from_image), link.name() + ", copied from an image");
        fixture.require_contents(src_queue, memory, pixels, link.name());
    }
    if (!any)
        skip("all memory of src is MIGRATABLE to dst");
}

CONFORMANCE_TEST_PAIRS("connection",
                       "an image that is MIGRATABLE is copied to dst by queues of either end") {
    if (image_connection(fixture) != PI_MEMORY_CONNECTION_MIGRATABLE)
        skip("images of these places are not MIGRATABLE");
    Ends ends(fixture);
    const CopyRegions whole = ends.whole();
    for (const bool by_dst : {false, true}) {
        ends.pixels = random_pixels(fixture, ends.desc);
        image_upload(fixture, ends.src_queue, ends.image, ends.desc, ends.pixels);
        fixture.wait(fixture.enqueue(by_dst ? ends.queue : ends.src_queue,
                                     image_copy_desc(ends.image, ends.own, whole)));
        require_pixels(fixture, ends.queue, ends.own, ends.desc, ends.pixels,
                       by_dst ? "an image that dst's queue copied" : "one that src's queue copied");
    }
}

CONFORMANCE_TEST_PAIRS(
    "connection",
    "dst's commands refuse an image whose connection is NONE and leave it unchanged") {
    if (image_connection(fixture) != PI_MEMORY_CONNECTION_NONE)
        skip("there is a connection of images");
    Ends ends(fixture);
    Bytes host(ends.pixels.size());
    const std::vector<pi_image_region> all{image_region({{}, extent_of(ends.desc)})};
    const CopyRegions whole = ends.whole();
    const Mem buffer = fixture.make_buffer(fixture.dst(), host);
    const auto refused = [&](const auto &desc) {
        require_untouched<pi_event>(
            "a command of dst on src's image", {PI_ERROR_INVALID_MEM_OBJECT},
            [&](pi_event *out) { return try_enqueue(ends.queue, desc, {}, out); });
    };
    refused(image_read_desc(ends.image, host.data(), all));
    refused(image_write_desc(ends.image, host.data(), all));
    refused(image_copy_desc(ends.image, ends.own, whole));
    refused(image_copy_desc(ends.own, ends.image, whole));
    refused(image_copy_desc(ends.image, buffer, whole));
    refused(image_copy_desc(buffer, ends.image, whole));
    const uint32_t color[4] = {};
    auto fill = pi::desc<pi_image_fill_desc>();
    fill.image = ends.image;
    fill.color = color;
    fill.extent[0] = 1;
    refused(fill);
    require_pixels(fixture, ends.src_queue, ends.image, ends.desc, ends.pixels, "src's image");
    require_pixels(fixture, ends.queue, ends.own, ends.desc, ends.own_pixels, "dst's image");
}

} // namespace
} // namespace pi::suite
