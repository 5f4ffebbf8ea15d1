// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "pattern.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace pi::loader;

namespace {

using Memory = std::vector<unsigned char>;

Memory pattern(std::size_t size, uint64_t round, uint64_t offset = 0) {
    Memory bytes(size);
    fill_pattern(bytes, round, offset);
    return bytes;
}

struct Difference {
    Memory expected;
    Memory old;
    Memory actual = expected;

    explicit Difference(std::size_t size) : expected(pattern(size, 1)), old(pattern(size, 2)) {}

    void keep_old(std::size_t begin, std::size_t end) {
        std::copy(old.begin() + static_cast<std::ptrdiff_t>(begin),
                  old.begin() + static_cast<std::ptrdiff_t>(end),
                  actual.begin() + static_cast<std::ptrdiff_t>(begin));
    }
    std::string text(uint64_t offset = 0) const {
        return describe_difference(expected, actual, old, offset);
    }
};

} // namespace

TEST_CASE("a pattern's bytes depend on the round and the offset alone") {
    const Memory all = pattern(200, 1);
    for (std::size_t begin = 0; begin < 20; ++begin) {
        for (std::size_t size = 0; size < 40; ++size) {
            const Memory part = pattern(size, 1, begin);
            CHECK(std::memcmp(part.data(), all.data() + begin, size) == 0);
        }
    }
    CHECK(pattern(16, 1) != pattern(16, 2));
    CHECK(pattern(16, 1) != pattern(16, 1, 8));
}

TEST_CASE("stale pages are named by their period, wherever the bytes begin") {
    for (const uint64_t offset : {0, 4096, 100, 4095}) {
        CAPTURE(offset);
        const std::size_t first = 4096 - offset % 4096;
        Difference half(65536);
        Difference third(65536);
        for (std::size_t begin = first, page = 1; begin < 65536; begin += 4096, ++page) {
            const std::size_t end = std::min<std::size_t>(begin + 4096, 65536);
            if (page % 2 == 1)
                half.keep_old(begin, end);
            if (page % 3 == 1)
                third.keep_old(begin, end);
        }
        CHECK(half.text(offset) == "every second page is stale");
        CHECK(third.text(offset) == "every third page is stale");
    }
}

TEST_CASE("other wrong bytes are named by their position") {
    Difference none(65536);
    CHECK(none.text() == "");
    Difference all(65537);
    all.keep_old(0, 65537);
    CHECK(all.text(3) == "all bytes are stale");
    Difference last(65536);
    last.keep_old(40960, 65536);
    CHECK(last.text() == "the last 6 pages are stale");
    Difference first(65536);
    first.keep_old(0, 8192);
    CHECK(first.text() == "the first 2 pages are stale");
    Difference two(65536);
    two.keep_old(4096, 8192);
    two.keep_old(40960, 45056);
    CHECK(two.text() == "2 of 16 pages are stale, the first is page 1");
    Difference parts(65536);
    parts.keep_old(100, 200);
    CHECK(parts.text().find(" bytes are stale, the first is byte ") != std::string::npos);
    Difference byte(65536);
    byte.actual[777] ^= 1;
    CHECK(byte.text() == "1 bytes are wrong, the first is byte 777");
}

TEST_CASE("pages that changed places are found") {
    Difference moved(65536);
    std::copy_n(moved.expected.begin() + 8192, 4096, moved.actual.begin() + 4096);
    CHECK(moved.text().find("byte 4096 on has the bytes of byte 8192") != std::string::npos);
}

TEST_CASE("sizes are written in their largest unit") {
    CHECK(size_text(4095) == "4095 bytes");
    CHECK(size_text(65536) == "64 KiB");
    CHECK(size_text(4 << 20) == "4 MiB");
    CHECK(size_text(0) == "0 bytes");
}
