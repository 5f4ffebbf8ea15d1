// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pi/sdk/image_region.hpp>
#include <pi/sdk/pixel.hpp>

#include <catch2/catch.hpp>

#include <functional>

using namespace pi::sdk;

namespace {

pi_result code_of(const std::function<void()> &body) {
    try {
        body();
        return PI_SUCCESS;
    } catch (const Error &error) {
        CHECK_FALSE(error.text().empty());
        return error.code();
    }
}

const ImageLimits limits{{100, 90}, {80, 70, 60}, 50};

pi_mem_image_desc desc_of(pi_image_type type, uint64_t width, uint64_t height = 0,
                          uint64_t depth = 0, uint64_t layers = 0) {
    pi_mem_image_desc desc{};
    desc.image_type = type;
    desc.channel_order = PI_CHANNEL_ORDER_RG;
    desc.channel_type = PI_CHANNEL_SINT16;
    desc.width = width;
    desc.height = height;
    desc.depth = depth;
    desc.array_size = layers;
    return desc;
}

template <class T>
std::vector<T> packed(pi_channel_order order, pi_channel_type type, const void *color) {
    const auto bytes = pack_color(PixelFormat(order, type), color);
    std::vector<T> channels(bytes.size() / sizeof(T));
    std::memcpy(channels.data(), bytes.data(), bytes.size());
    return channels;
}

} // namespace

TEST_CASE("Every pair of order and type has a pixel size; other values are refused") {
    const uint32_t bytes[] = {1, 2, 1, 2, 1, 2, 4, 1, 2, 4, 2, 4};
    const uint32_t channels[] = {1, 2, 4, 4};
    for (pi_channel_type type = PI_CHANNEL_UNORM8; type <= PI_CHANNEL_FLOAT; ++type)
        for (pi_channel_order order = PI_CHANNEL_ORDER_R; order <= PI_CHANNEL_ORDER_BGRA; ++order)
            CHECK(PixelFormat(order, type).bytes() == bytes[type - 1] * channels[order - 1]);
    CHECK(code_of([] { PixelFormat(0, 1); }) == PI_ERROR_INVALID_ENUMERATION);
    CHECK(code_of([] { PixelFormat(5, 1); }) == PI_ERROR_INVALID_ENUMERATION);
    CHECK(code_of([] { PixelFormat(1, 0); }) == PI_ERROR_INVALID_ENUMERATION);
    CHECK(code_of([] { PixelFormat(1, 13); }) == PI_ERROR_INVALID_ENUMERATION);
    CHECK(text(PixelFormat(PI_CHANNEL_ORDER_BGRA, PI_CHANNEL_HALF)) == "BGRA of HALF");
}

TEST_CASE("Each type of image has its own axes, none of them 0 or too long") {
    struct Row {
        pi_image_type type;
        uint64_t width, height, depth, layers;
        Pixels extent;
        uint32_t pitches;
    };
    for (const Row &row : {Row{PI_IMAGE_1D, 100, 0, 0, 0, {100, 1, 1}, 1},
                           Row{PI_IMAGE_2D, 100, 90, 0, 0, {100, 90, 1}, 2},
                           Row{PI_IMAGE_3D, 80, 70, 60, 0, {80, 70, 60}, 3},
                           Row{PI_IMAGE_1D_ARRAY, 100, 0, 0, 50, {100, 1, 50}, 2},
                           Row{PI_IMAGE_2D_ARRAY, 100, 90, 0, 50, {100, 90, 50}, 3}}) {
        const auto valid = desc_of(row.type, row.width, row.height, row.depth, row.layers);
        const ImageShape shape = read_image_shape(valid, limits);
        CHECK(shape.extent == row.extent);
        CHECK(shape.mip_levels == 1);
        CHECK(shape.type->pitch_count() == row.pitches);
        CHECK(shape.bytes() == row.extent[0] * row.extent[1] * row.extent[2] * 4);
        for (auto axis : {&pi_mem_image_desc::width, &pi_mem_image_desc::height,
                          &pi_mem_image_desc::depth, &pi_mem_image_desc::array_size}) {
            auto other = valid;
            const bool has = other.*axis != 0;
            other.*axis = has ? 0 : 1;
            CHECK(code_of([&] { read_image_shape(other, limits); }) ==
                  (has ? PI_ERROR_INVALID_SIZE : PI_ERROR_INVALID_VALUE));
            other.*axis = valid.*axis + 1;
            CHECK(code_of([&] { read_image_shape(other, limits); }) ==
                  (has ? PI_ERROR_INVALID_SIZE : PI_ERROR_INVALID_VALUE));
        }
    }
    auto desc = desc_of(6, 1);
    CHECK(code_of([&] { read_image_shape(desc, limits); }) == PI_ERROR_INVALID_ENUMERATION);
    for (auto count : {&pi_mem_image_desc::mip_levels, &pi_mem_image_desc::samples}) {
        desc = desc_of(PI_IMAGE_1D, 1);
        desc.*count = 1;
        CHECK(code_of([&] { read_image_shape(desc, limits); }) == PI_SUCCESS);
        desc.*count = 2;
        CHECK(code_of([&] { read_image_shape(desc, limits); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    }
    const ImageLimits huge{{UINT64_MAX, UINT64_MAX}, {}, UINT64_MAX};
    desc = desc_of(PI_IMAGE_2D, uint64_t{1} << 32, uint64_t{1} << 31);
    CHECK(code_of([&] { read_image_shape(desc, huge); }) == PI_ERROR_INVALID_SIZE);
}

namespace {

Rectangle read_image_pitches(const pi_mem_image_desc &desc, const ImageShape &shape) {
    Rectangle pixels;
    enforce(
        [&](pi::checks::Check &check) { pi::checks::read_pitches(check, desc, shape, pixels); });
    return pixels;
}

} // namespace

TEST_CASE(
    "Pitches are multiples, at least as large as what they step over, and only of existing axes") {
    auto desc = desc_of(PI_IMAGE_3D, 5, 3, 2);
    const ImageShape shape = read_image_shape(desc, limits);
    Rectangle pixels = read_image_pitches(desc, shape);
    CHECK((pixels.row == 20 && pixels.row_pitch == 20 && pixels.slice_pitch == 60));
    desc.row_pitch = 24;
    desc.slice_pitch = 96;
    desc.offset = 7;
    pixels = read_image_pitches(desc, shape);
    CHECK((pixels.row_pitch == 24 && pixels.slice_pitch == 96 && pixels.end() == 7 + 96 + 48 + 20));
    for (const auto &[row, slice] : {std::pair{19u, 0u}, {16, 0}, {22, 0}, {24, 48}, {24, 80}}) {
        desc.row_pitch = row;
        desc.slice_pitch = slice;
        CHECK(code_of([&] { read_image_pitches(desc, shape); }) == PI_ERROR_INVALID_SIZE);
    }
    desc.row_pitch = UINT64_MAX - 3;
    CHECK(code_of([&] { read_image_pitches(desc, shape); }) == PI_ERROR_INVALID_SIZE);
    // A pitch that leads to no other row or slice may be anything.
    desc = desc_of(PI_IMAGE_2D, 5, 1);
    desc.row_pitch = UINT64_MAX - 3;
    desc.offset = 8;
    CHECK(read_image_pitches(desc, read_image_shape(desc, limits)).end() == 8 + 20);
    desc = desc_of(PI_IMAGE_3D, 5, 3, 1);
    desc.slice_pitch = UINT64_MAX - 15;
    desc.offset = 20;
    CHECK(read_image_pitches(desc, read_image_shape(desc, limits)).end() == 20 + 60);
    desc = desc_of(PI_IMAGE_2D, 5, 3);
    desc.slice_pitch = 60;
    CHECK(code_of([&] { read_image_pitches(desc, read_image_shape(desc, limits)); }) ==
          PI_ERROR_INVALID_VALUE);
}

TEST_CASE("Flags and host_ptr of an image fit together") {
    constexpr uint64_t known = mem_access_flags | PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR;
    char bytes[4];
    const auto code = [&](uint64_t flags, void *host_ptr, uint64_t pitch, uint64_t offset) {
        auto desc = desc_of(PI_IMAGE_1D, 1);
        desc.flags = flags;
        desc.host_ptr = host_ptr;
        desc.row_pitch = pitch;
        desc.offset = offset;
        return code_of([&] { check_image_create(desc, read_image_shape(desc, limits), known); });
    };
    CHECK(code(0, nullptr, 0, 0) == PI_SUCCESS);
    CHECK(code(PI_MEM_COPY_HOST_PTR, bytes, 8, 0) == PI_SUCCESS);
    CHECK(code(PI_MEM_REQUIRE_PINNED, nullptr, 0, 0) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code(mem_access_flags, nullptr, 0, 0) == PI_ERROR_INVALID_VALUE);
    CHECK(code(PI_MEM_COPY_HOST_PTR | PI_MEM_USE_HOST_PTR, bytes, 0, 0) == PI_ERROR_INVALID_VALUE);
    CHECK(code(PI_MEM_USE_HOST_PTR, nullptr, 0, 0) == PI_ERROR_INVALID_NULL_POINTER);
    CHECK(code(0, bytes, 0, 0) == PI_ERROR_INVALID_VALUE);
    CHECK(code(0, nullptr, 4, 0) == PI_ERROR_INVALID_VALUE);
    CHECK(code(0, nullptr, 0, 4) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("A view fits the buffer's bytes, flags and alignments") {
    const auto code = [&](uint64_t flags, uint64_t offset, uint64_t pitch, uint64_t inherited) {
        auto desc = desc_of(PI_IMAGE_2D, 4, 2);
        desc.flags = flags;
        desc.offset = offset;
        desc.row_pitch = pitch;
        return code_of(
            [&] { check_image_view(desc, read_image_shape(desc, limits), 64, inherited, 8, 16); });
    };
    CHECK(code(0, 32, 0, 0) == PI_SUCCESS);
    CHECK(code(0, 40, 0, 0) == PI_ERROR_INVALID_SIZE);
    CHECK(code(0, UINT64_MAX - 7, 0, 0) == PI_ERROR_INVALID_SIZE);
    CHECK(code(0, 4, 0, 0) == PI_ERROR_MISALIGNED_OFFSET);
    CHECK(code(0, 0, 20, 0) == PI_ERROR_MISALIGNED_OFFSET);
    CHECK(code(0, 16, 32, 0) == PI_SUCCESS);
    CHECK(code(0, 24, 32, 0) == PI_ERROR_INVALID_SIZE);
    const auto line = desc_of(PI_IMAGE_1D, 5); // no pitch steps over a single row
    CHECK(code_of([&] { check_image_view(line, read_image_shape(line, limits), 64, 0, 8, 16); }) ==
          PI_SUCCESS);
    CHECK(code(PI_MEM_COPY_HOST_PTR, 0, 0, 0) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code(PI_MEM_READ_ONLY, 0, 0, PI_MEM_WRITE_ONLY) == PI_ERROR_INVALID_VALUE);
    CHECK(code(PI_MEM_READ_ONLY, 0, 0, PI_MEM_READ_ONLY | PI_MEM_COPY_HOST_PTR) == PI_SUCCESS);
    CHECK(view_flags(0, PI_MEM_READ_ONLY | PI_MEM_USE_HOST_PTR) ==
          (PI_MEM_READ_ONLY | PI_MEM_USE_HOST_PTR));
    CHECK(view_flags(PI_MEM_WRITE_ONLY, PI_MEM_USE_HOST_PTR) ==
          (PI_MEM_WRITE_ONLY | PI_MEM_USE_HOST_PTR));
}

TEST_CASE("Regions lie within the image; rows and slices of 0 are 1") {
    const ImageShape image = read_image_shape(desc_of(PI_IMAGE_2D_ARRAY, 8, 6, 0, 4), limits);
    pi_image_region region{};
    const auto code = [&] { return code_of([&] { read_image_regions(1, &region, image); }); };
    CHECK(code() == PI_ERROR_INVALID_SIZE);
    region.extent[0] = 8;
    const ImageTransfer transfer = read_image_regions(1, &region, image).front();
    CHECK(transfer.box.extent == Pixels{8, 1, 1});
    CHECK((transfer.host.row == 32 && transfer.host.rows == 1 && transfer.host.slices == 1));
    for (int axis = 0; axis < 3; ++axis) {
        const uint64_t length = image.extent[static_cast<size_t>(axis)];
        pi_image_region valid{};
        std::copy(image.extent.begin(), image.extent.end(), valid.extent);
        region = valid;
        CHECK(code() == PI_SUCCESS);
        region.origin[axis] = 1;
        CHECK(code() == PI_ERROR_INVALID_SIZE);
        region.extent[axis] = length - 1;
        CHECK(code() == PI_SUCCESS);
        region.origin[axis] = UINT64_MAX;
        region.extent[axis] = 2;
        CHECK(code() == PI_ERROR_INVALID_SIZE);
    }
    region = {{}, {8, 6, 4}, 33, 33 * 6 + 5, 3, 0, 0};
    CHECK(read_image_regions(1, &region, image).front().host.end() ==
          3 + 3 * (33 * 6 + 5) + 5 * 33 + 32);
    region.row_pitch = 31;
    CHECK(code() == PI_ERROR_INVALID_SIZE);
    region.row_pitch = 32;
    region.offset = UINT64_MAX - 100;
    CHECK(code() == PI_ERROR_INVALID_SIZE);
    region.offset = 0;
    region.mip_level = 1;
    CHECK(code() == PI_ERROR_INVALID_VALUE);
    region.mip_level = 0;
    region.reserved[2] = 1;
    CHECK(code() == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code_of([&] { read_image_regions(0, &region, image); }) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([&] { read_image_regions(1, nullptr, image); }) == PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("The ends of a copy are checked as images or buffers") {
    const ImageShape a = read_image_shape(desc_of(PI_IMAGE_2D, 8, 6), limits);
    auto other = desc_of(PI_IMAGE_2D, 8, 6);
    other.channel_type = PI_CHANNEL_UINT16;
    const ImageShape b = read_image_shape(other, limits);
    pi_image_copy_region region{};
    region.extent[0] = 4;
    region.extent[1] = 2;
    const auto code = [&](const ImageCopyEnds &ends) {
        return code_of([&] { read_image_copy_regions(1, &region, ends); });
    };
    CHECK(code({&a, &a}) == PI_SUCCESS);
    CHECK(code({&a, &b}) == PI_ERROR_INVALID_VALUE);
    CHECK(code({nullptr, nullptr, 100}) == PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(code({&a, nullptr, 32}) == PI_SUCCESS);
    CHECK(code({nullptr, &a, 31}) == PI_ERROR_INVALID_SIZE);
    region.buffer_offset = 4;
    CHECK(code({&a, &a}) == PI_ERROR_INVALID_VALUE);
    CHECK(code({&a, nullptr, 35}) == PI_ERROR_INVALID_SIZE);
    CHECK(code({&a, nullptr, 36}) == PI_SUCCESS);
    region.src_origin[1] = 5;
    CHECK(code({&a, nullptr, 36}) == PI_ERROR_INVALID_SIZE);
    CHECK(code({nullptr, &a, 36}) == PI_ERROR_INVALID_VALUE);
    region.src_origin[1] = 4;
    CHECK(code({&a, nullptr, 36}) == PI_SUCCESS);
    region.dst_mip_level = 1;
    CHECK(code({&a, nullptr, 36}) == PI_ERROR_INVALID_VALUE);
}

TEST_CASE("Boxes overlap where they share a pixel, and consist of their rows' bytes") {
    const ImageBox box{{2, 1, 0}, {3, 2, 1}, 0};
    CHECK(overlap(box, {{4, 2, 0}, {1, 1, 1}, 0}));
    CHECK_FALSE(overlap(box, {{5, 1, 0}, {1, 1, 1}, 0}));
    CHECK_FALSE(overlap(box, {{2, 3, 0}, {3, 1, 1}, 0}));
    CHECK_FALSE(overlap(box, {{2, 1, 1}, {3, 2, 1}, 0}));
    CHECK_FALSE(overlap(box, {{2, 1, 0}, {3, 2, 1}, 1}));
    const PixelFormat format(PI_CHANNEL_ORDER_RG, PI_CHANNEL_SINT16);
    const ImageShape shape{&find_image_type(PI_IMAGE_2D), format, {8, 6, 1}, 1};
    const LinearImage image{shape, {100, 32, 6, 1, 40, 240}};
    const Rectangle bytes = image.bytes(box);
    CHECK(bytes.offset == 100 + 40 + 8);
    CHECK(bytes.end() == 100 + 2 * 40 + 20);
}

TEST_CASE("Regions of images become regions of bytes, for transfers with the host and for copies") {
    const PixelFormat format(PI_CHANNEL_ORDER_RG, PI_CHANNEL_SINT16);
    const ImageShape shape{&find_image_type(PI_IMAGE_2D), format, {8, 6, 1}, 1};
    const LinearImage padded{shape, {100, 32, 6, 1, 40, 240}}, dense{shape, shape.dense()};
    const ImageBox box{{2, 1, 0}, {3, 2, 1}, 0};
    const Rectangle host{7, 12, 2, 1, 16, 32};

    const auto read = byte_regions({{box, host}}, padded, ImageEnd::SOURCE);
    REQUIRE(read.size() == 1);
    CHECK(read[0].src_offset == 148);
    CHECK(read[0].dst_offset == 7);
    CHECK(read[0].extent[0] == 12);
    CHECK(read[0].extent[1] == 2);
    CHECK(read[0].src_pitch[0] == 40);
    CHECK(read[0].dst_pitch[0] == 16);
    const auto write = byte_regions({{box, host}}, padded, ImageEnd::DESTINATION);
    CHECK(write[0].src_offset == 7);
    CHECK(write[0].dst_offset == 148);

    const ImageCopy copy{box, {{0, 0, 0}, {3, 2, 1}, 0}, host};
    const auto between = byte_regions({copy}, &padded, &dense);
    CHECK(between[0].src_offset == 148);
    CHECK(between[0].dst_offset == 0);
    CHECK(between[0].dst_pitch[0] == 32);
    CHECK(byte_region(copy, nullptr, &dense).src_offset == 7);
    CHECK(byte_region(copy, &padded, nullptr).dst_offset == 7);
}

TEST_CASE("A box converted to bytes and back is unchanged, at any start and pitches") {
    const PixelFormat format(PI_CHANNEL_ORDER_RG, PI_CHANNEL_SINT16);
    const ImageShape shape{&find_image_type(PI_IMAGE_2D_ARRAY), format, {8, 6, 3}, 1};
    for (const Rectangle &pixels : {shape.dense(), Rectangle{100, 32, 6, 3, 40, 280}}) {
        const LinearImage image{shape, pixels};
        for (const ImageBox &box : {ImageBox{{0, 0, 0}, {8, 6, 3}}, ImageBox{{7, 5, 2}, {1, 1, 1}},
                                    ImageBox{{3, 2, 1}, {4, 3, 2}}}) {
            const ImageBox found = image.box(image.bytes(box));
            CHECK(found.origin == box.origin);
            CHECK(found.extent == box.extent);
        }
    }
}

TEST_CASE(
    "The layers of 1-D arrays, and of no other type, become the second axis where requested") {
    const ImageBox box{{1, 0, 3}, {4, 1, 6}};
    const ImageBox swapped = with_layers_second(box, find_image_type(PI_IMAGE_1D_ARRAY));
    CHECK(swapped.origin == Pixels{1, 3, 0});
    CHECK(swapped.extent == Pixels{4, 6, 1});
    for (const pi_image_type type : {PI_IMAGE_1D, PI_IMAGE_2D, PI_IMAGE_3D, PI_IMAGE_2D_ARRAY}) {
        const ImageBox same = with_layers_second(box, find_image_type(type));
        CHECK(same.origin == box.origin);
        CHECK(same.extent == box.extent);
    }
}

TEST_CASE("A memory object is a buffer or an image, and only images that are views have pitches") {
    struct Object {
        const LinearImage *image() const { return of; }
        pi_mem parent() const { return root; }
        const LinearImage *of;
        pi_mem root;
    };
    const PixelFormat format(PI_CHANNEL_ORDER_RG, PI_CHANNEL_SINT16);
    const LinearImage image{{&find_image_type(PI_IMAGE_2D), format, {8, 6, 1}, 1},
                            {100, 32, 6, 1, 40, 240}};
    int object = 0;
    const auto root = reinterpret_cast<pi_mem>(&object);
    const Object buffer{nullptr, nullptr}, whole{&image, nullptr}, view{&image, root};
    CHECK(code_of([&] { require_buffer(buffer, "mem"); }) == PI_SUCCESS);
    CHECK(code_of([&] { require_buffer(view, "mem"); }) == PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(code_of([&] { require_image(buffer, "mem"); }) == PI_ERROR_INVALID_MEM_OBJECT);
    CHECK(code_of([&] { require_image(view, "mem"); }) == PI_SUCCESS);
    CHECK(code_of([&] { view_pitches(buffer); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(code_of([&] { view_pitches(whole); }) == PI_ERROR_UNSUPPORTED_FEATURE);
    CHECK(view_pitches(view) == std::vector<uint64_t>{40, 4});
}

TEST_CASE("Colours are rounded, clamped and put in channel order") {
    const float color[] = {0.5f, -1.0f, 2.0f, 1.0f / 255};
    CHECK(packed<uint8_t>(PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UNORM8, color) ==
          std::vector<uint8_t>{128, 0, 255, 1});
    CHECK(packed<uint8_t>(PI_CHANNEL_ORDER_BGRA, PI_CHANNEL_UNORM8, color) ==
          std::vector<uint8_t>{255, 0, 128, 1});
    CHECK(packed<int16_t>(PI_CHANNEL_ORDER_RG, PI_CHANNEL_SNORM16, color) ==
          std::vector<int16_t>{16384, -32767});
    CHECK(packed<float>(PI_CHANNEL_ORDER_R, PI_CHANNEL_FLOAT, color) == std::vector<float>{0.5f});
    const float nan[] = {NAN, 0, 0, 0};
    CHECK(packed<uint16_t>(PI_CHANNEL_ORDER_R, PI_CHANNEL_UNORM16, nan) ==
          std::vector<uint16_t>{0});
    const int32_t integers[] = {-200, 200, -40000, INT32_MIN};
    CHECK(packed<int8_t>(PI_CHANNEL_ORDER_RG, PI_CHANNEL_SINT8, integers) ==
          std::vector<int8_t>{-128, 127});
    CHECK(packed<int32_t>(PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_SINT32, integers) ==
          std::vector<int32_t>{-200, 200, -40000, INT32_MIN});
    const uint32_t naturals[] = {255, 70000, UINT32_MAX, 0};
    CHECK(packed<uint16_t>(PI_CHANNEL_ORDER_RGBA, PI_CHANNEL_UINT16, naturals) ==
          std::vector<uint16_t>{255, 65535, 65535, 0});
}

TEST_CASE("Halves are the nearest ones") {
    struct Row {
        float value;
        uint16_t half;
    };
    for (const Row &row :
         {Row{0.0f, 0}, Row{-0.0f, 0x8000}, Row{1.0f, 0x3C00}, Row{-2.5f, 0xC100},
          Row{65504.0f, 0x7BFF}, Row{65519.0f, 0x7BFF}, Row{65520.0f, 0x7C00},
          Row{INFINITY, 0x7C00}, Row{-INFINITY, 0xFC00}, Row{NAN, 0x7E00}, Row{0x1p-14f, 0x0400},
          Row{0x1p-24f, 0x0001}, Row{0x1p-25f, 0x0000}, Row{0x1.8p-24f, 0x0002},
          Row{0x1.ff8p-15f, 0x03FF}, Row{1.0f + 0x1p-11f, 0x3C00}, Row{1.0f + 0x1.8p-10f, 0x3C02}})
        CHECK(half_of(row.value) == row.half);
}

TEST_CASE("A sampler's members are listed values, and only normalized coordinates repeat") {
    const auto code = [](uint32_t normalized, pi_addressing_mode addressing,
                         pi_filter_mode filter) {
        pi_sampler_desc desc{};
        desc.normalized_coordinates = normalized;
        desc.addressing = addressing;
        desc.filter = filter;
        return code_of([&] { check_sampler(desc); });
    };
    for (pi_addressing_mode mode = PI_ADDRESSING_NONE; mode <= PI_ADDRESSING_MIRRORED_REPEAT;
         ++mode) {
        CHECK(code(1, mode, PI_FILTER_LINEAR) == PI_SUCCESS);
        CHECK(code(0, mode, PI_FILTER_NEAREST) ==
              (mode < PI_ADDRESSING_REPEAT ? PI_SUCCESS : PI_ERROR_INVALID_VALUE));
    }
    CHECK(code(2, 1, 0) == PI_ERROR_INVALID_VALUE);
    CHECK(code(1, 5, 0) == PI_ERROR_INVALID_ENUMERATION);
    CHECK(code(1, 1, 2) == PI_ERROR_INVALID_ENUMERATION);
}
