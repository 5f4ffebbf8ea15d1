// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ledger of memory that devices access through caches, with flushes and invalidates of whole
// units.
#include "ledger_waits.hpp"

#include <catch2/catch.hpp>

using namespace pi::runtime;
using namespace runtime_test;

namespace {

/// Host memory that two devices access through caches with units of 16 bytes, and memory elsewhere.
struct Cached {
    Ledger ledger;
    const MemoryId shared = ledger.add_memory();
    const ViewId host = ledger.add_view(shared, RangeSet({0, 32}));
    const ViewId a = ledger.add_view(shared);
    const ViewId b = ledger.add_view(shared);
    const ViewId elsewhere = ledger.add_view(ledger.add_memory(), RangeSet({32, 48}));

    Cached() {
        ledger.set_unit(a, 16);
        ledger.set_unit(b, 8);
    }
    void coherence_sync(ViewId from, ViewId to, const Range &range) {
        ledger.finish(ledger.begin_copy(from, to, to, range).operation, true);
    }
};

} // namespace

TEST_CASE("a coherence sync between two devices makes its bytes valid at the host, too",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const auto write = ledger.begin_use(cached.a, 1, Range{0, 32}, false, true);
    const auto over = ledger.begin_copy(cached.a, cached.b, 2, Range{0, 16});
    CHECK(waits_for_data(over, write.operation));
    CHECK(ledger.expected(cached.host) == RangeSet({0, 16}));
    CHECK(
        waits_for_data(ledger.begin_use(cached.host, 0, Range{0, 4}, true, false), over.operation));
    ledger.finish(write.operation, true);
    CHECK(ledger.valid(cached.host).empty());
    ledger.finish(over.operation, true);
    CHECK(ledger.valid(cached.host) == RangeSet({0, 16}));
    CHECK(ledger.valid(cached.b) == RangeSet({0, 16}));
}

TEST_CASE("a write needs the rest of its units, as far as it was written", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    CHECK(ledger.rest_of_units(cached.a, Range{4, 20}) == RangeSet({{0, 4}, {20, 32}}));
    CHECK(ledger.rest_of_units(cached.a, Range{30, 34}) == RangeSet({16, 30}));
    CHECK(ledger.rest_of_units(cached.a, Range{0, 16}).empty());
    CHECK(ledger.rest_of_units(cached.elsewhere, Range{4, 20}).empty());
    const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{0, 4});
    CHECK(waits_for_data(ledger.begin_use(cached.a, 1, Range{4, 16}, false, true), over.operation));
    CHECK_FALSE(
        waits_for_data(ledger.begin_use(cached.a, 1, Range{4, 16}, true, false), over.operation));
}

TEST_CASE(
    "a write needs the rest of its units even if a pending write to other memory supersedes it",
    "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const auto elsewhere = ledger.begin_use(cached.elsewhere, 3, Range{0, 32}, false, true);
    REQUIRE(ledger.expected(cached.host).empty());
    CHECK(ledger.rest_of_units(cached.a, Range{4, 8}) == RangeSet({{0, 4}, {8, 16}}));
    const auto over =
        ledger.begin_copy(cached.host, cached.a, 1, ledger.rest_of_units(cached.a, Range{4, 8}));
    CHECK(over.waits.empty());
    CHECK(ledger.expected(cached.a).empty());
    const auto write = ledger.begin_use(cached.a, 1, Range{4, 8}, false, true);
    CHECK(waits_for_data(write, over.operation));
    CHECK_FALSE(
        waits_for_data(ledger.begin_use(cached.a, 1, Range{0, 4}, true, false), over.operation));
    const RangeSet all({0, 16});
    SECTION("which fails: then it is valid there, too") {
        const bool is_early = GENERATE(false, true);
        if (is_early) {
            ledger.finish(elsewhere.operation, false);
        }
        ledger.finish(over.operation, true);
        ledger.finish(write.operation, true);
        CHECK(
            ledger.possibly_valid(cached.a).contains(all)); // the rest of the next unit is complete
        if (!is_early) {
            CHECK(ledger.expected(cached.a) == RangeSet({4, 8}));
            ledger.finish(elsewhere.operation, false);
        }
        CHECK(ledger.valid(cached.a) == all);
        CHECK(ledger.expected(cached.a) == all);
        CHECK(ledger.valid(cached.host) == RangeSet({{0, 4}, {8, 32}}));
    }
    SECTION("which succeeds: then it is not") {
        const bool is_early = GENERATE(false, true);
        if (is_early) {
            ledger.finish(elsewhere.operation, true);
        }
        ledger.finish(over.operation, true);
        ledger.finish(write.operation, true);
        if (!is_early) {
            ledger.finish(elsewhere.operation, true);
        }
        CHECK(ledger.valid(cached.a) == RangeSet({4, 8}));
        CHECK(ledger.expected(cached.a) == RangeSet({4, 8}));
    }
}

TEST_CASE("possibly valid bytes are where the last write to their memory puts them", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const auto earlier = ledger.begin_use(cached.b, 2, Range{0, 8}, false, true);
    const auto elsewhere = ledger.begin_use(cached.elsewhere, 3, Range{0, 32}, false, true);
    CHECK(ledger.possibly_valid(cached.host) == RangeSet({8, 32}));
    CHECK(ledger.possibly_valid(cached.b) == RangeSet({0, 8}));
    CHECK(ledger.rest_of_units(cached.a, Range{8, 16}) == RangeSet({0, 8}));
    const auto over = ledger.begin_copy(cached.b, cached.a, 1, Range{0, 8});
    CHECK(waits_for_data(over, earlier.operation));
    const auto write = ledger.begin_use(cached.a, 1, Range{8, 16}, false, true);
    ledger.finish(earlier.operation, true);
    ledger.finish(over.operation, true);
    ledger.finish(write.operation, true);
    ledger.finish(elsewhere.operation, false);
    CHECK(ledger.valid(cached.a) == RangeSet({0, 16}));
}

TEST_CASE("a copy fails if the rest of its units could not be synced", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{16, 32});
    const auto copy = ledger.begin_copy(cached.elsewhere, cached.a, 1, Range{32, 40});
    CHECK_FALSE(waits_for_data(copy, over.operation)); // they have units of their own
    const auto write = ledger.begin_use(cached.elsewhere, 3, Range{24, 32}, false, true);
    const auto beside = ledger.begin_copy(cached.elsewhere, cached.a, 1, Range{24, 32});
    CHECK(waits_for_data(beside, over.operation));
    ledger.finish(write.operation, true);
    ledger.finish(over.operation, false);
    CHECK_FALSE(ledger.retry_from(beside.operation, cached.elsewhere));
    CHECK(ledger.retry_from(copy.operation, cached.elsewhere));
}

TEST_CASE("a copy to the host fails if a sync through it, of the same unit, failed", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    ledger.begin_use(cached.a, 1, Range{16, 32}, false, true);
    const auto over = ledger.begin_copy(cached.a, cached.b, 2, Range{16, 32});
    const auto write = ledger.begin_use(cached.elsewhere, 3, Range{20, 24}, false, true);
    const auto copy = ledger.begin_copy(cached.elsewhere, cached.host, 0, Range{20, 24});
    CHECK(waits_for_data(copy, over.operation));
    ledger.finish(write.operation, true);
    ledger.finish(over.operation, false);
    CHECK_FALSE(ledger.retry_from(copy.operation, cached.elsewhere));
}

TEST_CASE("a coherence sync waits for writers in its units, and for readers at its destination",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    cached.coherence_sync(cached.host, cached.a, {0, 8});
    const auto reader = ledger.begin_use(cached.a, 1, Range{0, 8}, true, false);
    const auto source_reader = ledger.begin_use(cached.host, 0, Range{0, 16}, true, false);
    const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{8, 16});
    CHECK(waits_for(over, reader.operation));
    CHECK_FALSE(waits_for(over, source_reader.operation));
    const auto elsewhere = ledger.begin_copy(cached.host, cached.b, 2, Range{16, 32});
    CHECK(elsewhere.waits.empty());
    CHECK(waits_for(ledger.begin_use(cached.host, 0, Range{0, 4}, false, true), over.operation));
}

TEST_CASE("coherence syncs in one unit to or from one view wait for each other", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    ledger.finish(ledger.begin_use(cached.a, 1, Range{0, 4}, false, true).operation, true);
    const auto over_host = ledger.begin_copy(cached.a, cached.b, 2, Range{0, 4});
    SECTION("that bring bytes to the same view") {
        CHECK(waits_for(ledger.begin_copy(cached.host, cached.b, 2, Range{4, 8}),
                        over_host.operation));
    }
    SECTION("of which one takes bytes from where the other puts some") {
        CHECK(
            waits_for(ledger.begin_copy(cached.b, cached.a, 1, Range{8, 12}), over_host.operation));
    }
    SECTION("but not those in other units, or that only pass the host") {
        const ViewId c = ledger.add_view(cached.shared);
        const ViewId d = ledger.add_view(cached.shared);
        const auto next = ledger.begin_copy(cached.host, cached.b, 2, Range{16, 20});
        CHECK_FALSE(waits_for(next, over_host.operation));
        CHECK(ledger.begin_copy(cached.host, c, 3, Range{4, 8}).waits.empty());
        CHECK(ledger.begin_copy(cached.a, d, 4, Range{0, 4}).waits.empty());
    }
}

TEST_CASE("a failed coherence sync becomes a copy only where no operation excludes one",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const ViewId source = ledger.add_view(ledger.add_memory(), RangeSet({0, 48}));
    SECTION("then it writes that memory, and a failure may leave anything there") {
        const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{0, 16});
        REQUIRE(ledger.retry_from(over.operation, source));
        CHECK(
            waits_for(ledger.begin_use(cached.host, 0, Range{0, 4}, true, false), over.operation));
        ledger.finish(over.operation, false);
        CHECK(ledger.valid(cached.host) == RangeSet({16, 32}));
    }
    SECTION("who reads these bytes at the host does not expect them to be written") {
        const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{0, 16});
        const auto read = ledger.begin_use(cached.host, 0, Range{0, 4}, true, false);
        CHECK_FALSE(ledger.retry_from(over.operation, source));
        ledger.finish(read.operation, true);
        CHECK(ledger.retry_from(over.operation, source));
    }
    SECTION("what would be beside it was handed over with it") {
        const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{0, 4});
        CHECK_FALSE(ledger.retry_from(over.operation, source));
    }
    SECTION("who is to find the bytes at the host as they pass would not") {
        ledger.finish(ledger.begin_use(cached.a, 1, Range{0, 16}, false, true).operation, true);
        ledger.finish(ledger.begin_copy(cached.a, source, 3, Range{0, 16}).operation, true);
        const auto over = ledger.begin_copy(cached.a, cached.b, 2, Range{0, 16});
        CHECK_FALSE(ledger.retry_from(over.operation, source));
    }
}

TEST_CASE("a failed copy becomes a coherence sync only if its units allow that", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const ViewId source = ledger.add_view(ledger.add_memory(), RangeSet({0, 48}));
    const auto copy = ledger.begin_copy(source, cached.a, 1, Range{0, 8});
    const auto write = ledger.begin_use(cached.host, 0, Range{8, 16}, false, true);
    REQUIRE_FALSE(waits_for(write, copy.operation));
    CHECK_FALSE(ledger.retry_from(copy.operation, cached.host)); // nothing orders it and the write
    ledger.finish(write.operation, true);
    CHECK(ledger.retry_from(copy.operation, cached.host));
}

TEST_CASE("a coherence sync includes bytes of its units that are valid and not about to change",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    cached.coherence_sync(cached.host, cached.a, {0, 4});
    const auto along = [&](const Range &range) {
        return ledger.synced_along(cached.host, cached.a, range);
    };
    CHECK(along({8, 10}) == RangeSet({{4, 8}, {10, 16}}));
    CHECK(along({30, 34}) == RangeSet({16, 30}));
    ledger.begin_use(cached.host, 0, Range{12, 16}, false, true);
    CHECK(along({8, 10}) == RangeSet({{4, 8}, {10, 12}}));
    // The caches of b have smaller units.
    CHECK(ledger.synced_along(cached.host, cached.b, Range{8, 10}) == RangeSet({10, 12}));
    CHECK(ledger.synced_along(cached.a, cached.b, Range{0, 2}) == RangeSet({2, 4}));
}

TEST_CASE("a failed write's bytes in a unit with newer ones are valid nowhere any more",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    cached.coherence_sync(cached.host, cached.a, {8, 16}); // the rest of the unit
    const auto failing = ledger.begin_use(cached.a, 1, Range{0, 8}, false, true);
    const auto write_beside = [&] {
        return ledger.begin_use(cached.a, 1, Range{8, 12}, false, true).operation;
    };
    SECTION("those of a write that is under way") {
        const OperationId beside = write_beside();
        ledger.finish(failing.operation, false);
        CHECK(ledger.valid(cached.host) == RangeSet({8, 32}));
        ledger.finish(beside, true);
        CHECK(ledger.valid(cached.host) == RangeSet({12, 32}));
    }
    SECTION("those of one that was over first") {
        ledger.finish(write_beside(), true);
        ledger.finish(failing.operation, false);
        CHECK(ledger.valid(cached.host) == RangeSet({12, 32}));
        CHECK(ledger.expected(cached.host) == RangeSet({12, 32}));
    }
    SECTION("but not beside one that is sure to fail") {
        const auto made = ledger.begin_use(cached.host, 0, Range{16, 20}, true, true);
        const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{16, 32});
        const auto first = ledger.begin_use(cached.a, 1, Range{16, 24}, true, true);
        const auto second = ledger.begin_use(cached.a, 1, Range{24, 32}, true, true);
        ledger.finish(made.operation, false);
        for (const OperationId operation : {over.operation, second.operation, first.operation}) {
            ledger.finish(operation, false);
        }
        CHECK(ledger.valid(cached.host) == RangeSet({0, 32}));
    }
    SECTION("but not where the failed write's view has them, or in other units") {
        cached.coherence_sync(cached.host, cached.a, {16, 32});
        const auto other = ledger.begin_use(cached.a, 1, Range{16, 24}, true, true);
        ledger.finish(ledger.begin_use(cached.a, 1, Range{24, 28}, false, true).operation, true);
        ledger.finish(other.operation, false);
        ledger.finish(failing.operation, false);
        CHECK(ledger.valid(cached.host) == RangeSet({{0, 24}, {28, 32}}));
        CHECK(ledger.valid(cached.a).contains(Range{8, 32}));
    }
}

TEST_CASE("undo restores the previous state", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const auto kept = ledger.begin_use(cached.a, 1, Range{0, 16}, false, true);
    const auto write = ledger.begin_use(cached.elsewhere, 3, Range{8, 40}, false, true);
    CHECK(waits_for(ledger.begin_use(cached.elsewhere, 3, Range{8, 9}, true, false),
                    write.operation));
    ledger.undo(write.operation + 1);
    ledger.undo(write.operation);
    CHECK(ledger.expected(cached.a) == RangeSet({0, 16}));
    CHECK(ledger.expected(cached.host) == RangeSet({16, 32}));
    CHECK(ledger.valid(cached.elsewhere) == RangeSet({32, 48}));
    CHECK(ledger.users(cached.elsewhere).empty());
    CHECK(ledger.busy(cached.host));
    ledger.finish(kept.operation, true);
    CHECK(ledger.valid(cached.a) == RangeSet({0, 16}));
}
