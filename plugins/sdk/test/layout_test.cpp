// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <pi/sdk/layout.hpp>

#include <catch2/catch.hpp>

#include <numeric>
#include <random>
#include <utility>

using namespace pi::sdk;

namespace {

using Extents = std::vector<uint64_t>;

/// A layout of two axes; the outer one counts rows.
Layout rows_of(uint64_t rows, uint64_t row, uint64_t pitch = 0) {
    const Extents extents{rows, row};
    const uint32_t separator = 1;
    pi_mem_layout_desc desc{};
    desc.rank = 2;
    desc.element_size = 1;
    desc.extents = extents.data();
    desc.axis_separator_count = 1;
    desc.axis_separators = &separator;
    Layout layout(desc, rows * row);
    if (pitch)
        layout.set_row_pitch(pitch);
    return layout;
}

/// Bytes with a layout, each different from its neighbours.
struct Memory {
    Memory(Layout of, uint64_t logical)
        : layout(std::move(of)), bytes(layout.physical_size(logical) + 64) {
        std::iota(reinterpret_cast<uint8_t *>(bytes.data()),
                  reinterpret_cast<uint8_t *>(bytes.data() + bytes.size()), uint8_t{0});
    }
    LogicalBytes from(uint64_t offset) { return {bytes.data(), offset, &layout}; }
    std::byte *at(uint64_t offset) { return bytes.data() + layout.at(offset); }
    Layout layout;
    std::vector<std::byte> bytes;
};

} // namespace

TEST_CASE("physical copies move the logical bytes") {
    std::mt19937_64 random(11);
    const auto pick = [&](uint64_t low, uint64_t high) {
        return std::uniform_int_distribution<uint64_t>(low, high)(random);
    };
    const auto shape = [&](uint64_t &row) {
        row = pick(1, 40);
        return pick(0, 4) ? rows_of(600 / row + 1, row, pick(row, 64)) : Layout();
    };
    for (int round = 0; round < 2000; ++round) {
        uint64_t rows[2];
        const Layout from = shape(rows[0]), to = shape(rows[1]);
        Memory src(from, 600), dst(to, 600), other(to, 600);
        const uint64_t begin[2] = {pick(0, 100), pick(0, 100)}; // as in views
        std::vector<pi_region> list;
        for (uint64_t count = pick(1, 3); count; --count) {
            pi_region region{pick(0, 99), pick(0, 99), {pick(1, 50), pick(0, 3), pick(0, 2)},
                             {},          {},          0};
            region.src_pitch[0] = pick(0, 1) ? region.extent[0] + pick(0, 9) : 0;
            region.dst_pitch[1] = pick(0, 1) ? 150 + pick(0, 9) : 0;
            list.push_back(region);
        }
        const Regions regions(list);
        copy_regions(list, src.from(begin[0]), other.from(begin[1]));
        const bool split = pick(0, 1);
        const Regions physical =
            physical_regions(regions, {begin[0], &src.layout}, {begin[1], &dst.layout}, split);
        copy_regions({physical.data(), physical.size()}, src.at(begin[0]), dst.at(begin[1]));
        REQUIRE(dst.bytes == other.bytes);
    }
}

TEST_CASE("rows with equal distances at both ends become one region") {
    const Layout layout = rows_of(100, 40, 64);
    const LogicalRange whole(0, &layout);
    const Regions all = physical_regions(range_regions(0, 0, 4000), {}, whole);
    REQUIRE(all.size() == 1);
    CHECK(destination(*all.begin()).row_pitch == 64);
    CHECK(destination(*all.begin()).rows == 100);
    CHECK(source(*all.begin()).dense());
    // Parts of rows at the ends become separate regions.
    const Regions most = physical_regions(range_regions(0, 10, 3980), {}, whole);
    REQUIRE(most.size() == 3);
    CHECK(most.begin()[1].extent[1] == 98);
    // Columns of the memory.
    pi_region columns{8, 8, {8, 100, 0}, {40, 0}, {40, 0}, 0};
    CHECK(physical_regions(Regions({&columns, 1}), whole, whole).size() == 1);
    // With split each row stays a region.
    CHECK(physical_regions(range_regions(0, 0, 4000), {}, whole, true).size() == 100);
}

TEST_CASE("regions that are flat at both ends do not change") {
    const Layout flat;
    pi_region region{3, 5, {7, 2, 2}, {9, 30}, {8, 40}, 0};
    const Regions same =
        physical_regions(Regions({&region, 1}), {100, &flat}, LogicalRange(7, nullptr));
    REQUIRE(same.size() == 1);
    CHECK(std::memcmp(same.data(), &region, sizeof region) == 0);
}

TEST_CASE("a row pitch chosen by a driver moves all rows and changes the pitches of all axes") {
    const Extents extents{3, 5, 6};
    const uint32_t separators[] = {1, 2};
    pi_mem_layout_desc desc{};
    desc.rank = 3;
    desc.element_size = 4;
    desc.extents = extents.data();
    desc.axis_separator_count = 2;
    desc.axis_separators = separators;
    Layout layout(desc, 360);
    layout.set_row_pitch(512);
    CHECK(layout.row() == 24);
    CHECK(layout.pitches() == std::vector<uint64_t>{2560, 512, 4});
    CHECK(layout.at(24) == 512);
    CHECK(layout.at(7 * 24 + 5) == 7 * 512 + 5);
    CHECK(layout.physical_size(360) == 15 * 512);
}

TEST_CASE("many regions of memory without a layout are not copied again") {
    const std::vector<pi_region> given(1000, pi_region{0, 0, {1, 1, 1}, {0, 0}, {0, 0}, 0});
    Regions regions(given);
    const pi_region *const begin = regions.data();
    const Regions same = physical_regions(std::move(regions), {}, {});
    CHECK(same.size() == given.size());
    CHECK(same.data() == begin);
}
