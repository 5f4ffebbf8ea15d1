// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/range_set.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <random>

using pi::runtime::Range;
using pi::runtime::RangeSet;
using pi::runtime::whole_units;

namespace {

constexpr uint64_t universe = 64;
using Bits = std::array<bool, universe>;

Range random_range(std::mt19937 &random) {
    const uint64_t a = random() % (universe + 1);
    const uint64_t b = random() % (universe + 1);
    return {std::min(a, b), std::max(a, b)};
}

void set_bits(Bits &bits, const Range &range, bool value) {
    for (uint64_t index = range.begin; index < range.end; ++index) {
        bits[index] = value;
    }
}

RangeSet from_bits(const Bits &bits) {
    RangeSet set;
    for (uint64_t index = 0; index < universe; ++index) {
        if (bits[index]) {
            set.add(Range{index, index + 1});
        }
    }
    return set;
}

Bits to_bits(const RangeSet &set) {
    Bits bits{};
    for (const Range &range : set.ranges()) {
        set_bits(bits, range, true);
    }
    return bits;
}

/// One of few ranges, or of many.
RangeSet random_set(std::mt19937 &random) {
    RangeSet set;
    if (random() % 2) {
        Bits bits;
        std::generate(bits.begin(), bits.end(), [&] { return random() % 2 == 0; });
        return from_bits(bits);
    }
    for (int count = 0; count < 6; ++count) {
        set.add(random_range(random));
        set.remove(random_range(random));
    }
    return set;
}

std::vector<Range> ranges_of(const RangeSet &set) {
    return {set.ranges().begin(), set.ranges().end()};
}

void require_canonical(const RangeSet &set) {
    const auto ranges = set.ranges();
    for (size_t index = 0; index < ranges.size(); ++index) {
        REQUIRE(ranges[index].begin < ranges[index].end);
        if (index > 0) {
            REQUIRE(ranges[index - 1].end < ranges[index].begin);
        }
    }
}

} // namespace

TEST_CASE("ranges that touch or overlap become one", "[runtime]") {
    RangeSet set{{0, 4}, {8, 12}};
    set.add(Range{4, 8});
    CHECK(ranges_of(set) == std::vector<Range>{{0, 12}});
    set.remove(Range{3, 5});
    CHECK(ranges_of(set) == std::vector<Range>{{0, 3}, {5, 12}});
    CHECK(to_string(set) == "[0, 3) [5, 12)");
    CHECK(to_string(RangeSet()) == "nothing");
}

TEST_CASE("an empty range changes nothing, is contained everywhere and overlaps nothing",
          "[runtime]") {
    RangeSet set{{8, 16}};
    set.add(Range{12, 12});
    set.add(Range{20, 3});
    set.remove(Range{10, 10});
    CHECK(set == RangeSet{{8, 16}});
    CHECK(set.contains(Range{12, 12}));
    CHECK(set.contains(Range{40, 40}));
    CHECK_FALSE(set.overlaps(Range{12, 12}));
    CHECK(RangeSet().contains(RangeSet()));
}

TEST_CASE("ranges reach to the last byte of 64 bits", "[runtime]") {
    RangeSet set{{UINT64_MAX - 4, UINT64_MAX}};
    set.add(Range{0, 4});
    CHECK(set.bytes() == 8);
    CHECK(set.hull() == Range{0, UINT64_MAX});
    set.remove(Range{2, UINT64_MAX - 2});
    CHECK(set == RangeSet{{0, 2}, {UINT64_MAX - 2, UINT64_MAX}});
}

TEST_CASE("sets of ranges do what an array of bits does", "[runtime]") {
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    RangeSet set;
    Bits bits{};
    for (int step = 0; step < 4000; ++step) {
        const Range range = random_range(random);
        const bool add = random() % 2 == 0;
        if (add) {
            set.add(range);
        } else {
            set.remove(range);
        }
        set_bits(bits, range, add);
        require_canonical(set);
        REQUIRE(to_bits(set) == bits);
        REQUIRE(set == from_bits(bits));

        const Range probe = random_range(random);
        bool all = true;
        bool any = false;
        for (uint64_t index = probe.begin; index < probe.end; ++index) {
            all = all && bits[index];
            any = any || bits[index];
        }
        REQUIRE(set.contains(probe) == all);
        REQUIRE(set.overlaps(probe) == any);
        REQUIRE(set.bytes() == static_cast<uint64_t>(std::count(bits.begin(), bits.end(), true)));
    }
}

TEST_CASE("intersection, difference and union of sets do what bits do", "[runtime]") {
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 500; ++round) {
        const RangeSet a = random_set(random);
        const RangeSet b = random_set(random);
        const Bits left = to_bits(a);
        const Bits right = to_bits(b);
        Bits both{};
        Bits only{};
        Bits either{};
        bool overlap = false;
        bool subset = true;
        for (uint64_t index = 0; index < universe; ++index) {
            both[index] = left[index] && right[index];
            only[index] = left[index] && !right[index];
            either[index] = left[index] || right[index];
            overlap = overlap || both[index];
            subset = subset && (left[index] || !right[index]);
        }
        RangeSet sum = a;
        sum.add(b);
        require_canonical(intersect(a, b));
        require_canonical(sum);
        REQUIRE(intersect(a, b) == from_bits(both));
        REQUIRE(subtract(a, b) == from_bits(only));
        REQUIRE(sum == from_bits(either));
        REQUIRE(a.overlaps(b) == overlap);
        REQUIRE(a.contains(b) == subset);
    }
}

TEST_CASE("sets of a million ranges are added and removed in one pass each", "[runtime]") {
    constexpr uint64_t count = 1'000'000; // with a pass for each it would take hours
    RangeSet even;
    RangeSet odd;
    for (uint64_t index = 0; index < count; ++index) {
        even.add(Range{4 * index, 4 * index + 1});
        odd.add(Range{4 * index + 2, 4 * index + 3});
    }
    RangeSet both = even;
    both.add(odd);
    REQUIRE(both.ranges().size() == 2 * count);
    REQUIRE(subtract(both, odd) == even);
    both.remove(even);
    REQUIRE(both == odd);
    RangeSet gaps = Range{0, 4 * count};
    gaps.remove(odd);
    gaps.add(odd);
    REQUIRE(gaps == Range{0, 4 * count});
}

TEST_CASE("whole units hold every unit that a set touches, and no other", "[runtime]") {
    const RangeSet set{{0, 1}, {15, 17}, {40, 48}, {100, 101}};
    CHECK(whole_units(set, 1) == set);
    CHECK(whole_units(set, 8) == RangeSet{{0, 24}, {40, 48}, {96, 104}});
    CHECK(whole_units(set, 48) == RangeSet{{0, 48}, {96, 144}});
    CHECK(whole_units({}, 8).empty());
}
