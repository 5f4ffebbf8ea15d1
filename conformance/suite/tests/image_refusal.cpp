// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Invalid images, invalid reads and writes of images, and images where buffers are needed.

#include "checks.hpp"
#include "image.hpp"
#include "partition.hpp"
#include "registry.hpp"

#include <functional>

namespace pi::suite {
namespace {

void require_no_image(Fixture &fixture, const std::string &what, pi_result error,
                      const pi_mem_image_desc &desc) {
    require_untouched<pi_mem>("piMemImageCreate with " + what, {error}, [&](pi_mem *out) {
        return piMemImageCreate(fixture.context(), fixture.device(), &desc, out);
    });
}

using Word = uint64_t pi_mem_image_desc::*;

CONFORMANCE_TEST("image", "an image has the axes of its type, none of them empty, and no other") {
    const std::pair<Word, const char *> axes[] = {{&pi_mem_image_desc::width, "width"},
                                                  {&pi_mem_image_desc::height, "height"},
                                                  {&pi_mem_image_desc::depth, "depth"},
                                                  {&pi_mem_image_desc::array_size, "array_size"}};
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc valid = random_image_desc(fixture, type);
        for (const auto &[axis, name] : axes) {
            pi_mem_image_desc desc = valid;
            const bool has = valid.*axis != 0;
            desc.*axis = has ? 0 : 1;
            require_no_image(fixture, join(name, has ? " 0" : " 1", " of ", name_of_type(type)),
                             has ? PI_ERROR_INVALID_SIZE : PI_ERROR_INVALID_VALUE, desc);
        }
    }
}

CONFORMANCE_TEST("image", "an image is no larger than the device says") {
    need_images(fixture);
    constexpr uint64_t unknown = UINT64_MAX;
    const auto refused = [&](pi_image_type type, Word axis, uint64_t limit) {
        if (limit == unknown || formats_of(fixture, type).empty())
            return;
        pi_mem_image_desc desc = random_image_desc(fixture, type);
        desc.*axis = limit + 1;
        require_no_image(fixture, join("an axis of ", limit + 1, " pixels of ", name_of_type(type)),
                         PI_ERROR_INVALID_SIZE, desc);
        desc.*axis = UINT64_MAX;
        require_no_image(fixture, "an axis of UINT64_MAX pixels", PI_ERROR_INVALID_SIZE, desc);
    };
    const auto flat = info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE,
                              std::array{unknown, unknown});
    refused(PI_IMAGE_2D, &pi_mem_image_desc::width, flat[0]);
    refused(PI_IMAGE_2D, &pi_mem_image_desc::height, flat[1]);
    const auto deep = info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE,
                              Pixels{unknown, unknown, unknown});
    refused(PI_IMAGE_3D, &pi_mem_image_desc::width, deep[0]);
    refused(PI_IMAGE_3D, &pi_mem_image_desc::height, deep[1]);
    refused(PI_IMAGE_3D, &pi_mem_image_desc::depth, deep[2]);
}

CONFORMANCE_TEST("image", "an image is as long as the device says, along each axis") {
    need_images(fixture);
    const Queue queue = fixture.make_queue();
    const auto made = [&](pi_image_type type, std::size_t axis, uint64_t limit) {
        const auto formats = formats_of(fixture, type);
        // Longer ones are more than a test may take.
        if (limit == 0 || formats.empty() || limit * formats.front().size() > 1 << 26)
            return;
        Pixels extent{1, 1, 1};
        extent[axis] = limit;
        const pi_mem_image_desc desc = image_desc(type, formats.front(), extent);
        const Mem image = make_image(fixture, desc);
        const Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        require_pixels(fixture, queue, image, desc, pixels,
                       join("an image whose axis ", axis, " has ", limit, " pixels, the limit"));
    };
    const auto flat = info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE,
                              std::array<uint64_t, 2>{});
    for (const std::size_t axis : {0u, 1u})
        made(PI_IMAGE_2D, axis, flat[axis]);
    const auto deep =
        info_or(&piDeviceGetInfo, fixture.device(), PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE, Pixels{});
    for (const std::size_t axis : {0u, 1u, 2u})
        made(PI_IMAGE_3D, axis, deep[axis]);
}

CONFORMANCE_TEST("image", "an image of an unknown type, channel order or channel type is refused") {
    const pi_mem_image_desc valid = any_image_desc(fixture);
    const auto refused = [&](uint32_t pi_mem_image_desc::*word, uint32_t value) {
        pi_mem_image_desc desc = valid;
        desc.*word = value;
        require_no_image(fixture, join("an enumerator of ", value), PI_ERROR_INVALID_ENUMERATION,
                         desc);
    };
    for (const uint32_t none : {0u, 6u, 1000u})
        refused(&pi_mem_image_desc::image_type, none);
    for (const uint32_t none : {0u, 5u, 1000u})
        refused(&pi_mem_image_desc::channel_order, none);
    for (const uint32_t none : {0u, 13u, 1000u})
        refused(&pi_mem_image_desc::channel_type, none);
}

CONFORMANCE_TEST("image",
                 "an image of levels or samples that the device does not have is refused") {
    pi_mem_image_desc desc = any_image_desc(fixture);
    desc.mip_levels = desc.samples = 1;
    make_image(fixture, desc);
    desc.mip_levels = 100;
    require_no_image(fixture, "100 mip levels", PI_ERROR_UNSUPPORTED_FEATURE, desc);
    desc.mip_levels = 0;
    desc.samples = 1 << 20;
    require_no_image(fixture, "a million samples", PI_ERROR_UNSUPPORTED_FEATURE, desc);
}

CONFORMANCE_TEST("image", "an image whose members contradict each other is refused") {
    const pi_mem_image_desc valid = flat_image_desc(fixture, 8, 6);
    const uint64_t pixel = format_of(valid).size();
    Bytes host(8 * 6 * pixel * 4);
    const auto refused = [&](const std::string &what, pi_result error,
                             const std::function<void(pi_mem_image_desc &)> &change) {
        pi_mem_image_desc desc = valid;
        change(desc);
        require_no_image(fixture, what, error, desc);
    };
    refused("reading only and writing only", PI_ERROR_INVALID_VALUE,
            [](auto &d) { d.flags = PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY; });
    refused("copying and using host_ptr", PI_ERROR_INVALID_VALUE, [&](auto &d) {
        d.flags = PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
        d.host_ptr = host.data();
    });
    refused("copying from NULL", PI_ERROR_INVALID_NULL_POINTER,
            [](auto &d) { d.flags = PI_MEM_COPY_HOST_PTR; });
    refused("using NULL", PI_ERROR_INVALID_NULL_POINTER,
            [](auto &d) { d.flags = PI_MEM_USE_HOST_PTR; });
    refused("a host_ptr without a flag", PI_ERROR_INVALID_VALUE,
            [&](auto &d) { d.host_ptr = host.data(); });
    refused("pitches of nothing", PI_ERROR_INVALID_VALUE,
            [&](auto &d) { d.row_pitch = 8 * pixel; });
    refused("an offset into nothing", PI_ERROR_INVALID_VALUE, [](auto &d) { d.offset = 64; });
    refused("an offset into host_ptr", PI_ERROR_INVALID_VALUE, [&](auto &d) {
        d.flags = PI_MEM_COPY_HOST_PTR;
        d.host_ptr = host.data();
        d.offset = 64;
    });
    refused("a scope that there is not", PI_ERROR_INVALID_VALUE, [](auto &d) { d.scope = 1000; });
    refused("slices of a 2-D image", PI_ERROR_INVALID_VALUE, [&](auto &d) {
        d.flags = PI_MEM_COPY_HOST_PTR;
        d.host_ptr = host.data();
        d.slice_pitch = 8 * 6 * pixel;
    });
    for (const uint64_t pitch : {8 * pixel - 1, pixel, UINT64_MAX / pixel * pixel})
        refused(join("rows of 8 pixels at ", pitch, " bytes"), PI_ERROR_INVALID_SIZE, [&](auto &d) {
            d.flags = PI_MEM_COPY_HOST_PTR;
            d.host_ptr = host.data();
            d.row_pitch = pitch;
        });
    if (pixel > 1)
        refused("rows at fractions of a pixel", PI_ERROR_INVALID_SIZE, [&](auto &d) {
            d.flags = PI_MEM_COPY_HOST_PTR;
            d.host_ptr = host.data();
            d.row_pitch = 8 * pixel + 1;
        });
}

CONFORMANCE_TEST("image", "slices that run into each other, or begin within a row, are refused") {
    for (const pi_image_type type : types_of(fixture)) {
        if (type == PI_IMAGE_1D || type == PI_IMAGE_2D)
            continue;
        const PixelFormat format = formats_of(fixture, type).front();
        pi_mem_image_desc desc = image_desc(type, format, {8, 6, 2});
        Bytes host(8 * 6 * 2 * format.size() * 4);
        desc.flags = PI_MEM_COPY_HOST_PTR;
        desc.host_ptr = host.data();
        const uint64_t row = 8 * format.size(), slice = row * extent_of(desc)[1];
        for (const uint64_t pitch : {slice - row, slice + row / 2, UINT64_MAX / row * row}) {
            desc.slice_pitch = pitch;
            if (pitch != 0)
                require_no_image(fixture, join("slices at ", pitch, " bytes"),
                                 PI_ERROR_INVALID_SIZE, desc);
        }
    }
}

CONFORMANCE_TEST("image", "an image belongs to a device of its context") {
    const pi_mem_image_desc desc = any_image_desc(fixture);
    const Queue queue = fixture.make_queue();
    for (void *wrong : {static_cast<void *>(nullptr), static_cast<void *>(queue.get())}) {
        require_untouched<pi_mem>(
            "piMemImageCreate for no device", {PI_ERROR_INVALID_DEVICE}, [&](pi_mem *out) {
                return piMemImageCreate(fixture.context(), reinterpret_cast<pi_device>(wrong),
                                        &desc, out);
            });
        require_untouched<pi_mem>("piMemImageCreate in no context", {PI_ERROR_INVALID_CONTEXT},
                                  [&](pi_mem *out) {
                                      return piMemImageCreate(reinterpret_cast<pi_context>(wrong),
                                                              fixture.device(), &desc, out);
                                  });
    }
    const SeveralDevices devices(fixture);
    if (devices.size() > 1)
        require_untouched<pi_mem>(
            "piMemImageCreate for another device", {PI_ERROR_INVALID_DEVICE}, [&](pi_mem *out) {
                return piMemImageCreate(fixture.context(), devices[1], &desc, out);
            });
}

// ----- Reads and writes -----

// Errors of a region of an image, and their codes.
struct BadRegion {
    std::string what;
    pi_result error;
    pi_image_region region;
};

std::vector<BadRegion> bad_regions(const pi_mem_image_desc &desc) {
    const Pixels extent = extent_of(desc);
    const uint64_t row = extent[0] * format_of(desc).size();
    const pi_image_region whole = image_region({{}, extent});
    std::vector<BadRegion> bad;
    const auto add = [&](std::string what, pi_result error,
                         const std::function<void(pi_image_region &)> &change) {
        pi_image_region region = whole;
        change(region);
        bad.push_back({std::move(what), error, region});
    };
    for (int axis = 0; axis < 3; ++axis) {
        const uint64_t length = extent[static_cast<std::size_t>(axis)];
        add("beginning behind the last pixel", PI_ERROR_INVALID_SIZE,
            [=](auto &r) { r.origin[axis] = length, r.extent[axis] = 1; });
        add("a pixel too long", PI_ERROR_INVALID_SIZE, [=](auto &r) { ++r.extent[axis]; });
        add("a pixel too far", PI_ERROR_INVALID_SIZE, [=](auto &r) { r.origin[axis] = 1; });
        add("overflowing", PI_ERROR_INVALID_SIZE,
            [=](auto &r) { r.origin[axis] = UINT64_MAX, r.extent[axis] = 2; });
    }
    add("of no pixels", PI_ERROR_INVALID_SIZE, [](auto &r) { r.extent[0] = 0; });
    add("with rows that run into each other", PI_ERROR_INVALID_SIZE,
        [=](auto &r) { r.row_pitch = row - 1; });
    add("with slices that run into each other", PI_ERROR_INVALID_SIZE,
        [=](auto &r) { r.slice_pitch = row * extent[1] - 1; });
    if (extent[1] * extent[2] > 1) // a single row needs no pitch
        add("with pitches that overflow", PI_ERROR_INVALID_SIZE,
            [=](auto &r) { r.row_pitch = UINT64_MAX / 2 + 1; });
    add("at an offset that overflows", PI_ERROR_INVALID_SIZE,
        [=](auto &r) { r.offset = UINT64_MAX - row / 2; });
    add("of a level that there is not", PI_ERROR_INVALID_VALUE, [](auto &r) { r.mip_level = 1; });
    for (const std::size_t word : {0, 1, 2})
        add(join("with reserved word ", word), PI_ERROR_UNSUPPORTED_FEATURE,
            [=](auto &r) { r.reserved[word] = 1; });
    return bad;
}

template <typename Desc>
void require_refused(pi_queue queue, const std::string &what, pi_result error, const Desc &desc) {
    require_untouched<pi_event>(join(Description<Desc>::name, " ", what), {error},
                                [&](pi_event *out) { return try_enqueue(queue, desc, {}, out); });
}

CONFORMANCE_TEST(
    "image",
    "a read or write of an image with an invalid descriptor is refused and moves nothing") {
    const Queue queue = fixture.make_queue();
    for (const pi_image_type type : types_of(fixture)) {
        const pi_mem_image_desc desc =
            image_desc(type, formats_of(fixture, type).front(), {9, 5, 3});
        const Mem image = make_image(fixture, desc);
        const Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, queue, image, desc, pixels);
        Bytes host(pixels.size() * 2, std::byte{0x3C});
        const Bytes host_before = host;
        const auto refused = [&](const std::string &what, pi_result error,
                                 const std::vector<pi_image_region> &regions) {
            require_refused(queue, what, error, image_read_desc(image, host.data(), regions));
            require_refused(queue, what, error, image_write_desc(image, host.data(), regions));
        };
        const pi_image_region whole = image_region({{}, extent_of(desc)});
        for (const BadRegion &bad : bad_regions(desc)) {
            refused(bad.what, bad.error, {bad.region});
            refused("of a second region " + bad.what, bad.error, {whole, bad.region});
        }
        refused("of no regions", PI_ERROR_INVALID_SIZE, {});
        require_refused(queue, "into NULL", PI_ERROR_INVALID_NULL_POINTER,
                        image_read_desc(image, nullptr, {whole}));
        require_refused(queue, "from NULL", PI_ERROR_INVALID_NULL_POINTER,
                        image_write_desc(image, nullptr, {whole}));
        pi_image_read_desc read = image_read_desc(image, host.data(), {});
        read.region_count = 1;
        read.regions = nullptr;
        require_refused(queue, "of regions at NULL", PI_ERROR_INVALID_NULL_POINTER, read);
        pi_image_write_desc write = image_write_desc(image, host.data(), {});
        write.region_count = 1;
        write.regions = nullptr;
        require_refused(queue, "of regions at NULL", PI_ERROR_INVALID_NULL_POINTER, write);
        require_pixels(fixture, queue, image, desc, pixels, "an image after refused commands");
        require(host == host_before, "a refused read wrote host memory");
    }
}

// ----- One kind where the other is needed -----

template <typename Desc>
Desc on_image(pi_mem image) {
    auto desc = pi::desc<Desc>();
    desc.mem = image;
    return desc;
}

CONFORMANCE_TEST("image",
                 "commands on buffers refuse images, and commands on images refuse buffers") {
    const pi_mem_image_desc desc = any_image_desc(fixture);
    const Queue queue = fixture.make_queue();
    const Mem image = make_image(fixture, desc), buffer = fixture.make_buffer(4096);
    Bytes host(4096);
    void *mapped = nullptr;
    const pi_region region = linear(0, 0, 4);
    constexpr pi_result wrong = PI_ERROR_INVALID_MEM_OBJECT;

    auto read = on_image<pi_buffer_read_desc>(image);
    auto write = on_image<pi_buffer_write_desc>(image);
    read.host_ptr = host.data();
    write.host_ptr = host.data();
    read.region_count = write.region_count = 1;
    read.regions = write.regions = &region;
    require_refused(queue, "of an image", wrong, read);
    require_refused(queue, "of an image", wrong, write);
    auto fill = on_image<pi_buffer_fill_desc>(image);
    fill.pattern = host.data();
    fill.pattern_size = fill.size = 4;
    require_refused(queue, "of an image", wrong, fill);
    auto map = on_image<pi_buffer_map_desc>(image);
    map.flags = PI_MAP_READ;
    map.size = 4;
    map.out_pointer = &mapped;
    require_refused(queue, "of an image", wrong, map);
    auto unmap = on_image<pi_unmap_desc>(image);
    unmap.pointer = host.data();
    require_refused(queue, "of an image", wrong, unmap);
    for (const bool from : {false, true}) {
        auto copy = pi::desc<pi_buffer_copy_desc>();
        copy.src = from ? image : buffer;
        copy.dst = from ? buffer : image;
        copy.region_count = 1;
        copy.regions = &region;
        require_refused(queue, from ? "from an image" : "to an image", wrong, copy);
    }

    const std::vector<pi_image_region> pixel{image_region({{}, {1, 1, 1}})};
    require_refused(queue, "of a buffer", wrong, image_read_desc(buffer, host.data(), pixel));
    require_refused(queue, "of a buffer", wrong, image_write_desc(buffer, host.data(), pixel));
    auto paint = pi::desc<pi_image_fill_desc>();
    paint.image = buffer;
    paint.color = host.data();
    paint.extent[0] = 1;
    require_refused(queue, "of a buffer", wrong, paint);
    pi_image_copy_region part{};
    part.extent[0] = 1;
    auto copy = pi::desc<pi_image_copy_desc>();
    copy.src = copy.dst = buffer;
    copy.region_count = 1;
    copy.regions = &part;
    require_refused(queue, "between buffers", wrong, copy);
}

CONFORMANCE_TEST("image", "an image cannot be partitioned or exported as a buffer can") {
    const Mem image = make_image(fixture, any_image_desc(fixture));
    if (fixture.can(PI_CAPABILITY_VIEW)) {
        auto desc = pi::desc<pi_mem_partition_desc>();
        desc.size = 4;
        require_untouched<pi_mem>(
            "piMemBufferPartition of an image", {PI_ERROR_INVALID_MEM_OBJECT},
            [&](pi_mem *out) { return piMemBufferPartition(image, &desc, out); });
    }
    if (fixture.can(PI_CAPABILITY_MEM_EXPORT)) {
        auto desc = pi::desc<pi_mem_export_desc>();
        desc.external_type = PI_EXTERNAL_OPAQUE_FD;
        require_untouched<pi_external_handle>(
            "piMemExport of an image",
            {PI_ERROR_INVALID_MEM_OBJECT, PI_ERROR_INVALID_OPERATION, PI_ERROR_UNSUPPORTED_FEATURE},
            [&](pi_external_handle *out) { return piMemExport(image, &desc, out); });
    }
}

} // namespace
} // namespace pi::suite
