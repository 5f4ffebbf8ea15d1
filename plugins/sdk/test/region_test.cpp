// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pi/sdk/region.hpp>

#include <catch2/catch.hpp>

#include <map>
#include <random>
#include <set>

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

/// A random region whose ends lie within `size` bytes.
pi_region random_region(std::mt19937_64 &random, uint64_t size) {
    const auto pick = [&](uint64_t low, uint64_t high) {
        return std::uniform_int_distribution<uint64_t>(low, high)(random);
    };
    for (;;) {
        pi_region region{};
        region.extent[0] = pick(1, 40);
        region.extent[1] = pick(0, 4);
        region.extent[2] = pick(0, 3);
        for (auto *pitch : {region.src_pitch, region.dst_pitch}) {
            pitch[0] = pick(0, 1) ? region.extent[0] + pick(0, 8) : 0;
            const uint64_t row = pitch[0] ? pitch[0] : region.extent[0];
            const uint64_t rows = region.extent[1] ? region.extent[1] : 1;
            pitch[1] = pick(0, 1) ? row * rows + pick(0, 8) : 0;
        }
        region.src_offset = pick(0, size);
        region.dst_offset = pick(0, size);
        if (source(region).end() <= size && destination(region).end() <= size)
            return region;
    }
}

/// Every byte address of an end, by the definition.
std::vector<uint64_t> addresses(const pi_region &region, bool src) {
    const uint64_t *pitch = src ? region.src_pitch : region.dst_pitch;
    const uint64_t rows = std::max<uint64_t>(1, region.extent[1]);
    const uint64_t row = pitch[0] ? pitch[0] : region.extent[0];
    const uint64_t slice = pitch[1] ? pitch[1] : row * rows;
    std::vector<uint64_t> list;
    for (uint64_t z = 0; z < std::max<uint64_t>(1, region.extent[2]); ++z)
        for (uint64_t y = 0; y < rows; ++y)
            for (uint64_t x = 0; x < region.extent[0]; ++x)
                list.push_back((src ? region.src_offset : region.dst_offset) + z * slice + y * row +
                               x);
    return list;
}

} // namespace

TEST_CASE("regions copy exactly the bytes of their definition") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr uint64_t size = 4096;
    for (int step = 0; step < 500; ++step) {
        const pi_region region = random_region(random, size);
        std::vector<uint8_t> src(size), dst(size, 0), expected(size, 0);
        for (auto &byte : src)
            byte = static_cast<uint8_t>(random());
        const auto from = addresses(region, true), to = addresses(region, false);
        for (size_t i = 0; i < from.size(); ++i)
            expected[to[i]] = src[from[i]];
        copy_regions(std::span(&region, 1), src.data(), dst.data());
        REQUIRE(dst == expected);
    }
}

TEST_CASE(
    "the grids of a region are its bytes, in at most as many calls as it has rows or slices") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    constexpr uint64_t size = 4096;
    for (int step = 0; step < 500; ++step) {
        const pi_region region = random_region(random, size);
        const Rectangle from = source(region), to = destination(region);
        for (const uint64_t max_pitch : {uint64_t{0}, UINT64_MAX}) {
            std::map<uint64_t, uint64_t> copied; // source by destination
            uint64_t calls = 0;
            for_each_grid(from, to, max_pitch, [&](const Rectangle &in, const Rectangle &out) {
                ++calls;
                CHECK((in.slices == 1 || in.rows == 1));
                for (uint64_t row = 0; row < in.rows * in.slices; ++row)
                    for (uint64_t byte = 0; byte < in.row; ++byte)
                        copied[out.row_offset(row) + byte] = in.row_offset(row) + byte;
            });
            std::map<uint64_t, uint64_t> expected;
            const auto sources = addresses(region, true), targets = addresses(region, false);
            for (size_t i = 0; i < sources.size(); ++i)
                expected[targets[i]] = sources[i];
            REQUIRE(copied == expected);
            // A row of all slices has the slice pitch, which may be too large for the backend.
            CHECK(calls == (max_pitch ? std::min(from.rows, from.slices) : from.slices));
        }
    }
}

TEST_CASE("slices of one row each become rows") {
    const Rectangle slices{8, 3, 1, 5, 3, 10};
    const Rectangle rows = slices.flat();
    CHECK(rows.rows == 5);
    CHECK(rows.slices == 1);
    for (uint64_t i = 0; i < 5; ++i)
        CHECK(rows.row_offset(i) == slices.row_offset(i));
    CHECK(rows.end() == slices.end());
    CHECK(rows.slices_are_rows());
    CHECK_FALSE(Rectangle{0, 3, 2, 2, 4, 9}.slices_are_rows());
    CHECK(Rectangle{0, 3, 2, 2, 4, 12}.slices_are_rows());
    CHECK(Rectangle{0, 3, 2, 2, 4, 9}.flat().slices == 2);
}

TEST_CASE("two rectangles overlap exactly when they share a byte") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    int overlapping = 0;
    for (int step = 0; step < 2000; ++step) {
        const pi_region region = random_region(random, 1200);
        const auto from = addresses(region, true), to = addresses(region, false);
        const std::set<uint64_t> bytes(from.begin(), from.end());
        const bool expected =
            std::any_of(to.begin(), to.end(), [&](uint64_t b) { return bytes.count(b) != 0; });
        REQUIRE(overlap(source(region), destination(region)) == expected);
        overlapping += expected;
    }
    CHECK(overlapping > 100); // both results occur
    CHECK(overlapping < 1900);
}

TEST_CASE("a region past the end, without bytes or with small pitches is refused with a text") {
    const auto refused = [](pi_region region, uint64_t src = 64, uint64_t dst = 64) {
        return code_of([&] { read_regions(1, &region, src, dst); });
    };
    pi_region good{};
    good.extent[0] = 64;
    CHECK(refused(good) == PI_SUCCESS);
    CHECK(refused(good, 63) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(good, 64, 63) == PI_ERROR_INVALID_SIZE);
    CHECK(refused({}) == PI_ERROR_INVALID_SIZE);

    pi_region past = good;
    past.src_offset = 1;
    CHECK(refused(past) == PI_ERROR_INVALID_SIZE);
    pi_region overflowing = good;
    overflowing.src_offset = UINT64_MAX - 3;
    CHECK(refused(overflowing) == PI_ERROR_INVALID_SIZE);
    pi_region huge = good;
    huge.extent[0] = huge.extent[1] = uint64_t{1} << 33;
    CHECK(refused(huge) == PI_ERROR_INVALID_SIZE);
    pi_region narrow = good;
    narrow.extent[0] = 8;
    narrow.extent[1] = 2;
    narrow.dst_pitch[0] = 7;
    CHECK(refused(narrow) == PI_ERROR_INVALID_SIZE);
    pi_region reserved = good;
    reserved.reserved = 1;
    CHECK(refused(reserved) == PI_ERROR_UNSUPPORTED_FEATURE);

    CHECK(code_of([&] { read_regions(0, &good, 64, 64); }) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([&] { read_regions(1, nullptr, 64, 64); }) == PI_ERROR_INVALID_NULL_POINTER);
}

TEST_CASE("only the bytes that a region touches must exist, whatever its pitches") {
    const auto code = [](pi_region region) {
        return code_of([&] { read_regions(1, &region, 64, std::nullopt); });
    };
    pi_region box{};
    box.extent[0] = 8;
    box.src_offset = 16;
    box.src_pitch[0] = UINT64_MAX; // of one row
    CHECK(code(box) == PI_SUCCESS);
    CHECK(source(box).end() == 24);
    box.extent[1] = 2;
    CHECK(code(box) == PI_ERROR_INVALID_SIZE);
    box.src_pitch[0] = 40; // 16 + 40 + 8
    CHECK(code(box) == PI_SUCCESS);
    for (const uint64_t pitch : {uint64_t{80}, UINT64_MAX - 40, UINT64_MAX}) { // of one slice
        box.src_pitch[1] = pitch;
        CHECK(code(box) == PI_SUCCESS);
        CHECK(source(box).end() == 64);
        // The region for the backend is valid, too, and has no impossible pitch.
        const pi_region again = region_of(source(box), destination(box));
        CHECK(again.src_pitch[1] == 80);
        CHECK(code(again) == PI_SUCCESS);
    }
    box.extent[2] = 2;
    CHECK(code(box) == PI_ERROR_INVALID_SIZE);
    box.src_pitch[1] = UINT64_MAX - 63; // the second slice would end at the address 0
    CHECK(code(box) == PI_ERROR_INVALID_SIZE);
    box.src_pitch[1] = 79;
    CHECK(code(box) == PI_ERROR_INVALID_SIZE);
}

TEST_CASE(
    "the parts of a copy are its bytes, each once, within the sizes of a block and of a row") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    const auto addresses = [](const Rectangle &rectangle) {
        std::vector<uint64_t> bytes;
        for (uint64_t row = 0; row < rectangle.rows * rectangle.slices; ++row)
            for (uint64_t i = 0; i < rectangle.row; ++i)
                bytes.push_back(rectangle.row_offset(row) + i);
        return bytes;
    };
    for (int round = 0; round < 400; ++round) {
        const pi_region region = random_region(random, 1024);
        const Rectangle from = source(region), to = destination(region);
        PartLimits limits{1 + random() % 100, 0, random() % 2 == 0};
        limits.longest = 1 + random() % limits.bytes;
        std::vector<uint64_t> ins, outs;
        for_each_part(from, to, limits, [&](const Rectangle &in, const Rectangle &out) {
            REQUIRE(in.bytes() <= limits.bytes);
            REQUIRE(in.row <= limits.longest);
            REQUIRE(in.slices == 1);
            REQUIRE((in.row == out.row && in.rows == out.rows && out.slices == 1));
            // A row of an image does not continue in the next one.
            REQUIRE((limits.ranges || in.row <= from.row));
            for (const uint64_t byte : addresses(in))
                ins.push_back(byte);
            for (const uint64_t byte : addresses(out))
                outs.push_back(byte);
        });
        REQUIRE(ins == addresses(from));
        REQUIRE(outs == addresses(to));
    }
}

TEST_CASE("a fill repeats its pattern over exactly the bytes of its range") {
    const auto seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937_64 random(seed);
    for (uint64_t pattern_size = 1; pattern_size <= 128; pattern_size *= 2) {
        std::vector<std::byte> pattern(pattern_size), bytes(1024, std::byte{0xEE});
        for (auto &byte : pattern)
            byte = static_cast<std::byte>(random());
        const uint64_t size = pattern_size * (1 + random() % (512 / pattern_size));
        fill_bytes(bytes.data() + 128, size, pattern);
        for (uint64_t i = 0; i < bytes.size(); ++i)
            REQUIRE(bytes[i] == (i >= 128 && i < 128 + size ? pattern[(i - 128) % pattern_size]
                                                            : std::byte{0xEE}));
    }
}

TEST_CASE("a pattern must be a power of two and divide its range") {
    const uint64_t word = 7;
    const auto refused = [&](uint64_t pattern_size, uint64_t offset, uint64_t size) {
        return code_of([&] { read_pattern(&word, pattern_size, offset, size); });
    };
    CHECK(refused(4, 8, 16) == PI_SUCCESS);
    CHECK(refused(0, 0, 16) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(3, 0, 18) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(256, 0, 256) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(4, 2, 16) == PI_ERROR_INVALID_SIZE);
    CHECK(refused(4, 0, 18) == PI_ERROR_INVALID_SIZE);
    CHECK(code_of([] { read_pattern(nullptr, 4, 0, 4); }) == PI_ERROR_INVALID_NULL_POINTER);
}
