// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ledger_waits.hpp"

#include <catch2/catch.hpp>

using namespace pi::runtime;
using namespace runtime_test;

namespace {

constexpr uint64_t size = 48;

struct TwoMemories {
    Ledger ledger;
    ViewId a = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    ViewId b = ledger.add_view(ledger.add_memory());
};

} // namespace

TEST_CASE("bytes become valid when the copy finishes, expected when it begins", "[runtime]") {
    TwoMemories m;
    const auto copy = m.ledger.begin_copy(m.a, m.b, 2, Range{0, 16});
    CHECK(m.ledger.valid(m.b).empty());
    CHECK(m.ledger.expected(m.b) == RangeSet({0, 16}));
    m.ledger.finish(copy.operation, true);
    CHECK(m.ledger.valid(m.b) == RangeSet({0, 16}));
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
}

TEST_CASE("a copy that fails leaves the source valid and the destination stale", "[runtime]") {
    TwoMemories m;
    const auto copy = m.ledger.begin_copy(m.a, m.b, 2, Range{0, 16});
    m.ledger.finish(copy.operation, false);
    CHECK(m.ledger.valid(m.b).empty());
    CHECK(m.ledger.expected(m.b).empty());
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
}

TEST_CASE("bytes elsewhere stay valid until a write commits", "[runtime]") {
    TwoMemories m;
    const auto write = m.ledger.begin_use(m.b, 2, Range{0, 16}, false, true);
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
    CHECK(m.ledger.expected(m.a) == RangeSet({16, size}));
    SECTION("success") {
        m.ledger.finish(write.operation, true);
        CHECK(m.ledger.valid(m.a) == RangeSet({16, size}));
        CHECK(m.ledger.valid(m.b) == RangeSet({0, 16}));
    }
    SECTION("failure") {
        m.ledger.finish(write.operation, false);
        CHECK(m.ledger.expected(m.a) == RangeSet({0, size}));
        CHECK(m.ledger.valid(m.b).empty());
    }
}

TEST_CASE("nothing is expected of a copy of a failed write's bytes, also before the copy ends",
          "[runtime]") {
    Ledger ledger;
    const ViewId a = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId b = ledger.add_view(ledger.add_memory());
    const ViewId c = ledger.add_view(ledger.add_memory());
    const auto write = ledger.begin_use(a, 1, Range{0, 16}, true, true);
    const auto copy = ledger.begin_copy(a, b, 2, Range{0, 16});
    const auto onward = ledger.begin_copy(b, c, 3, Range{0, 16});
    ledger.finish(write.operation, false);
    CHECK(ledger.expected(a) == RangeSet({0, size}));
    CHECK(ledger.expected(b).empty());
    CHECK(ledger.expected(c).empty());
    CHECK(ledger.content_lost(copy.operation));
    CHECK(ledger.content_lost(onward.operation));
    CHECK(ledger.arriving(b, Range{0, 16}).empty());
    // An operation that begins now gets the old bytes: it waits for the two, and does not fail with
    // them.
    const auto again = ledger.begin_copy(a, b, 2, Range{0, 16});
    CHECK(waits_for(again, copy.operation));
    CHECK_FALSE(waits_for_data(again, copy.operation));
    const auto read = ledger.begin_use(b, 2, Range{0, 16}, true, false);
    CHECK_FALSE(waits_for_data(read, copy.operation));
    CHECK(waits_for_data(read, again.operation));
    const auto onward_again = ledger.begin_copy(b, c, 3, Range{0, 16});
    ledger.finish(copy.operation, false);
    ledger.finish(onward.operation, false);
    CHECK_FALSE(ledger.content_lost(again.operation));
    CHECK_FALSE(ledger.content_lost(onward_again.operation));
    CHECK_FALSE(ledger.source_lost(onward_again.operation));
    ledger.finish(again.operation, true);
    CHECK(ledger.valid(b) == RangeSet({0, 16}));
    CHECK(ledger.valid(a) == RangeSet({0, size}));
}

TEST_CASE("a copy that never began leaves the bytes at its destination valid", "[runtime]") {
    Ledger ledger;
    const ViewId a = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId b = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId c = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const auto write = ledger.begin_use(a, 1, Range{0, 16}, true, true);
    const auto copy = ledger.begin_copy(a, b, 2, Range{0, 16});
    ledger.finish(write.operation, false);
    CHECK(ledger.expected(b) == RangeSet({0, size}));
    ledger.finish(copy.operation, false);
    CHECK(ledger.valid(b) == RangeSet({0, size}));
    CHECK(ledger.valid(c) == RangeSet({0, size}));
    CHECK(ledger.valid(a) == RangeSet({16, size}));
}

TEST_CASE("a failed write to the only valid replica loses no byte", "[runtime]") {
    TwoMemories m;
    const auto write = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, true);
    m.ledger.finish(write.operation, false);
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
}

TEST_CASE("after a failed write the bytes are stale there if other memory has them", "[runtime]") {
    TwoMemories m;
    m.ledger.finish(m.ledger.begin_copy(m.a, m.b, 2, Range{0, 16}).operation, true);
    const auto write = m.ledger.begin_use(m.b, 2, Range{8, 24}, true, true);
    m.ledger.finish(write.operation, false);
    CHECK(m.ledger.valid(m.b) == RangeSet({0, 8}));
    CHECK(m.ledger.expected(m.b) == RangeSet({0, 8}));
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
}

TEST_CASE("a discarding write waits for the end of the write before it, not for its success",
          "[runtime]") {
    TwoMemories m;
    const auto first = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, true);
    const auto second = m.ledger.begin_use(m.a, 1, Range{0, 16}, false, true);
    CHECK(waits_for(second, first.operation));
    CHECK_FALSE(waits_for_data(second, first.operation));
    const auto third = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, false);
    CHECK(waits_for_data(third, second.operation));
    CHECK_FALSE(waits_for_data(third, first.operation));
}

TEST_CASE("readers run at the same time, a writer waits for them, and they for it", "[runtime]") {
    TwoMemories m;
    const auto first = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, false);
    const auto second = m.ledger.begin_use(m.a, 1, Range{8, 24}, true, false);
    CHECK(second.waits.empty());
    const auto write = m.ledger.begin_use(m.a, 1, Range{4, 12}, true, true);
    CHECK(waits_for(write, first.operation));
    CHECK(waits_for(write, second.operation));
    CHECK_FALSE(waits_for_data(write, first.operation));
    const auto elsewhere = m.ledger.begin_use(m.a, 1, Range{24, 32}, true, true);
    CHECK(elsewhere.waits.empty());
    const auto read = m.ledger.begin_use(m.a, 1, Range{0, 8}, true, false);
    CHECK(waits_for_data(read, write.operation));
    CHECK_FALSE(waits_for(read, first.operation));
}

TEST_CASE("a write waits for copies out of its memory, not for readers of other memory",
          "[runtime]") {
    TwoMemories m;
    const auto copy = m.ledger.begin_copy(m.a, m.b, 2, Range{0, 16});
    const auto reader = m.ledger.begin_use(m.b, 2, Range{0, 16}, true, false);
    CHECK(waits_for_data(reader, copy.operation));
    const auto write = m.ledger.begin_use(m.a, 1, Range{0, 16}, false, true);
    CHECK(waits_for(write, copy.operation));
    CHECK_FALSE(waits_for(write, reader.operation));
}

TEST_CASE("a late commit does not undo a newer write", "[runtime]") {
    TwoMemories m;
    const auto older = m.ledger.begin_use(m.a, 1, Range{0, 32}, false, true);
    const auto newer = m.ledger.begin_use(m.b, 2, Range{16, 48}, false, true);
    CHECK(newer.waits.empty()); // other memory, nothing to fetch
    m.ledger.finish(newer.operation, true);
    m.ledger.finish(older.operation, true);
    CHECK(m.ledger.valid(m.a) == RangeSet({0, 16}));
    CHECK(m.ledger.valid(m.b) == RangeSet({16, 48}));
}

TEST_CASE("a copy that finishes after a newer write does not make old bytes valid", "[runtime]") {
    Ledger ledger;
    const ViewId a = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId b = ledger.add_view(ledger.add_memory());
    const ViewId c = ledger.add_view(ledger.add_memory());
    const auto copy = ledger.begin_copy(a, b, 2, Range{0, 16});
    const auto write = ledger.begin_use(c, 3, Range{0, 8}, false, true);
    ledger.finish(write.operation, true);
    ledger.finish(copy.operation, true);
    CHECK(ledger.valid(b) == RangeSet({8, 16}));
    CHECK(ledger.valid(c) == RangeSet({0, 8}));
}

TEST_CASE("dependents of a failed copy may use another source, those of a failed write may not",
          "[runtime]") {
    Ledger ledger;
    const ViewId a = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId b = ledger.add_view(ledger.add_memory());
    const ViewId c = ledger.add_view(ledger.add_memory());
    SECTION("copy") {
        const auto first = ledger.begin_copy(a, b, 2, Range{0, 16});
        const auto second = ledger.begin_copy(b, c, 3, Range{0, 16});
        ledger.finish(first.operation, false);
        CHECK(ledger.source_lost(second.operation));
        CHECK_FALSE(ledger.content_lost(second.operation));
        CHECK_FALSE(ledger.retry_from(second.operation, b));
        CHECK(ledger.retry_from(second.operation, a));
        // It reads a now.
        const auto write = ledger.begin_use(a, 1, Range{0, 16}, false, true);
        CHECK(waits_for(write, second.operation));
    }
    SECTION("write") {
        const auto write = ledger.begin_use(b, 2, Range{0, 16}, false, true);
        const auto copy = ledger.begin_copy(b, c, 3, Range{0, 16});
        ledger.finish(write.operation, false);
        CHECK(ledger.content_lost(copy.operation));
        CHECK_FALSE(ledger.retry_from(copy.operation, a));
    }
    SECTION("a source that was overwritten since is none") {
        const auto first = ledger.begin_copy(a, b, 2, Range{0, 16});
        const auto second = ledger.begin_copy(b, c, 3, Range{0, 16});
        const auto write = ledger.begin_use(a, 1, Range{0, 16}, false, true);
        ledger.finish(first.operation, false);
        ledger.finish(write.operation, true);
        CHECK_FALSE(ledger.retry_from(second.operation, a));
    }
    SECTION("a source that is about to be overwritten is none") {
        const auto first = ledger.begin_copy(a, b, 2, Range{0, 16});
        const auto second = ledger.begin_copy(b, c, 3, Range{0, 16});
        ledger.begin_use(a, 1, Range{0, 4}, false, true);
        ledger.finish(first.operation, false);
        CHECK_FALSE(ledger.retry_from(second.operation, a));
    }
}

TEST_CASE("a coherence sync runs at the same time as readers, not as writers", "[runtime]") {
    Ledger ledger;
    const MemoryId shared = ledger.add_memory();
    const ViewId host = ledger.add_view(shared, RangeSet({0, size}));
    const ViewId device = ledger.add_view(shared);
    const auto reader = ledger.begin_use(host, 0, Range{0, 16}, true, false);
    const auto over = ledger.begin_copy(host, device, 1, Range{0, 16});
    CHECK(over.waits.empty());
    const auto second_reader = ledger.begin_use(device, 1, Range{8, 16}, true, false);
    CHECK(waits_for_data(second_reader, over.operation));
    ledger.finish(second_reader.operation, true);
    const auto use = ledger.begin_use(device, 1, Range{0, 16}, true, true);
    CHECK(waits_for_data(use, over.operation));
    CHECK(waits_for(use, reader.operation));
    ledger.finish(over.operation, true);
    CHECK(ledger.valid(host) == RangeSet({0, size}));
    ledger.finish(reader.operation, true);
    ledger.finish(use.operation, true);
    CHECK(ledger.valid(host) == RangeSet({16, size}));
    CHECK(ledger.valid(device) == RangeSet({0, 16}));
}

TEST_CASE(
    "with exclusive writers, writes of two places wait for each other, those of one place do not",
    "[runtime]") {
    Ledger ledger;
    const MemoryId memory = ledger.add_memory();
    const ViewId view = ledger.add_view(memory, RangeSet({0, size}));
    ledger.set_exclusive_writers(memory);
    const auto first = ledger.begin_use(view, 1, Range{0, 8}, true, true);
    CHECK(ledger.begin_use(view, 1, Range{8, 16}, true, true).waits.empty());
    CHECK(waits_for(ledger.begin_use(view, 2, Range{16, 24}, true, true), first.operation));
    CHECK(ledger.begin_use(view, 2, Range{32, 40}, true, false).waits.empty());
}

TEST_CASE("a memory is busy while an operation uses it; forgotten bytes are valid only elsewhere",
          "[runtime]") {
    Ledger ledger;
    const ViewId at_host = ledger.add_view(ledger.add_memory(), RangeSet({0, 100}));
    const ViewId at_device = ledger.add_view(ledger.add_memory());
    CHECK_FALSE(ledger.busy(at_host));
    const auto copy = ledger.begin_copy(at_host, at_device, 1, RangeSet({0, 50}));
    CHECK(ledger.busy(at_host));
    CHECK(ledger.busy(at_device));
    ledger.finish(copy.operation, true);
    CHECK_FALSE(ledger.busy(at_device));
    CHECK(ledger.only_at(at_device).empty());
    CHECK(ledger.only_at(at_host) == RangeSet({50, 100}));
    const auto write = ledger.begin_use(at_device, 1, RangeSet({10, 20}), false, true);
    CHECK(ledger.busy(at_device));
    CHECK(ledger.busy(at_host)); // if the write fails, only this view has the bytes
    ledger.finish(write.operation, true);
    CHECK(ledger.only_at(at_device) == RangeSet({10, 20}));
    ledger.forget(at_device);
    CHECK(ledger.valid(at_device).empty());
    CHECK(ledger.expected(at_device).empty());
    CHECK(ledger.valid(at_host) == RangeSet({{0, 10}, {20, 100}}));
}

TEST_CASE("a pending write keeps the memory busy that has the last valid copy of its bytes",
          "[runtime]") {
    Ledger ledger;
    const ViewId a = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId b = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
    const ViewId c = ledger.add_view(ledger.add_memory());
    const auto write = ledger.begin_use(a, 1, Range{0, 16}, true, true);
    CHECK(ledger.busy(b));
    CHECK_FALSE(ledger.busy(c));
    SECTION("until it is over") {
        ledger.finish(write.operation, GENERATE(true, false));
        CHECK_FALSE(ledger.busy(b));
    }
    SECTION("unless a third one has them as well") {
        const ViewId d = ledger.add_view(ledger.add_memory(), RangeSet({0, size}));
        CHECK_FALSE(ledger.busy(b));
        CHECK_FALSE(ledger.busy(d));
    }
    SECTION("not where later bytes have come") {
        const auto newer = ledger.begin_use(b, 2, Range{0, 16}, false, true);
        ledger.finish(newer.operation, true);
        CHECK_FALSE(ledger.busy(b));
    }
}

TEST_CASE("with_waits adds all operations that must be over before", "[runtime]") {
    TwoMemories m;
    const auto reader = m.ledger.begin_use(m.b, 2, Range{0, 16}, true, false);
    m.ledger.begin_use(m.b, 2, Range{16, 32}, true, false);
    const auto copy = m.ledger.begin_copy(m.a, m.b, 2, Range{0, 16});
    const auto write = m.ledger.begin_use(m.a, 1, Range{0, 16}, false, true);
    m.ledger.begin_use(m.a, 1, Range{0, 16}, true, false);
    CHECK(m.ledger.with_waits({write.operation}) ==
          std::vector{write.operation, copy.operation, reader.operation});
    CHECK(m.ledger.with_waits({reader.operation}) == std::vector{reader.operation});
    CHECK(m.ledger.with_waits({}).empty());
}
