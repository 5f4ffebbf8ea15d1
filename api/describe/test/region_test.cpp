// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "region_oracle.hpp"

#include <pi/describe/checks/region.hpp>
#include <pi/describe/rows.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

using namespace pi::checks;
using region_oracle::ByteEnd;

namespace {

constexpr End names = src_end("desc->src");

bool accepts(const ByteEnd &end, uint64_t size, Rectangle &out) {
    Check check;
    if (read_rectangle(check, {"desc->regions", 0}, names, end.offset, end.extent, end.pitch[0],
                       end.pitch[1], out))
        check_within(check, {"desc->regions", 0}, names, out, size);
    return !check.failed();
}

Rectangle rectangle(const ByteEnd &end) {
    return rectangle_of(end.offset, end.extent, end.pitch[0], end.pitch[1]);
}

/// Counts only for fast comparisons: Catch2's own take too long for millions.
struct Count {
    uint64_t accepted = 0, refused = 0, wrong = 0;

    void add(bool expected, bool result) {
        ++(result ? accepted : refused);
        wrong += expected != result;
    }
};

} // namespace

TEST_CASE("a small end is accepted exactly if all its bytes are within the memory") {
    Count count;
    for (const ByteEnd &end : region_oracle::small_ends()) {
        const std::bitset<64> bytes = end.bytes();
        uint64_t last = 63;
        while (!bytes.test(last))
            --last;
        Rectangle out;
        for (const uint64_t size : {last, last + 1, last + 2}) {
            count.add(last < size, accepts(end, size, out));
            count.wrong += out.end() != last + 1 || out.bytes() != bytes.count() ||
                           out.dense() != (bytes.count() == last + 1 - out.offset);
        }
        std::bitset<64> rows;
        for (uint64_t row = 0; row < out.rows * out.slices; ++row)
            for (uint64_t byte = 0; byte < out.row; ++byte)
                rows.set(out.row_offset(row) + byte);
        count.wrong += rows != bytes;
    }
    CHECK(count.wrong == 0);
    CHECK(count.accepted == 2 * count.refused);
}

TEST_CASE("two small ends overlap exactly if they share a byte, anywhere in the address space") {
    const std::vector<ByteEnd> ends = region_oracle::small_ends();
    std::vector<std::bitset<64>> bytes;
    for (const ByteEnd &end : ends)
        bytes.push_back(end.bytes());
    for (const uint64_t begin :
         {UINT64_C(0), (UINT64_C(1) << 32) - 26, (UINT64_C(1) << 63) - 26, UINT64_MAX - 63}) {
        Count count;
        std::vector<Rectangle> rectangles;
        for (const ByteEnd &end : ends) {
            rectangles.push_back(rectangle(end));
            rectangles.back().offset += begin;
        }
        // Every pair once; beyond 0 only every seventh second end, in turn.
        const std::size_t step = begin == 0 ? 1 : 7;
        for (std::size_t i = 0; i < ends.size(); ++i)
            for (std::size_t j = begin == 0 ? i : i % step; j < ends.size(); j += step)
                count.add((bytes[i] & bytes[j]).any(), overlap(rectangles[i], rectangles[j]));
        INFO("from byte " << begin);
        CHECK(count.wrong == 0);
        CHECK(count.accepted > 1000);
        CHECK(count.refused > 1000);
    }
}

TEST_CASE("sizes, pitches and offsets next to 2^32, 2^63 and 2^64 do not wrap") {
    Count count;
    region_oracle::for_large_ends([&](const ByteEnd &end, uint64_t size) {
        const auto expected = end.end();
        Rectangle out;
        const bool within = expected.has_value() && *expected <= size;
        count.add(within, accepts(end, size, out));
        count.wrong += within && out.end() != *expected;
    });
    CHECK(count.wrong == 0);
    CHECK(count.accepted > 1000);
    CHECK(count.refused > 1000);
}

TEST_CASE("the shortcut for a plain row accepts only what the whole check accepts") {
    Count count;
    constexpr uint64_t values[] = {0, 1, 2, UINT64_C(1) << 32, UINT64_MAX - 1, UINT64_MAX};
    pi_region region{};
    for (const uint64_t offset : values)
        for (const uint64_t row : values)
            for (const uint64_t rows : values)
                for (const uint64_t pitch : values)
                    for (const uint64_t size : values) {
                        region.src_offset = offset;
                        region.extent[0] = row;
                        region.extent[1] = rows;
                        region.src_pitch[0] = pitch;
                        Rectangle out;
                        const bool plain = is_plain_row(region, size, UINT64_MAX);
                        count.add(plain, plain && accepts({offset, {row, rows, 0}, {pitch, 0}},
                                                          size, out));
                    }
    CHECK(count.wrong == 0);
    CHECK(count.accepted > 10);
}

TEST_CASE("a refusal names the argument, its value and what would be right") {
    pi_region regions[2] = {};
    regions[0].extent[0] = regions[1].extent[0] = 8;
    regions[1].extent[1] = 2;
    regions[1].dst_pitch[0] = 7;
    Check check;
    check_regions(check, 2, regions, {src_end("desc->src"), nullptr, 8}, {dst_end("desc->dst")});
    CHECK(check.code() == PI_ERROR_INVALID_SIZE);
    CHECK(check.text() == "desc->regions[1].dst_pitch[0] is 7; at least 8 (a row), or 0 for dense "
                          "rows, is needed");
}

TEST_CASE("only the first refusal of a call counts") {
    Check check;
    check.refuse(PI_ERROR_INVALID_VALUE, {"kind"}, "is {}, at {}, {} and {}",
                 name_usm_kind(PI_USM_SHARED), Hex{255}, -3, "text");
    check.refuse(PI_ERROR_INVALID_SIZE, {"size"}, "is 0");
    CHECK(check.code() == PI_ERROR_INVALID_VALUE);
    CHECK(check.text() == "kind is PI_USM_SHARED (3), at 0xff, -3 and text");
}

TEST_CASE("the host's end of an unchecked region that no memory has is the largest number") {
    using namespace pi::describe;
    const auto end = [](const ByteEnd &host) {
        pi_region region = {};
        region.src_offset = host.offset;
        std::copy_n(host.extent, 3, region.extent);
        std::copy_n(host.pitch, 2, region.src_pitch);
        return end_of(host_rows(region, HostEnd::source, 1));
    };
    constexpr uint64_t half = UINT64_C(1) << 63;
    CHECK(end({3, {4, 2, 3}, {5, 11}}) == 3 + 2 * 11 + 5 + 4);
    CHECK(end({3, {4, 0, 0}, {0, 0}}) == 7);
    CHECK(end({0, {UINT64_MAX, 0, 0}, {0, 0}}) == UINT64_MAX);
    CHECK(end({1, {4, 2, 1}, {UINT64_MAX - 4, 0}}) == UINT64_MAX);
    CHECK(end({0, {1, 2, 2}, {half, 0}}) == UINT64_MAX); // two rows are 2^64 bytes, a slice 0
    CHECK(end({0, {0, 2, 1}, {0, 0}}) == UINT64_MAX);    // rows without bytes never end
}
