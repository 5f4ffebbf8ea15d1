// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies between images, and between images and buffers, compared with plain byte arrays.

#include "checks.hpp"
#include "image.hpp"
#include "registry.hpp"

#include <algorithm>

namespace pi::suite {
namespace {

// Formats that both types of image have.
std::vector<PixelFormat> common_formats(Fixture &fixture, pi_image_type a, pi_image_type b) {
    std::vector<PixelFormat> common;
    const std::vector<PixelFormat> others = formats_of(fixture, b);
    for (const PixelFormat &format : formats_of(fixture, a))
        for (const PixelFormat &other : others)
            if (format.order == other.order && format.type == other.type)
                common.push_back(format);
    return common;
}

Pixels random_extent(Fixture &fixture) {
    return {fixture.random(1, 40), fixture.random(1, 12), fixture.random(1, 5)};
}

CONFORMANCE_TEST("image", "a copy between images of any two types moves its pixels and no others") {
    const Queue queue = fixture.make_queue();
    const std::vector<pi_image_type> types = types_of(fixture);
    for (const pi_image_type src_type : types) {
        for (const pi_image_type dst_type : types) {
            const std::vector<PixelFormat> formats = common_formats(fixture, src_type, dst_type);
            if (formats.empty())
                continue;
            const PixelFormat format = formats[fixture.random(0, formats.size() - 1)];
            const auto src_desc = image_desc(src_type, format, random_extent(fixture));
            const auto dst_desc = image_desc(dst_type, format, random_extent(fixture));
            const Mem src = make_image(fixture, src_desc), dst = make_image(fixture, dst_desc);
            const Bytes from = random_pixels(fixture, src_desc);
            Bytes to = random_pixels(fixture, dst_desc);
            image_upload(fixture, queue, src, src_desc, from);
            image_upload(fixture, queue, dst, dst_desc, to);
            for (int round = 0; round < 6; ++round) {
                Box a = random_box(fixture, extent_of(src_desc));
                Box b = random_box(fixture, extent_of(dst_desc));
                for (std::size_t axis = 0; axis < 3; ++axis)
                    a.extent[axis] = b.extent[axis] = std::min(a.extent[axis], b.extent[axis]);
                const CopyRegions regions{image_copy_region(a.origin, b.origin, a.extent)};
                const std::string what = join(text_of(regions[0]), " from ", text_of(src_desc),
                                              " to ", text_of(dst_desc));
                fixture.wait(fixture.enqueue(queue, image_copy_desc(src, dst, regions)), what);
                move_rows(from, rows_of(src_desc, a.origin, a.extent), to,
                          rows_of(dst_desc, b.origin, b.extent));
                require_pixels(fixture, queue, dst, dst_desc, to, what);
            }
            require_pixels(fixture, queue, src, src_desc, from, "an image that was copied");
        }
    }
}

CONFORMANCE_TEST("image",
                 "a copy between an image and a buffer obeys offset and pitches of the buffer") {
    const Queue queue = fixture.make_queue();
    const uint64_t atom = std::max<uint64_t>(fixture.scopes().at(0).offset_alignment, 16);
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc = random_image_desc(fixture, type);
        const Mem image = make_image(fixture, desc);
        Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        for (int round = 0; round < 12; ++round) {
            const Box box = random_box(fixture, extent_of(desc));
            const Rows rows = random_linear(fixture, box.extent, format_of(desc).size());
            const pi_mem_image_desc part = image_desc(PI_IMAGE_3D, format_of(desc), box.extent);
            Bytes bytes = fixture.random_bytes(rows.end());
            move_rows(random_pixels(fixture, part), rows_of(part), bytes, rows);
            // The buffer, or a view of one with bytes before it.
            const uint64_t begin = fixture.can(PI_CAPABILITY_VIEW) && round >= 8 ? atom : 0;
            Bytes around = fixture.random_bytes(begin);
            around.insert(around.end(), bytes.begin(), bytes.end());
            const Mem root = fixture.make_buffer(fixture.place(), around);
            Mem view;
            if (begin != 0)
                view = fixture.make_view(root, begin, bytes.size());
            const pi_mem buffer = begin != 0 ? view : root;
            const Rows model = rows_of(desc, box.origin, box.extent);
            const bool to_image = round % 2 == 0;
            const CopyRegions regions{to_image
                                          ? image_copy_region({}, box.origin, box.extent, rows)
                                          : image_copy_region(box.origin, {}, box.extent, rows)};
            const std::string what =
                join(text_of(regions[0]), to_image ? " to " : " from ", text_of(desc));
            fixture.wait(fixture.enqueue(queue, to_image ? image_copy_desc(buffer, image, regions)
                                                         : image_copy_desc(image, buffer, regions)),
                         what);
            if (to_image)
                move_rows(bytes, rows, pixels, model);
            else
                move_rows(pixels, model, bytes, rows);
            require_pixels(fixture, queue, image, desc, pixels, what);
            std::copy(bytes.begin(), bytes.end(),
                      around.begin() + static_cast<std::ptrdiff_t>(begin));
            fixture.require_contents(queue, root, around, what + ": the buffer");
        }
    }
}

CONFORMANCE_TEST("image", "the regions of an image copy are many, and copied during the call") {
    const pi_mem_image_desc desc = flat_image_desc(fixture, 32, 24);
    const uint64_t row = 32 * format_of(desc).size();
    const Queue queue = fixture.make_queue();
    const Mem image = make_image(fixture, desc), other = make_image(fixture, desc);
    const Mem buffer = fixture.make_buffer(24 * row);
    const Bytes pixels = random_pixels(fixture, desc);
    image_upload(fixture, queue, image, desc, pixels);
    image_upload(fixture, queue, other, desc, random_pixels(fixture, desc));
    CopyRegions to_image, to_buffer;
    Bytes expected(pixels.size());
    for (uint64_t y = 0; y < 24; ++y) {
        to_image.push_back(image_copy_region({0, y, 0}, {0, 23 - y, 0}, {32, 0, 0}));
        to_buffer.push_back(image_copy_region({0, 23 - y, 0}, {}, {32, 1, 1}, {y * row}));
    }
    const Event gate = fixture.make_host_event();
    fixture.enqueue(queue, image_copy_desc(image, other, to_image), {gate});
    const Event done = fixture.enqueue(queue, image_copy_desc(other, buffer, to_buffer));
    for (CopyRegions *regions : {&to_image, &to_buffer}) {
        std::fill(regions->begin(), regions->end(), image_copy_region({}, {}, {1, 1, 1}));
        regions->clear();
        regions->shrink_to_fit();
    }
    fixture.signal(gate);
    fixture.wait(done, "a copy of 24 regions");
    fixture.require_contents(queue, buffer, pixels, "rows that were reversed twice");
}

bool share_a_pixel(const Box &a, const Box &b) {
    bool all = true;
    for (std::size_t axis = 0; axis < 3; ++axis)
        all = all && a.origin[axis] < b.origin[axis] + b.extent[axis] &&
              b.origin[axis] < a.origin[axis] + a.extent[axis];
    return all;
}

CONFORMANCE_TEST(
    "image", "a copy within an image is done, or refused where source and destination overlap") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc = random_image_desc(fixture, type);
        const Mem image = make_image(fixture, desc);
        Bytes model = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, model);
        for (int round = 0; round < 30; ++round) {
            Box a = random_box(fixture, extent_of(desc)), b = random_box(fixture, extent_of(desc));
            if (round == 0)
                b = a;
            for (std::size_t axis = 0; axis < 3; ++axis)
                a.extent[axis] = b.extent[axis] = std::min(a.extent[axis], b.extent[axis]);
            const CopyRegions regions{image_copy_region(a.origin, b.origin, a.extent)};
            const pi_image_copy_desc copy = image_copy_desc(image, image, regions);
            const std::string what = text_of(regions[0]) + " within " + text_of(desc);
            if (share_a_pixel(a, b)) {
                require_untouched<pi_event>(what, {PI_ERROR_MEM_COPY_OVERLAP}, [&](pi_event *out) {
                    return try_enqueue(queue, copy, {}, out);
                });
            } else {
                fixture.wait(fixture.enqueue(queue, copy), what);
                move_rows(Bytes(model), rows_of(desc, a.origin, a.extent), model,
                          rows_of(desc, b.origin, b.extent));
            }
        }
        require_pixels(fixture, queue, image, desc, model, "an image after copies within it");
    }
}

// ----- Copies that must be refused -----

struct Refusals {
    Fixture &fixture;
    Queue queue;
    pi_mem_image_desc desc;
    Mem a, b, buffer;
    Bytes pixels, bytes;

    explicit Refusals(Fixture &on)
        : fixture(on), queue(on.make_queue()), desc(flat_image_desc(on, 8, 6)),
          a(make_image(on, desc)), b(make_image(on, desc)), pixels(random_pixels(on, desc)),
          bytes(on.random_bytes(pixels.size())) {
        buffer = on.make_buffer(on.place(), bytes);
        image_upload(on, queue, a, desc, pixels);
        image_upload(on, queue, b, desc, pixels);
    }
    void operator()(const std::string &what, pi_result error, pi_mem src, pi_mem dst,
                    const CopyRegions &regions) {
        require_untouched<pi_event>("piEnqueueMemImageCopy " + what, {error}, [&](pi_event *out) {
            return try_enqueue(queue, image_copy_desc(src, dst, regions), {}, out);
        });
    }
    void require_unchanged() {
        require_pixels(fixture, queue, a, desc, pixels, "an image after refused copies");
        require_pixels(fixture, queue, b, desc, pixels, "an image after refused copies");
        fixture.require_contents(queue, buffer, bytes, "a buffer after refused copies");
    }
};

CONFORMANCE_TEST("image", "a copy that leaves an image or a buffer is refused and moves nothing") {
    Refusals refused(fixture);
    const Pixels whole = extent_of(refused.desc);
    const uint64_t row = whole[0] * format_of(refused.desc).size();
    for (std::size_t axis = 0; axis < 3; ++axis) {
        Pixels shifted{}, far{}, one{1, 1, 1};
        shifted[axis] = 1;
        far[axis] = UINT64_MAX;
        one[axis] = 2;
        refused("past src's end", PI_ERROR_INVALID_SIZE, refused.a, refused.b,
                {image_copy_region(shifted, {}, whole)});
        refused("past dst's end", PI_ERROR_INVALID_SIZE, refused.a, refused.b,
                {image_copy_region({}, shifted, whole)});
        refused("overflowing in src", PI_ERROR_INVALID_SIZE, refused.a, refused.buffer,
                {image_copy_region(far, {}, one)});
        refused("overflowing in dst", PI_ERROR_INVALID_SIZE, refused.buffer, refused.a,
                {image_copy_region({}, far, one)});
    }
    const auto both_ways = [&](const std::string &what, pi_result error, const Pixels &extent,
                               const Rows &rows) {
        refused(what, error, refused.a, refused.buffer, {image_copy_region({}, {}, extent, rows)});
        refused(what, error, refused.buffer, refused.a, {image_copy_region({}, {}, extent, rows)});
        refused("of a second region " + what, error, refused.buffer, refused.a,
                {image_copy_region({}, {}, {1, 1, 1}), image_copy_region({}, {}, extent, rows)});
    };
    both_ways("a byte past the buffer's end", PI_ERROR_INVALID_SIZE, whole, {1});
    both_ways("beginning behind the buffer", PI_ERROR_INVALID_SIZE, {1, 1, 1},
              {refused.bytes.size()});
    both_ways("at an offset that overflows", PI_ERROR_INVALID_SIZE, {1, 1, 1}, {UINT64_MAX});
    both_ways("with rows beyond the buffer", PI_ERROR_INVALID_SIZE, whole, {0, 0, 1, 1, row + 16});
    both_ways("with rows that run into each other", PI_ERROR_INVALID_SIZE, {8, 2, 1},
              {0, 0, 1, 1, row - 1});
    both_ways("with slices that run into each other", PI_ERROR_INVALID_SIZE, {8, 2, 1},
              {0, 0, 1, 1, 0, row});
    both_ways("of no pixels", PI_ERROR_INVALID_SIZE, {0, 1, 1}, {});
    refused("of no regions", PI_ERROR_INVALID_SIZE, refused.a, refused.b, {});
    refused("of no pixels", PI_ERROR_INVALID_SIZE, refused.a, refused.b,
            {image_copy_region({}, {}, {0, 1, 1})});
    pi_image_copy_desc desc = image_copy_desc(refused.a, refused.b, {});
    desc.region_count = 1;
    desc.regions = nullptr;
    require_untouched<pi_event>(
        "a copy of regions at NULL", {PI_ERROR_INVALID_NULL_POINTER},
        [&](pi_event *out) { return try_enqueue(refused.queue, desc, {}, out); });
    refused.require_unchanged();
}

CONFORMANCE_TEST("image",
                 "a copy with unused members that are not 0, or of a missing level, is refused") {
    Refusals refused(fixture);
    const Pixels one{1, 1, 1}, shifted{1, 0, 0};
    refused("with an origin in a buffer as dst", PI_ERROR_INVALID_VALUE, refused.a, refused.buffer,
            {image_copy_region({}, shifted, one)});
    refused("with an origin in a buffer as src", PI_ERROR_INVALID_VALUE, refused.buffer, refused.a,
            {image_copy_region(shifted, {}, one)});
    for (const Rows &rows : {Rows{4}, Rows{0, 0, 1, 1, 64}, Rows{0, 0, 1, 1, 0, 64}})
        refused("between images with words of a buffer", PI_ERROR_INVALID_VALUE, refused.a,
                refused.b, {image_copy_region({}, {}, one, rows)});
    pi_image_copy_region region = image_copy_region({}, {}, one);
    region.src_mip_level = 1;
    refused("of a level that src does not have", PI_ERROR_INVALID_VALUE, refused.a, refused.b,
            {region});
    refused("of a buffer's level", PI_ERROR_INVALID_VALUE, refused.buffer, refused.b, {region});
    region.src_mip_level = 0;
    region.dst_mip_level = 1;
    refused("of a level that dst does not have", PI_ERROR_INVALID_VALUE, refused.a, refused.b,
            {region});
    refused("to a buffer's level", PI_ERROR_INVALID_VALUE, refused.a, refused.buffer, {region});
    region.dst_mip_level = 0;
    region.reserved = 1;
    refused("with a reserved word", PI_ERROR_UNSUPPORTED_FEATURE, refused.a, refused.b, {region});
    refused.require_unchanged();
}

CONFORMANCE_TEST("image", "images of two formats are not copied to each other") {
    Refusals refused(fixture);
    const std::vector<PixelFormat> formats = formats_of(fixture, PI_IMAGE_2D);
    for (const PixelFormat &format : formats) {
        if (format == format_of(refused.desc))
            continue;
        const Mem other = make_image(fixture, image_desc(PI_IMAGE_2D, format, {8, 6, 1}));
        refused("from another format", PI_ERROR_INVALID_VALUE, other, refused.a,
                {image_copy_region({}, {}, {1, 1, 1})});
        refused("to another format", PI_ERROR_INVALID_VALUE, refused.a, other,
                {image_copy_region({}, {}, {1, 1, 1})});
    }
    refused.require_unchanged();
}

CONFORMANCE_TEST("lifetime", "images may be released right after the enqueue") {
    const pi_mem_image_desc desc = any_image_desc(fixture, 64, 64);
    const Queue queue = fixture.make_queue();
    const Bytes pixels = random_pixels(fixture, desc);
    Bytes into(pixels.size());
    const CopyRegions whole{image_copy_region({}, {}, extent_of(desc))};
    const std::vector<pi_image_region> all{image_region({{}, extent_of(desc)})};
    const Event gate = fixture.make_host_event();
    Event done;
    {
        const Mem src = make_image(fixture, desc), dst = make_image(fixture, desc);
        const Mem buffer = fixture.make_buffer(pixels.size());
        fixture.enqueue(queue, image_write_desc(src, pixels.data(), all), {gate});
        fixture.enqueue(queue, image_copy_desc(src, buffer, whole));
        fixture.enqueue(queue, image_copy_desc(buffer, dst, whole));
        done = fixture.enqueue(queue, image_read_desc(dst, into.data(), all));
    }
    // New objects must not get the addresses of those that are still in use.
    std::vector<Mem> others;
    for (int i = 0; i < 6; ++i) {
        others.push_back(make_image(fixture, desc));
        image_upload(fixture, fixture.make_queue(), others.back(), desc, Bytes(pixels.size()));
    }
    fixture.signal(gate);
    fixture.wait(done, "commands on released images");
    require_same_bytes(into.data(), pixels.data(), pixels.size(),
                       "what went through released images");
}

} // namespace
} // namespace pi::suite
