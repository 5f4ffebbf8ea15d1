// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "measure.hpp"

#include <catch2/catch.hpp>

#include <string>

using namespace pi_bench;
using namespace std::chrono_literals;

TEST_CASE("the median of an even number of values lies between the two in the middle") {
    CHECK(median({5.0, 1.0, 3.0}) == 3.0);
    CHECK(median({8.0, 1.0, 4.0, 2.0}) == 3.0);
    CHECK(median({7.0}) == 7.0);
    CHECK_THROWS(median({}));
}

TEST_CASE("ratios and differences are those of neighbours") {
    CHECK(ratios({2.0, 30.0}, {1.0, 10.0}) == std::vector{2.0, 3.0});
    CHECK(differences({2.0, 30.0}, {1.0, 10.0}) == std::vector{1.0, 20.0});
}

TEST_CASE("both sides are measured equally often, and which is first alternates") {
    std::string order;
    const Effort effort{0ns, 4, 4, 1h};
    // With batches of zero length a batch is one repetition, which the first call of each shows.
    const Times times =
        interleave([&](uint64_t) { order += 'o'; }, [&](uint64_t) { order += 'l'; }, effort);
    CHECK(times.ours.size() == 4);
    CHECK(times.limit.size() == 4);
    CHECK(order == "ol"
                   "ollo"
                   "ollo");
}

TEST_CASE("a batch is long enough, and its time is per operation") {
    uint64_t most = 0;
    volatile uint64_t work = 0;
    const Batch batch = [&](uint64_t count) {
        most = std::max(most, count);
        for (uint64_t i = 0; i < count; ++i) {
            work = work + 1;
        }
    };
    const Times times = interleave(batch, batch, {200us, 3, 3, 1h});
    CHECK(most > 1);
    for (const double time : times.ours) {
        CHECK(time > 0);
        // One addition takes less than a millisecond; a batch could take more.
        CHECK(time < 1e6);
    }
}

TEST_CASE("when the time is over only the minimum number of batches is measured") {
    const Batch nothing = [](uint64_t) {};
    const Times times = interleave(nothing, nothing, {0ns, 1000, 7, 0ns});
    CHECK(times.ours.size() >= 7);
    CHECK(times.ours.size() < 1000);
}
