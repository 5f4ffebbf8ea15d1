// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Views of buffers as images: they share their bytes. A plugin may have none, or not of every type.

#include "checks.hpp"
#include "image.hpp"
#include "image_kernels.hpp"
#include "memory.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

namespace pi::suite {
namespace {

// 0 if the device does not report it.
uint64_t alignment(Fixture &fixture, pi_device_info name) {
    uint64_t bytes = 0;
    const pi_result result = piDeviceGetInfo(fixture.device(), name, sizeof bytes, &bytes, nullptr);
    if (result != PI_SUCCESS) {
        require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "the alignment of views");
        return 0;
    }
    require(bytes >= 1, "an alignment of 0 bytes");
    return bytes;
}

// Views that the device has: types with a format, alignments.
struct Views {
    Fixture &fixture;
    Queue queue;
    uint64_t offset_alignment = 0; // 0: views begin at the buffer's first byte
    uint64_t pitch_alignment = 1;
    std::vector<pi_mem_image_desc> kinds; // each a few pixels large, dense

    explicit Views(Fixture &on) : fixture(on), queue((need_images(on), on.make_queue())) {
        std::string reason;
        for (const pi_image_type type : types_of(on)) {
            for (const PixelFormat &format : formats_of(on, type)) {
                // Rows of many bytes, a multiple of any alignment of a device.
                pi_mem_image_desc desc = image_desc(type, format, {1024, 3, 2});
                const Mem buffer = on.make_buffer(size_of(desc));
                Mem view;
                const pi_result result = piMemImageViewCreate(buffer, &desc, view.out());
                if (result == PI_SUCCESS) {
                    kinds.push_back(desc);
                    continue;
                }
                reason = last_error_text();
                require_error(result, PI_ERROR_UNSUPPORTED_FEATURE, "piMemImageViewCreate, ",
                              text_of(desc));
            }
        }
        if (kinds.empty())
            skip("the plugin reads no buffer as an image: " + reason);
        offset_alignment = alignment(on, PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT);
        const uint64_t pitch = alignment(on, PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT);
        for (const pi_mem_image_desc &kind : kinds)
            require(pitch != 0 || kind.image_type == PI_IMAGE_1D,
                    "a device has views with rows, but does not report their alignment");
        pitch_alignment = std::max<uint64_t>(pitch, 1);
        for (pi_mem_image_desc &kind : kinds)
            kind = described(kind.image_type, format_of(kind), {4, 3, 2});
    }

    uint64_t step(PixelFormat format) const {
        return std::lcm<uint64_t>(pitch_alignment, format.size());
    }
    // With a legal row pitch of at least the row's bytes, and dense slices.
    pi_mem_image_desc described(pi_image_type type, PixelFormat format, const Pixels &extent,
                                uint64_t more_rows = 0) const {
        pi_mem_image_desc desc = image_desc(type, format, extent);
        const uint64_t row = extent[0] * format.size();
        if (type == PI_IMAGE_1D) { // its only row needs no alignment
            desc.row_pitch = row;
            return desc;
        }
        desc.row_pitch = (row + step(format) - 1) / step(format) * step(format);
        desc.row_pitch += more_rows * step(format);
        return desc;
    }
    pi_mem_image_desc random_desc(const pi_mem_image_desc &kind) const {
        const Pixels extent{fixture.random(1, 30), fixture.random(1, 9), fixture.random(1, 4)};
        pi_mem_image_desc desc =
            described(kind.image_type, format_of(kind), extent,
                      kind.image_type == PI_IMAGE_1D ? 0 : fixture.random(0, 3));
        desc.offset = fixture.random(0, 5) * offset_alignment;
        if (has_slices(desc))
            desc.slice_pitch =
                fixture.random(0, 1) * desc.row_pitch * (rows_of(desc).rows + fixture.random(0, 2));
        if (fixture.random(0, 1) == 0 && desc.row_pitch == rows_of(desc).row)
            desc.row_pitch = 0;
        return desc;
    }
    static bool has_slices(const pi_mem_image_desc &desc) {
        return desc.depth != 0 || desc.array_size != 0;
    }
    // Where its pixels lie in the buffer.
    static Rows rows(const pi_mem_image_desc &desc) {
        Rows rows = rows_of(desc);
        rows.offset = desc.offset;
        if (desc.row_pitch != 0)
            rows.row_pitch = desc.row_pitch;
        rows.slice_pitch = desc.slice_pitch != 0 ? desc.slice_pitch : rows.row_pitch * rows.rows;
        return rows;
    }
    static uint64_t size_of_storage(const pi_mem_image_desc &desc) {
        return desc.offset + rows(desc).slice_pitch * rows(desc).slices;
    }
    // An offset of a view of a buffer that may itself be viewed; 0 if there is none.
    uint64_t start_of_views() const {
        return std::lcm(offset_alignment, fixture.scopes().front().offset_alignment);
    }
    Mem make(pi_mem buffer, const pi_mem_image_desc &desc) const {
        Mem view;
        require_success(piMemImageViewCreate(buffer, &desc, view.out()), "piMemImageViewCreate, ",
                        text_of(desc), " at ", desc.offset, ", rows at ", desc.row_pitch);
        return view;
    }
};

CONFORMANCE_TEST("image",
                 "a view of a buffer shows the buffer's bytes as pixels, and changes them") {
    Views views(fixture);
    for (const pi_mem_image_desc &kind : views.kinds) {
        const pi_mem_image_desc desc = views.random_desc(kind);
        // Of a buffer, or of its view.
        const uint64_t start =
            fixture.can(PI_CAPABILITY_VIEW) ? fixture.random(0, 1) * views.start_of_views() : 0;
        Rows rows = Views::rows(desc);
        rows.offset += start;
        Bytes model =
            fixture.random_bytes(start + Views::size_of_storage(desc) + fixture.random(0, 50));
        Bytes pixels = random_pixels(fixture, desc);
        move_rows(pixels, rows_of(desc), model, rows);
        const Mem buffer = fixture.make_buffer(fixture.place(), model);
        const Mem middle =
            start != 0 ? fixture.make_view(buffer, start, model.size() - start) : Mem{};
        const Mem view = views.make(start != 0 ? middle.get() : buffer.get(), desc);
        require_pixels(fixture, views.queue, view, desc, pixels, "a view of a buffer");
        // Written through the view, read from the buffer; no other byte changes.
        pixels = random_pixels(fixture, desc);
        image_upload(fixture, views.queue, view, desc, pixels);
        move_rows(pixels, rows_of(desc), model, rows);
        fixture.require_contents(views.queue, buffer, model,
                                 "a buffer written through a view as " + text_of(desc));
        // Written to the buffer, read through the view.
        pixels = random_pixels(fixture, desc);
        move_rows(pixels, rows_of(desc), model, rows);
        fixture.upload(views.queue, buffer, model);
        require_pixels(fixture, views.queue, view, desc, pixels, "a view of a buffer that changed");
    }
}

CONFORMANCE_TEST("image", "a kernel reads a view of a buffer, and writes another") {
    const Views views(fixture);
    const Program program = make_image_program(fixture);
    const PixelFormat numbers{PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT8};
    if (std::none_of(views.kinds.begin(), views.kinds.end(), [&](const pi_mem_image_desc &kind) {
            return kind.image_type == PI_IMAGE_2D && format_of(kind) == numbers;
        }))
        skip("the device has no 2-D views of " + numbers.text());
    const Kernel kernel = make_kernel(program, "transpose");
    for (int round = 0; round < 4; ++round) {
        const uint64_t width = fixture.random(2, 30), height = fixture.random(2, 20);
        pi_mem_image_desc src_desc =
            views.described(PI_IMAGE_2D, numbers, {width, height, 1}, fixture.random(0, 2));
        pi_mem_image_desc dst_desc =
            views.described(PI_IMAGE_2D, numbers, {height, width, 1}, fixture.random(0, 2));
        src_desc.offset = fixture.random(0, 3) * views.offset_alignment;
        dst_desc.offset = fixture.random(0, 3) * views.offset_alignment;
        const Bytes src = fixture.random_bytes(Views::size_of_storage(src_desc));
        Bytes dst = fixture.random_bytes(Views::size_of_storage(dst_desc));
        const Mem src_buffer = fixture.make_buffer(fixture.place(), src);
        const Mem dst_buffer = fixture.make_buffer(fixture.place(), dst);
        const Mem from = views.make(src_buffer, src_desc), to = views.make(dst_buffer, dst_desc);
        Arguments arguments;
        arguments.image(from).image(to);
        const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 2, {width, height, 1});
        if (is_of_cuda(kernel_format(fixture))) { // no surface
            require_untouched<pi_event>(
                "a launch on a view without a sampler", {PI_ERROR_UNSUPPORTED_FEATURE},
                [&](pi_event *out) { return try_enqueue(views.queue, launch, {}, out); });
            continue;
        }
        fixture.wait(fixture.enqueue(views.queue, launch), "a launch on views");
        const Rows in = Views::rows(src_desc), out = Views::rows(dst_desc);
        for (uint64_t y = 0; y < height; ++y)
            for (uint64_t x = 0; x < width; ++x)
                std::copy_n(&src[in.offset + y * in.row_pitch + x * numbers.size()], numbers.size(),
                            &dst[out.offset + x * out.row_pitch + y * numbers.size()]);
        fixture.require_contents(views.queue, src_buffer, src, "a buffer whose view a kernel read");
        fixture.require_contents(views.queue, dst_buffer, dst,
                                 "a buffer whose view a kernel wrote");
    }
}

CONFORMANCE_TEST("image", "a kernel reads a 1-D view of a buffer") {
    const Views views(fixture);
    const PixelFormat numbers{PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT8};
    const auto flat = std::ranges::find_if(views.kinds, [&](const pi_mem_image_desc &kind) {
        return kind.image_type == PI_IMAGE_1D && format_of(kind) == numbers;
    });
    if (flat == views.kinds.end())
        skip("the device has no 1-D views of " + numbers.text());
    const Program program = make_image_program(fixture);
    const bool is_texture = is_of_cuda(kernel_format(fixture));
    const Kernel kernel = make_kernel(program, is_texture ? "fetch_view" : "flatten_view");
    const uint64_t width = fixture.random(1, 60);
    pi_mem_image_desc desc = views.described(PI_IMAGE_1D, numbers, {width, 1, 1});
    desc.offset = fixture.random(0, 3) * views.offset_alignment;
    const Bytes bytes = fixture.random_bytes(Views::size_of_storage(desc));
    const Mem buffer = fixture.make_buffer(fixture.place(), bytes);
    const Mem view = views.make(buffer, desc);
    const Mem out = fixture.make_buffer(width * 16);
    Arguments arguments;
    Sampler sampler;
    if (is_texture) {
        auto nearest = pi::desc<pi_sampler_desc>();
        nearest.addressing = PI_ADDRESSING_NONE; // by index
        require_success(piSamplerCreate(fixture.context(), &nearest, sampler.out()),
                        "piSamplerCreate");
        arguments.image(view, sampler).sampler(sampler).buffer(out);
    } else {
        arguments.image(view).buffer(out);
    }
    fixture.wait(fixture.enqueue(views.queue, launch_desc(kernel, arguments, width)));
    std::vector<uint32_t> expected;
    for (uint64_t i = 0; i < 4 * width; ++i)
        expected.push_back(std::to_integer<uint32_t>(bytes[desc.offset + i]));
    fixture.require_contents(views.queue, out, bytes_of(expected),
                             "what a kernel has read of a 1-D view");
}

CONFORMANCE_TEST("image", "a view reports its root, its offset and its format") {
    Views views(fixture);
    for (const bool of_view : {false, true}) {
        if (of_view && !fixture.can(PI_CAPABILITY_VIEW))
            continue;
        const pi_mem_image_desc desc = views.random_desc(views.kinds.front());
        const uint64_t size = Views::size_of_storage(desc);
        const uint64_t start = of_view ? views.start_of_views() : 0;
        Mem buffer = fixture.make_buffer(start + size);
        const pi_mem root = buffer;
        Mem middle = of_view ? fixture.make_view(buffer, start, size) : Mem{};
        const Mem view = views.make(of_view ? middle.get() : root, desc);
        middle.reset();
        buffer.reset(); // its root lives on
        require_equal(get_info<pi_mem>(&piMemGetInfo, view.get(), PI_MEM_INFO_PARENT), root,
                      "PI_MEM_INFO_PARENT");
        require_equal(get_info<uint64_t>(&piMemGetInfo, view.get(), PI_MEM_INFO_OFFSET),
                      start + desc.offset, "PI_MEM_INFO_OFFSET");
        require_equal(get_info<uint64_t>(&piMemGetInfo, view.get(), PI_MEM_INFO_SIZE),
                      size_of(desc), "PI_MEM_INFO_SIZE");
        require_equal(get_info<pi_memory_kind>(&piMemGetInfo, view.get(), PI_MEM_INFO_KIND),
                      pi_memory_kind{PI_MEMORY_KIND_IMAGE}, "PI_MEM_INFO_KIND");
        check_info(
            "piMemGetInfo of a view as image",
            [&](uint32_t name, uint64_t room, void *value, uint64_t *out_size) {
                return piMemGetInfo(view, name, room, value, out_size);
            },
            mem_info_names());
        const Bytes pixels = random_pixels(fixture, desc);
        image_upload(fixture, views.queue, view, desc, pixels);
        require_pixels(fixture, views.queue, view, desc, pixels, "a view whose buffer is released");
    }
}

CONFORMANCE_TEST("image", "a view has the buffer's access, or less") {
    Views views(fixture);
    const pi_mem_image_desc valid = views.kinds.front();
    const struct {
        uint64_t buffer, view, reported;
        pi_result result;
    } rows[] = {{0, 0, 0, PI_SUCCESS},
                {0, PI_MEM_READ_ONLY, PI_MEM_READ_ONLY, PI_SUCCESS},
                {PI_MEM_READ_ONLY, 0, PI_MEM_READ_ONLY, PI_SUCCESS},
                {PI_MEM_WRITE_ONLY, PI_MEM_WRITE_ONLY, PI_MEM_WRITE_ONLY, PI_SUCCESS},
                {PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY, 0, PI_ERROR_INVALID_VALUE},
                {0, PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY, 0, PI_ERROR_INVALID_VALUE},
                {0, PI_MEM_COPY_HOST_PTR, 0, PI_ERROR_UNSUPPORTED_FEATURE}};
    for (const auto &row : rows) {
        auto buffer_desc = pi::desc<pi_mem_buffer_desc>();
        buffer_desc.size = Views::size_of_storage(valid);
        buffer_desc.flags = row.buffer;
        const Mem buffer = fixture.make_buffer(fixture.place(), buffer_desc);
        pi_mem_image_desc desc = valid;
        desc.flags = row.view;
        if (row.result == PI_SUCCESS)
            require_equal(get_info<uint64_t>(&piMemGetInfo, views.make(buffer, desc).get(),
                                             PI_MEM_INFO_FLAGS),
                          row.reported, "the flags of a view");
        else
            require_untouched<pi_mem>(
                join("a view with flags ", row.view, " of a buffer with ", row.buffer),
                {row.result},
                [&](pi_mem *out) { return piMemImageViewCreate(buffer, &desc, out); });
    }
}

CONFORMANCE_TEST("image", "a view of a buffer with an invalid descriptor is refused") {
    Views views(fixture);
    for (const pi_mem_image_desc &valid : views.kinds) {
        const uint64_t size = Views::size_of_storage(valid);
        const Mem buffer = fixture.make_buffer(size);
        const auto refused = [&](const std::string &what, pi_result error, const auto &change) {
            pi_mem_image_desc desc = valid;
            change(desc);
            require_untouched<pi_mem>("piMemImageViewCreate " + what, {error}, [&](pi_mem *out) {
                return piMemImageViewCreate(buffer, &desc, out);
            });
        };
        const auto refused_for = [&](std::initializer_list<uint64_t> numbers,
                                     const std::string &what, const auto &change) {
            const Mem larger = fixture.make_buffer(2 * size + 1); // its end refuses nothing
            pi_mem_image_desc desc = valid;
            change(desc);
            require_untouched<pi_mem>(
                "piMemImageViewCreate " + what, {PI_ERROR_MISALIGNED_OFFSET},
                [&](pi_mem *out) { return piMemImageViewCreate(larger, &desc, out); });
            require_text_names(numbers);
        };
        const uint64_t pixel = format_of(valid).size();
        refused("past the buffer's end", PI_ERROR_INVALID_SIZE, [&](auto &d) {
            d.width = 4096;
            d.row_pitch = 0;
        });
        if (views.offset_alignment != 0) {
            refused("behind the buffer's end", PI_ERROR_INVALID_SIZE, [&](auto &d) {
                d.offset = (size / views.offset_alignment + 1) * views.offset_alignment;
            });
            refused("at an offset that overflows", PI_ERROR_INVALID_SIZE, [&](auto &d) {
                d.offset = UINT64_MAX / views.offset_alignment * views.offset_alignment;
            });
        }
        refused("with rows that run into each other", PI_ERROR_INVALID_SIZE,
                [&](auto &d) { d.row_pitch = 3 * pixel; });
        if (valid.image_type != PI_IMAGE_1D && valid.image_type != PI_IMAGE_1D_ARRAY)
            refused("with rows beyond the buffer", PI_ERROR_INVALID_SIZE, [&](auto &d) {
                d.row_pitch = size / views.step(format_of(d)) * views.step(format_of(d)) +
                              views.step(format_of(d));
            });
        refused("of no pixels", PI_ERROR_INVALID_SIZE, [](auto &d) { d.width = 0; });
        refused("with a host_ptr", PI_ERROR_INVALID_VALUE, [&](auto &d) { d.host_ptr = &d; });
        refused("with a scope", PI_ERROR_INVALID_VALUE, [&](auto &d) { d.scope = 1; });
        if (!Views::has_slices(valid))
            refused("with slices that it does not have", PI_ERROR_INVALID_VALUE,
                    [](auto &d) { d.slice_pitch = d.row_pitch * 3; });
        else
            refused("with slices that run into each other", PI_ERROR_INVALID_SIZE, [](auto &d) {
                d.slice_pitch = d.row_pitch * (rows_of(d).rows + 1) - d.row_pitch / 2;
            });
        if (pixel > 1) { // and no multiple of the alignment, where there is one
            pi_mem_image_desc desc = valid;
            desc.row_pitch += 1;
            require_untouched<pi_mem>(
                "piMemImageViewCreate with rows at fractions of a pixel",
                {PI_ERROR_INVALID_SIZE, PI_ERROR_MISALIGNED_OFFSET},
                [&](pi_mem *out) { return piMemImageViewCreate(buffer, &desc, out); });
        }
        refused("of type 77", PI_ERROR_INVALID_ENUMERATION, [](auto &d) { d.image_type = 77; });
        refused("of order 77", PI_ERROR_INVALID_ENUMERATION, [](auto &d) { d.channel_order = 77; });
        refused("of channel type 77", PI_ERROR_INVALID_ENUMERATION,
                [](auto &d) { d.channel_type = 77; });
        if (views.offset_alignment == 0) {
            const Mem larger = fixture.make_buffer(2 * size + 4096);
            pi_mem_image_desc desc = valid;
            desc.offset = 4096;
            require_untouched<pi_mem>(
                "piMemImageViewCreate at an offset where the device has none",
                {PI_ERROR_MISALIGNED_OFFSET, PI_ERROR_UNSUPPORTED_FEATURE},
                [&](pi_mem *out) { return piMemImageViewCreate(larger, &desc, out); });
        }
        if (views.offset_alignment > 1)
            refused_for({1, views.offset_alignment}, "at a misaligned offset",
                        [](auto &d) { d.offset = 1; });
        if (views.step(format_of(valid)) > pixel && valid.image_type == PI_IMAGE_2D) {
            const uint64_t pitch = (5 * pixel % views.pitch_alignment == 0 ? 7 : 5) * pixel;
            refused_for({pitch, views.pitch_alignment}, "with misaligned rows",
                        [&](auto &d) { d.row_pitch = pitch; });
        }
    }
}

CONFORMANCE_TEST("image", "a view may end with its buffer's last byte, and no byte later") {
    Views views(fixture);
    for (const pi_mem_image_desc &kind : views.kinds) {
        pi_mem_image_desc desc = views.random_desc(kind);
        const Rows rows = Views::rows(desc);
        Bytes model = fixture.random_bytes(rows.end());
        const Bytes pixels = random_pixels(fixture, desc);
        move_rows(pixels, rows_of(desc), model, rows);
        const Mem buffer = fixture.make_buffer(fixture.place(), model);
        Mem view;
        const pi_result result = piMemImageViewCreate(buffer, &desc, view.out());
        // Some drivers need the bytes between the last row and the next as well.
        if (result != PI_ERROR_UNSUPPORTED_FEATURE || rows.row == rows.row_pitch) {
            require_success(result, "piMemImageViewCreate, ", text_of(desc),
                            ", to its buffer's last byte");
            require_pixels(fixture, views.queue, view, desc, pixels,
                           "a view that ends with its buffer");
        }
        if (rows.end() == 1)
            continue;
        const Mem shorter = fixture.make_buffer(rows.end() - 1);
        require_untouched<pi_mem>(
            "piMemImageViewCreate one byte past the buffer's end", {PI_ERROR_INVALID_SIZE},
            [&](pi_mem *out) { return piMemImageViewCreate(shorter, &desc, out); });
    }
}

CONFORMANCE_TEST(
    "image",
    "a view's descriptor obeys the rules of descriptors, and its buffer must be a buffer") {
    Views views(fixture);
    const pi_mem_image_desc valid = views.kinds.front();
    const Mem buffer = fixture.make_buffer(Views::size_of_storage(valid));
    check_descriptor("piMemImageViewCreate", valid, offsetof(pi_mem_image_desc, flags),
                     [&](const pi_mem_image_desc *desc) {
                         return try_create<pi_mem>(
                             [&](pi_mem *out) { return piMemImageViewCreate(buffer, desc, out); });
                     });
    require_error(piMemImageViewCreate(buffer, &valid, nullptr), PI_ERROR_INVALID_NULL_POINTER,
                  "piMemImageViewCreate with out_mem NULL");
    const Mem image = make_image(fixture, any_image_desc(fixture)),
              view = views.make(buffer, valid);
    for (void *wrong : {static_cast<void *>(nullptr), static_cast<void *>(views.queue.get()),
                        static_cast<void *>(image.get()), static_cast<void *>(view.get())})
        require_untouched<pi_mem>(
            "piMemImageViewCreate of no buffer", {PI_ERROR_INVALID_MEM_OBJECT}, [&](pi_mem *out) {
                return piMemImageViewCreate(reinterpret_cast<pi_mem>(wrong), &valid, out);
            });
}

CONFORMANCE_TEST("image", "a copy between a view and its buffer is refused where they overlap") {
    Views views(fixture);
    pi_mem_image_desc desc = views.kinds.front();
    const uint64_t row = desc.row_pitch, size = Views::size_of_storage(desc) + row;
    desc.offset = 0;
    const Bytes bytes = fixture.random_bytes(size);
    const Mem buffer = fixture.make_buffer(fixture.place(), bytes);
    const Mem view = views.make(buffer, desc);
    for (const bool to_view : {false, true}) {
        const pi_mem src = to_view ? buffer.get() : view.get();
        const pi_mem dst = to_view ? view.get() : buffer.get();
        const uint64_t line = desc.width * format_of(desc).size();
        for (const uint64_t at : {uint64_t{0}, line - 1}) {
            const CopyRegions regions{image_copy_region({}, {}, {desc.width, 1, 1}, {at})};
            require_untouched<pi_event>(
                "a copy onto itself", {PI_ERROR_MEM_COPY_OVERLAP}, [&](pi_event *out) {
                    return try_enqueue(views.queue, image_copy_desc(src, dst, regions), {}, out);
                });
        }
    }
    const CopyRegions two_views{image_copy_region({}, {}, {desc.width, 1, 1})};
    const Mem other = views.make(buffer, desc);
    require_untouched<pi_event>(
        "a copy between two views of one range", {PI_ERROR_MEM_COPY_OVERLAP}, [&](pi_event *out) {
            return try_enqueue(views.queue, image_copy_desc(view, other, two_views), {}, out);
        });
    fixture.require_contents(views.queue, buffer, bytes, "a buffer after refused copies");
    // The buffer has bytes after the view's last row.
    const CopyRegions apart{image_copy_region({}, {}, {desc.width, 1, 1}, {size - row})};
    fixture.wait(fixture.enqueue(views.queue, image_copy_desc(view, buffer, apart)),
                 "a copy from a view to elsewhere in its buffer");
    Bytes expected = bytes;
    std::copy_n(bytes.begin(), desc.width * format_of(desc).size(),
                expected.begin() + static_cast<std::ptrdiff_t>(size - row));
    fixture.require_contents(views.queue, buffer, expected, "a buffer after a copy within it");
}

CONFORMANCE_TEST("image",
                 "an image over a view ends within that view, and has its access or less") {
    fixture.need(PI_CAPABILITY_VIEW, "PI_CAPABILITY_VIEW");
    Views views(fixture);
    const uint64_t start = views.start_of_views();
    for (const pi_mem_image_desc &kind : views.kinds) {
        pi_mem_image_desc desc = views.random_desc(kind);
        const uint64_t size = Views::size_of_storage(desc);
        // The root has room behind each of its views.
        const Mem root = fixture.make_buffer(start + 2 * size);
        views.make(fixture.make_view(root, start, size), desc);
        const uint64_t end = Views::rows(desc).end();
        if (end > 1) {
            const Mem shorter = fixture.make_view(root, start, end - 1);
            require_untouched<pi_mem>(
                "piMemImageViewCreate one byte past the end of a view", {PI_ERROR_INVALID_SIZE},
                [&](pi_mem *out) { return piMemImageViewCreate(shorter, &desc, out); });
        }
        for (const uint64_t access : {PI_MEM_READ_ONLY, PI_MEM_WRITE_ONLY}) {
            auto part = pi::desc<pi_mem_partition_desc>();
            part.flags = access;
            part.offset = start;
            part.size = size;
            Mem middle;
            require_success(piMemBufferPartition(root, &part, middle.out()),
                            "piMemBufferPartition with flags ", access);
            desc.flags = 0;
            require_equal(get_info<uint64_t>(&piMemGetInfo, views.make(middle, desc).get(),
                                             PI_MEM_INFO_FLAGS),
                          access, "the flags of an image over a view with these flags");
            desc.flags = access ^ (PI_MEM_READ_ONLY | PI_MEM_WRITE_ONLY);
            require_untouched<pi_mem>(
                "an image with access that its view does not have", {PI_ERROR_INVALID_VALUE},
                [&](pi_mem *out) { return piMemImageViewCreate(middle, &desc, out); });
        }
    }
}

} // namespace
} // namespace pi::suite
