// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Images and samplers as arguments of kernels.

#include "checks.hpp"
#include "image.hpp"
#include "image_kernels.hpp"
#include "library.hpp"
#include "registry.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace pi::suite {
namespace {

constexpr PixelFormat numbers{PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT8};
constexpr PixelFormat colors{PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UNORM8};

void need_format(Fixture &fixture, pi_image_type type, PixelFormat format) {
    for (const PixelFormat &has : formats_of(fixture, type))
        if (has.order == format.order && has.type == format.type)
            return;
    skip(join("the device has no ", format.text(), " for ", name_of_type(type)));
}

struct Studio {
    Fixture &fixture;
    Program program;
    Queue queue;

    explicit Studio(Fixture &on)
        : fixture(on), program(make_image_program(on)), queue(on.make_queue()) {}

    Mem image(const pi_mem_image_desc &desc, const Bytes &pixels) {
        Mem made = make_image(fixture, desc);
        image_upload(fixture, queue, made, desc, pixels);
        return made;
    }
    Sampler sampler(const pi_sampler_desc &desc) {
        Sampler made;
        require_success(piSamplerCreate(fixture.context(), &desc, made.out()), "piSamplerCreate");
        return made;
    }
    /// A launch of the kernel "transpose".
    Event transpose(const Kernel &kernel, const Mem &src, const Mem &dst, const Size3 &size,
                    const Waits &waits = {}) {
        Arguments arguments;
        arguments.image(src).image(dst);
        return fixture.enqueue(queue, launch_desc(kernel, arguments, 2, size), waits);
    }
};

Bytes transposed(const Bytes &pixels, uint64_t width, uint64_t height) {
    Bytes result(pixels.size());
    for (uint64_t y = 0; y < height; ++y)
        for (uint64_t x = 0; x < width; ++x)
            std::memcpy(&result[(x * height + y) * 4], &pixels[(y * width + x) * 4], 4);
    return result;
}

CONFORMANCE_TEST("image", "a kernel reads pixels of one image and writes those of another") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, numbers);
    const Kernel kernel = make_kernel(studio.program, "transpose");
    for (int round = 0; round < 6; ++round) {
        const uint64_t width = fixture.random(1, 70), height = fixture.random(1, 40);
        pi_mem_image_desc src_desc = image_desc(PI_IMAGE_2D, numbers, {width, height, 1});
        pi_mem_image_desc dst_desc = image_desc(PI_IMAGE_2D, numbers, {height, width, 1});
        if (round % 2 != 0) {
            src_desc.flags = PI_MEM_READ_ONLY;
            dst_desc.flags = PI_MEM_WRITE_ONLY;
        }
        const Bytes pixels = random_pixels(fixture, src_desc);
        const Mem src = studio.image(src_desc, pixels);
        const Mem dst = studio.image(dst_desc, random_pixels(fixture, dst_desc));
        fixture.wait(studio.transpose(kernel, src, dst, {width, height, 1}), "a launch on images");
        require_pixels(fixture, studio.queue, dst, dst_desc, transposed(pixels, width, height),
                       "an image that a kernel has written");
        require_pixels(fixture, studio.queue, src, src_desc, pixels,
                       "an image that a kernel has read");
    }
}

CONFORMANCE_TEST("image",
                 "a kernel reads an image over host memory by the pitch that it has there") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, numbers);
    const Kernel kernel = make_kernel(studio.program, "transpose");
    for (const uint64_t apart : {0, 1, 5}) {
        const uint64_t width = fixture.random(2, 70), height = fixture.random(2, 40);
        pi_mem_image_desc src_desc = image_desc(PI_IMAGE_2D, numbers, {width, height, 1});
        const pi_mem_image_desc dst_desc = image_desc(PI_IMAGE_2D, numbers, {height, width, 1});
        const Bytes pixels = random_pixels(fixture, src_desc);
        const Rows dense = rows_of(src_desc);
        Rows rows = dense;
        rows.row_pitch += 4 * apart;
        rows.slice_pitch = rows.row_pitch * rows.rows;
        Bytes memory = fixture.random_bytes(rows.slice_pitch);
        move_rows(pixels, dense, memory, rows);
        src_desc.flags = PI_MEM_USE_HOST_PTR;
        src_desc.host_ptr = memory.data();
        src_desc.row_pitch = rows.row_pitch;
        const Mem src = make_image(fixture, src_desc);
        const Mem dst = studio.image(dst_desc, random_pixels(fixture, dst_desc));
        fixture.wait(studio.transpose(kernel, src, dst, {width, height, 1}),
                     "a launch on an image over host memory");
        require_pixels(fixture, studio.queue, dst, dst_desc, transposed(pixels, width, height),
                       join("what a kernel read of rows ", rows.row_pitch, " bytes apart"));
    }
}

CONFORMANCE_TEST("image", "the images of a launch may be released right after the enqueue") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, numbers);
    const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, numbers, {64, 48, 1});
    const pi_mem_image_desc turned = image_desc(PI_IMAGE_2D, numbers, {48, 64, 1});
    const Bytes pixels = random_pixels(fixture, desc);
    const Mem dst = studio.image(turned, random_pixels(fixture, turned));
    const Event gate = fixture.make_host_event();
    Event launched;
    {
        const Kernel kernel = make_kernel(studio.program, "transpose");
        const Mem src = studio.image(desc, pixels);
        launched = studio.transpose(kernel, src, dst, {64, 48, 1}, {gate});
    }
    // Objects that may get its address if it was released.
    const Queue other = fixture.make_queue();
    std::vector<Mem> others;
    for (int i = 0; i < 4; ++i) {
        others.push_back(make_image(fixture, desc));
        image_upload(fixture, other, others.back(), desc, Bytes(pixels.size(), std::byte{0xEE}));
    }
    fixture.signal(gate);
    fixture.wait(launched, "a launch whose image was released");
    require_pixels(fixture, studio.queue, dst, turned, transposed(pixels, 64, 48),
                   "what a launch made of a released image");
}

void require_flattened(Fixture &fixture, pi_image_type type, const char *name) {
    Studio studio(fixture);
    need_format(fixture, type, numbers);
    const Kernel kernel = make_kernel(studio.program, name);
    const Pixels most{fixture.random(1, 20), fixture.random(1, 15), fixture.random(2, 6)};
    const pi_mem_image_desc desc = image_desc(type, numbers, most);
    const Pixels extent = extent_of(desc);
    const Bytes pixels = random_pixels(fixture, desc);
    std::vector<uint32_t> expected;
    for (const std::byte byte : pixels)
        expected.push_back(std::to_integer<uint32_t>(byte));
    const auto require_read = [&](const Mem &image, const std::string &what) {
        const Mem out = fixture.make_buffer(pixels.size() * 4);
        Arguments arguments;
        arguments.image(image).buffer(out);
        fixture.wait(fixture.enqueue(studio.queue, launch_desc(kernel, arguments, 3, extent)),
                     "a launch on " + what);
        fixture.require_contents(studio.queue, out, bytes_of(expected),
                                 "what a kernel has read of " + what);
    };
    require_read(studio.image(desc, pixels), text_of(desc));

    // Over host memory with gaps behind its rows and slices.
    Rows rows = rows_of(desc);
    rows.row_pitch += 2 * format_of(desc).size();
    rows.slice_pitch = rows.row_pitch * (rows.rows + 3);
    Bytes memory = fixture.random_bytes(rows.slice_pitch * rows.slices);
    move_rows(pixels, rows_of(desc), memory, rows);
    pi_mem_image_desc over = desc;
    over.flags = PI_MEM_USE_HOST_PTR;
    over.host_ptr = memory.data();
    over.row_pitch = rows.row_pitch;
    over.slice_pitch = rows.slices > 1 ? rows.slice_pitch : 0; // 0 where images have no slices
    require_read(make_image(fixture, over), text_of(desc) + " over host memory");
}

CONFORMANCE_TEST("image", "a kernel reads the slices of a 3-D image") {
    require_flattened(fixture, PI_IMAGE_3D, "flatten");
}

CONFORMANCE_TEST("image", "a kernel reads the layers of an array of images") {
    require_flattened(fixture, PI_IMAGE_2D_ARRAY, "flatten_layers");
}

CONFORMANCE_TEST("image", "a kernel reads the channels of a pixel by their names, in every order") {
    Studio studio(fixture);
    const pi_program_format format = kernel_format(fixture);
    if ((format != PI_PROGRAM_FORMAT_OPENCL_C && format != PI_PROGRAM_FORMAT_SPIRV) ||
        is_simulated(fixture.device()))
        skip("the suite's kernels for this device read the bytes of pixels, not channels");
    const Kernel kernel = make_kernel(studio.program, "flatten");
    const Kernel sampling = make_kernel(studio.program, "sample");
    const Sampler nearest =
        studio.sampler(sampler_desc(0, PI_ADDRESSING_CLAMP_TO_EDGE, PI_FILTER_NEAREST));
    struct Case {
        pi_channel_order order;
        std::vector<uint64_t> places; // of red, green, blue and alpha, those that it has
    };
    for (const auto &[order, places] :
         {Case{PI_CHANNEL_ORDER_R, {0}}, Case{PI_CHANNEL_ORDER_RG, {0, 1}},
          Case{PI_CHANNEL_ORDER_RGBA, {0, 1, 2, 3}}, Case{PI_CHANNEL_ORDER_BGRA, {2, 1, 0, 3}}}) {
        const auto has = [&](pi_image_type type, PixelFormat wanted) {
            const std::vector<PixelFormat> all = formats_of(fixture, type);
            return std::ranges::count(all, wanted) != 0;
        };
        const auto value_of = [&](const Bytes &pixels, uint64_t pixel, std::size_t channel) {
            return std::to_integer<uint32_t>(pixels[pixel * places.size() + places[channel]]);
        };
        if (const PixelFormat integers{order, PI_CHANNEL_UINT8}; has(PI_IMAGE_3D, integers)) {
            const pi_mem_image_desc desc = image_desc(PI_IMAGE_3D, integers, {3, 2, 2});
            const Bytes pixels = random_pixels(fixture, desc);
            const Mem image = studio.image(desc, pixels), out = fixture.make_buffer(12 * 16);
            Arguments arguments;
            arguments.image(image).buffer(out);
            fixture.wait(
                fixture.enqueue(studio.queue, launch_desc(kernel, arguments, 3, {3, 2, 2})));
            const std::vector<uint32_t> read =
                words_of(fixture.download(studio.queue, out, 12 * 16));
            for (uint64_t pixel = 0; pixel < 12; ++pixel)
                for (std::size_t channel = 0; channel < places.size(); ++channel)
                    require_equal(read[4 * pixel + channel], value_of(pixels, pixel, channel),
                                  join("what a kernel has read of channel ", channel, " of pixel ",
                                       pixel, " of ", text_of(desc)));
        }
        if (const PixelFormat shares{order, PI_CHANNEL_UNORM8}; has(PI_IMAGE_2D, shares)) {
            const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, shares, {4, 3, 1});
            const Bytes pixels = random_pixels(fixture, desc);
            const Mem image = studio.image(desc, pixels), out = fixture.make_buffer(12 * 16);
            std::vector<float> coordinates;
            for (int y = 0; y < 3; ++y)
                for (int x = 0; x < 4; ++x)
                    coordinates.insert(coordinates.end(), {static_cast<float>(x) + 0.5f,
                                                           static_cast<float>(y) + 0.5f});
            Bytes places_of(coordinates.size() * sizeof(float));
            std::memcpy(places_of.data(), coordinates.data(), places_of.size());
            const Mem at = fixture.make_buffer(fixture.place(), places_of);
            Arguments arguments;
            arguments.image(image).sampler(nearest).buffer(at).buffer(out);
            fixture.wait(fixture.enqueue(studio.queue, launch_desc(sampling, arguments, 12)));
            const Bytes read = fixture.download(studio.queue, out, 12 * 16);
            for (uint64_t i = 0; i < 48; ++i) {
                if (i % 4 >= places.size())
                    continue;
                float is = 0;
                std::memcpy(&is, &read[i * sizeof is], sizeof is);
                const auto should = static_cast<float>(value_of(pixels, i / 4, i % 4)) / 255.0f;
                require(std::fabs(is - should) < 1e-5f, "a kernel has read channel ", i % 4,
                        " of pixel ", i / 4, " of ", text_of(desc), " as ", is, ", should be ",
                        should);
            }
        }
    }
}

CONFORMANCE_TEST("image", "a kernel reads a 1-D image") {
    require_flattened(fixture, PI_IMAGE_1D, "flatten_line");
}

CONFORMANCE_TEST("image", "a kernel reads the layers of an array of 1-D images") {
    require_flattened(fixture, PI_IMAGE_1D_ARRAY, "flatten_lines");
}

// ----- Samplers -----

// Coordinates {x, y}, never near the border between two pixels.
std::vector<float> random_coordinates(Fixture &fixture, const pi_sampler_desc &sampler,
                                      uint64_t width, uint64_t height, int count) {
    const auto pick = [&](uint64_t length) {
        const bool outside = sampler.addressing != PI_ADDRESSING_NONE;
        const auto whole = static_cast<double>(fixture.random(0, (outside ? 3 : 1) * length - 1)) -
                           static_cast<double>(outside ? length : 0);
        const double at = whole + static_cast<double>(fixture.random(20, 44)) / 64;
        return static_cast<float>(
            sampler.normalized_coordinates != 0 ? at / static_cast<double>(length) : at);
    };
    std::vector<float> coordinates;
    for (int i = 0; i < count; ++i) {
        coordinates.push_back(pick(width));
        coordinates.push_back(pick(height));
    }
    return coordinates;
}

Bytes bytes_of_floats(const std::vector<float> &values) {
    Bytes bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    return bytes;
}

void require_sampled(Studio &studio, const pi_sampler_desc &described, float tolerance) {
    constexpr int count = 200;
    Fixture &fixture = studio.fixture;
    const uint64_t width = fixture.random(5, 40), height = fixture.random(5, 30);
    const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, colors, {width, height, 1});
    const Bytes pixels = random_pixels(fixture, desc);
    const Mem image = studio.image(desc, pixels);
    const Sampler sampler = studio.sampler(described);
    const std::vector<float> at = random_coordinates(fixture, described, width, height, count);
    const Mem in = fixture.make_buffer(fixture.place(), bytes_of_floats(at));
    const Mem out = fixture.make_buffer(count * 16);
    const Kernel kernel = make_kernel(studio.program, "sample");
    Arguments arguments;
    // The image's own sampler is for backends that join both; others ignore it.
    arguments.image(image, sampler).sampler(sampler).buffer(in).buffer(out);
    fixture.wait(fixture.enqueue(studio.queue, launch_desc(kernel, arguments, count)),
                 "a launch that samples");
    const Bytes bytes = fixture.download(studio.queue, out, count * 16);
    for (std::size_t i = 0; i < count; ++i) {
        const auto expected =
            sample({pixels.data(), width, height, width * 4}, described, at[2 * i], at[2 * i + 1]);
        std::array<float, 4> actual{};
        std::memcpy(actual.data(), bytes.data() + 16 * i, sizeof actual);
        for (std::size_t channel = 0; channel < 4; ++channel)
            require(std::fabs(actual[channel] - expected[channel]) <= tolerance, "normalized ",
                    described.normalized_coordinates, ", addressing ", described.addressing,
                    ", filter ", described.filter, ": {", at[2 * i], ", ", at[2 * i + 1], "} of ",
                    width, " x ", height, " pixels has in channel ", channel, " ", actual[channel],
                    ", should be ", expected[channel]);
    }
}

void require_sampled_in_all_modes(Fixture &fixture, pi_filter_mode filter, float tolerance) {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, colors);
    for (const uint32_t normalized : {0u, 1u})
        for (pi_addressing_mode mode = PI_ADDRESSING_NONE; mode <= PI_ADDRESSING_MIRRORED_REPEAT;
             ++mode)
            if ((normalized != 0 || mode < PI_ADDRESSING_REPEAT) &&
                (filter == PI_FILTER_NEAREST || mode != PI_ADDRESSING_NONE))
                require_sampled(studio, sampler_desc(normalized, mode, filter), tolerance);
}

CONFORMANCE_TEST("sampler",
                 "a kernel that samples the nearest pixel finds it by every addressing mode") {
    require_sampled_in_all_modes(fixture, PI_FILTER_NEAREST, 1e-4f);
}

CONFORMANCE_TEST("sampler",
                 "a kernel that samples between pixels finds their mean by every addressing mode") {
    require_sampled_in_all_modes(fixture, PI_FILTER_LINEAR, 0.02f);
}

CONFORMANCE_TEST("sampler",
                 "a launch keeps image and sampler, which may be released right after it") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, colors);
    const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, colors, {8, 8, 1});
    const pi_sampler_desc described =
        sampler_desc(0, PI_ADDRESSING_CLAMP_TO_EDGE, PI_FILTER_NEAREST);
    const Bytes pixels = random_pixels(fixture, desc);
    const Mem in = fixture.make_buffer(fixture.place(), bytes_of_floats({-5.5f, 3.5f}));
    const Mem out = fixture.make_buffer(16);
    const Event gate = fixture.make_host_event();
    Event done;
    {
        const Mem image = studio.image(desc, pixels);
        const Sampler sampler = studio.sampler(described);
        const Kernel kernel = make_kernel(studio.program, "sample");
        Arguments arguments;
        arguments.image(image, sampler).sampler(sampler).buffer(in).buffer(out);
        done = fixture.enqueue(studio.queue, launch_desc(kernel, arguments, 1), {gate});
    }
    // New objects must not get the addresses of those that are still in use.
    const Mem other = make_image(fixture, desc);
    const Sampler another = studio.sampler(sampler_desc(1, PI_ADDRESSING_REPEAT, PI_FILTER_LINEAR));
    // A later launch has its own.
    const Mem unused = fixture.make_buffer(16);
    Arguments later;
    later.image(other, another).sampler(another).buffer(in).buffer(unused);
    const Kernel kernel = make_kernel(studio.program, "sample");
    const Event behind = fixture.enqueue(studio.queue, launch_desc(kernel, later, 1));
    fixture.signal(gate);
    fixture.wait(done, "a launch on a released image and sampler");
    fixture.wait(behind, "a launch behind it");
    const auto expected = sample({pixels.data(), 8, 8, 32}, described, -5.5f, 3.5f);
    const Bytes bytes = fixture.download(studio.queue, out, 16);
    for (std::size_t channel = 0; channel < 4; ++channel) {
        float actual = 0;
        std::memcpy(&actual, bytes.data() + 4 * channel, 4);
        require(std::fabs(actual - expected[channel]) < 1e-4f, "channel ", channel, " is ", actual,
                ", should be ", expected[channel]);
    }
}

CONFORMANCE_TEST(
    "sampler",
    "new images and samplers are not confused with those that were released before them") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, colors);
    const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, colors, {8, 8, 1});
    const Bytes first = random_pixels(fixture, desc), second = random_pixels(fixture, desc);
    const Mem kept = studio.image(desc, first);
    const Kernel kernel = make_kernel(studio.program, "sample");
    const Mem in = fixture.make_buffer(fixture.place(), bytes_of_floats({-5.5f, 3.5f}));
    const Mem out = fixture.make_buffer(16);
    for (int round = 0; round < 80; ++round) {
        const bool is_new = fixture.random(0, 2) != 0;
        const Mem image = is_new ? studio.image(desc, second) : Mem();
        const pi_sampler_desc described = sampler_desc(
            0, fixture.random(0, 1) ? PI_ADDRESSING_CLAMP_TO_EDGE : PI_ADDRESSING_CLAMP,
            PI_FILTER_NEAREST);
        const Sampler sampler = studio.sampler(described);
        Arguments arguments;
        arguments.image(is_new ? image : kept, sampler).sampler(sampler).buffer(in).buffer(out);
        pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 1);
        launch.flags |= round % 3 != 0 ? PI_COMMAND_BLOCKING : 0;
        fixture.wait(fixture.enqueue(studio.queue, launch), "a launch");
        const auto expected =
            sample({(is_new ? second : first).data(), 8, 8, 32}, described, -5.5f, 3.5f);
        const Bytes bytes = fixture.download(studio.queue, out, 16);
        for (std::size_t channel = 0; channel < 4; ++channel) {
            float actual = 0;
            std::memcpy(&actual, bytes.data() + 4 * channel, 4);
            require(std::fabs(actual - expected[channel]) < 1e-4f, "in round ", round, " channel ",
                    channel, " is ", actual, ", should be ", expected[channel]);
        }
    }
}

// ----- Launches that must be refused -----

CONFORMANCE_TEST(
    "image",
    "a launch refuses an image argument that is not an image, and images for other arguments") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, numbers);
    const Kernel kernel = make_kernel(studio.program, "transpose");
    const pi_mem_image_desc desc = image_desc(PI_IMAGE_2D, numbers, {8, 8, 1});
    const Bytes pixels = random_pixels(fixture, desc);
    const Mem src = make_image(fixture, desc), dst = studio.image(desc, pixels);
    const Mem buffer = fixture.make_buffer(1024);
    const auto refused = [&](const std::string &what, pi_result error, const Arguments &arguments) {
        const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 2, {8, 8, 1});
        require_untouched<pi_event>("a launch with " + what, {error}, [&](pi_event *out) {
            return try_enqueue(studio.queue, launch, {}, out);
        });
    };
    const auto with = [&](const std::string &what, pi_result error, const auto &change) {
        Arguments arguments;
        arguments.image(src).image(dst);
        change(arguments[0]);
        refused(what, error, arguments);
    };
    with("a buffer as image", PI_ERROR_INVALID_MEM_OBJECT, [&](auto &a) { a.mem = buffer; });
    with("the image NULL", PI_ERROR_INVALID_MEM_OBJECT, [](auto &a) { a.mem = nullptr; });
    with("a queue as image", PI_ERROR_INVALID_MEM_OBJECT,
         [&](auto &a) { a.mem = reinterpret_cast<pi_mem>(studio.queue.get()); });
    with("an image from an offset", PI_ERROR_INVALID_ARGUMENTS, [](auto &a) { a.offset = 4; });
    with("an image of a size", PI_ERROR_INVALID_ARGUMENTS, [](auto &a) { a.size = 4; });
    with("a queue as the image's sampler", PI_ERROR_INVALID_SAMPLER,
         [&](auto &a) { a.image_sampler = reinterpret_cast<pi_sampler>(studio.queue.get()); });
    with("a reserved word", PI_ERROR_UNSUPPORTED_FEATURE, [](auto &a) { a.reserved = 1; });
    Program program = make_program(fixture);
    const Kernel add = make_kernel(program, "add");
    Arguments as_buffer;
    as_buffer.buffer(src).value(uint32_t{1});
    const pi_kernel_launch_desc launch = launch_desc(add, as_buffer, 4);
    require_untouched<pi_event>(
        "an image as a buffer", {PI_ERROR_INVALID_MEM_OBJECT},
        [&](pi_event *out) { return try_enqueue(studio.queue, launch, {}, out); });
    require_pixels(fixture, studio.queue, dst, desc, pixels, "an image after refused launches");
}

CONFORMANCE_TEST("sampler", "a launch refuses a handle that is not a sampler of its context") {
    Studio studio(fixture);
    need_format(fixture, PI_IMAGE_2D, colors);
    const Kernel kernel = make_kernel(studio.program, "sample");
    const Mem image = make_image(fixture, image_desc(PI_IMAGE_2D, colors, {8, 8, 1}));
    const Mem in = fixture.make_buffer(64), out = fixture.make_buffer(64);
    const pi_sampler_desc described = sampler_desc(0, PI_ADDRESSING_CLAMP, PI_FILTER_NEAREST);
    const Sampler own = studio.sampler(described);
    const Context other_context = fixture.make_context({fixture.device()});
    Sampler another;
    require_success(piSamplerCreate(other_context, &described, another.out()), "piSamplerCreate");
    const auto refused = [&](const std::string &what, pi_result error, const auto &change) {
        Arguments arguments;
        arguments.image(image).sampler(own).buffer(in).buffer(out);
        change(arguments);
        const pi_kernel_launch_desc launch = launch_desc(kernel, arguments, 1);
        require_untouched<pi_event>("a launch with " + what, {error}, [&](pi_event *event) {
            return try_enqueue(studio.queue, launch, {}, event);
        });
    };
    constexpr pi_result wrong = PI_ERROR_INVALID_SAMPLER;
    const auto a_queue = reinterpret_cast<pi_sampler>(studio.queue.get());
    refused("the sampler NULL", wrong, [](auto &a) { a[1].sampler = nullptr; });
    refused("a queue as sampler", wrong, [&](auto &a) { a[1].sampler = a_queue; });
    refused("another context's sampler", wrong, [&](auto &a) { a[1].sampler = another; });
    refused("a queue as the image's sampler", wrong,
            [&](auto &a) { a[0].image_sampler = a_queue; });
    refused("another context's sampler of an image", wrong,
            [&](auto &a) { a[0].image_sampler = another; });
    refused("a sampler of a size", PI_ERROR_INVALID_ARGUMENTS, [](auto &a) { a[1].size = 8; });
    refused("a sampler from an offset", PI_ERROR_INVALID_ARGUMENTS,
            [](auto &a) { a[1].offset = 8; });
    refused("a sampler's reserved word", PI_ERROR_UNSUPPORTED_FEATURE,
            [](auto &a) { a[1].reserved = 1; });
}

} // namespace
} // namespace pi::suite
