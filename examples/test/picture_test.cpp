// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "made_png.hpp"
#include "picture.hpp"

#include <catch2/catch.hpp>

using namespace image_pipeline;
using Catch::Matchers::Contains;
using pi_test::MadePng;

namespace {

/// The RGBA pixels that read_png returns for a file's bytes.
std::vector<int> read(const std::string &bytes) {
    const pi_test::TemporaryFolder folder;
    pi_test::write_file(folder.path() / "made.png", bytes);
    const Picture picture = read_png(folder.path() / "made.png");
    REQUIRE(picture.memory.size() ==
            size_t{4} * static_cast<size_t>(picture.width) * static_cast<size_t>(picture.height));
    return std::vector<int>(picture.memory.bytes().begin(), picture.memory.bytes().end());
}

} // namespace

TEST_CASE("every kind of PNG becomes RGBA of eight bits") {
    const std::vector<int> two_pixels{10, 20, 30, 255, 200, 100, 50, 255};
    const std::vector<int> two_greys{0, 0, 0, 255, 255, 255, 255, 255};
    MadePng png;
    png.width = 2;
    SECTION("RGB") {
        png.rows = {10, 20, 30, 200, 100, 50};
        CHECK(read(png.bytes()) == two_pixels);
    }
    SECTION("RGBA: alpha is unchanged, and colours are not multiplied") {
        png.colour_type = 6;
        png.rows = {10, 20, 30, 0, 200, 100, 50, 128};
        CHECK(read(png.bytes()) == std::vector<int>{10, 20, 30, 0, 200, 100, 50, 128});
    }
    SECTION("grey") {
        png.colour_type = 0;
        png.rows = {0, 255};
        CHECK(read(png.bytes()) == two_greys);
    }
    SECTION("grey of one bit") {
        png.colour_type = 0;
        png.depth = 1;
        png.rows = {0x40};
        CHECK(read(png.bytes()) == two_greys);
    }
    SECTION("palette") {
        png.colour_type = 3;
        png.palette = {10, 20, 30, 200, 100, 50};
        png.rows = {0, 1};
        CHECK(read(png.bytes()) == two_pixels);
    }
    SECTION("sixteen bits") {
        png.depth = 16;
        png.rows = {10, 10, 20, 20, 30, 30, 200, 200, 100, 100, 50, 50};
        CHECK(read(png.bytes()) == two_pixels);
    }
    SECTION("grey and alpha") {
        png.colour_type = 4;
        png.rows = {0, 255, 255, 255};
        CHECK(read(png.bytes()) == two_greys);
    }
}

TEST_CASE("a file that is not a whole PNG is refused with its name and the reason") {
    const pi_test::TemporaryFolder folder;
    const auto file = folder.path() / "wrong.png";
    const std::string whole = pi_test::random_png(37, 23, 1).bytes();
    const auto message = [&](const std::string &bytes) {
        pi_test::write_file(file, bytes);
        try {
            read_png(file);
        } catch (const std::runtime_error &error) {
            return std::string(error.what());
        }
        return std::string("no error");
    };
    CHECK_THAT(message("GIF89a and so on"), Contains(file.string()) && Contains("Not a PNG"));
    CHECK_THAT(message(""), Contains("cannot read " + file.string()));
    CHECK_THAT(message(whole.substr(0, 20)), Contains("cannot read " + file.string()));
    CHECK_THAT(message(whole.substr(0, whole.size() / 2)), Contains("damaged or cut short"));
    std::string flipped = whole;
    flipped[flipped.size() / 2] = static_cast<char>(flipped[flipped.size() / 2] ^ 0x10);
    CHECK_THAT(message(flipped), Contains("damaged or cut short"));
}

TEST_CASE("a picture cut off at any byte is an error, never a crash or a wrong picture") {
    const pi_test::TemporaryFolder folder;
    const auto file = folder.path() / "cut.png";
    const std::string whole = pi_test::random_png(5, 4, 2).bytes();
    const size_t end_chunk = 12;
    for (size_t size = 0; size < whole.size() - end_chunk; ++size) {
        pi_test::write_file(file, whole.substr(0, size));
        CAPTURE(size);
        // From the last bytes of checksums on a decoder may have all pixels.
        if (size < whole.size() - end_chunk - 8) {
            CHECK_THROWS_AS(read_png(file), std::runtime_error);
        }
    }
}

TEST_CASE("a picture that is too large is refused with the numbers before memory is allocated") {
    const pi_test::TemporaryFolder folder;
    const auto file = folder.path() / "huge.png";
    MadePng png;
    png.width = 30000;
    png.height = 20000;
    pi_test::write_file(file, png.bytes());
    CHECK_THROWS_WITH(read_png(file),
                      Contains("30000 x 20000 = 600000000 pixels") && Contains("at most 40000000"));
}

TEST_CASE("a missing file and a directory have different messages") {
    const pi_test::TemporaryFolder folder;
    CHECK_THROWS_WITH(read_png(folder.path() / "none.png"), Contains("there is no such file"));
    CHECK_THROWS_WITH(read_png(folder.path()), Contains("it is a directory"));
}

TEST_CASE("a written picture is read back unchanged") {
    const pi_test::TemporaryFolder folder;
    const auto file = folder.path() / "written.png";
    const Picture picture = pi_test::random_picture(37, 23, 3);
    write_png(file, PixelFormat::rgba, 37, 23, picture.memory.bytes());
    const Picture again = read_png(file);
    CHECK(again.width == 37);
    CHECK(again.height == 23);
    CHECK(std::equal(again.memory.bytes().begin(), again.memory.bytes().end(),
                     picture.memory.bytes().begin(), picture.memory.bytes().end()));
    CHECK_THROWS_WITH(write_png(folder.path() / "no" / "folder.png", PixelFormat::rgba, 37, 23,
                                picture.memory.bytes()),
                      Contains("cannot write"));
}

TEST_CASE("page memory begins on a page and is zero") {
    const PageMemory memory(5000);
    CHECK(reinterpret_cast<uintptr_t>(memory.data()) % PageMemory::page == 0);
    CHECK(memory.size() == 5000);
    CHECK(memory.padded_size() == 8192);
    CHECK(std::all_of(memory.data(), memory.data() + 8192, [](uint8_t byte) { return byte == 0; }));
}
