// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ledger.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace pi::runtime;

namespace {

constexpr uint64_t size = 48;

bool waits_for(const Ledger::Begun &begun, OperationId operation) {
    return std::any_of(begun.waits.begin(), begun.waits.end(),
                       [&](const Ledger::Wait &wait) { return wait.operation == operation; });
}

bool waits_for_data(const Ledger::Begun &begun, OperationId operation) {
    return std::any_of(begun.waits.begin(), begun.waits.end(), [&](const Ledger::Wait &wait) {
        return wait.operation == operation && wait.data;
    });
}

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

TEST_CASE("a write keeps the others valid until it commits", "[runtime]") {
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

TEST_CASE("a write that fails where the only copy is loses no byte", "[runtime]") {
    TwoMemories m;
    const auto write = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, true);
    m.ledger.finish(write.operation, false);
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
}

TEST_CASE("a write that fails spoils its own memory where others have the bytes", "[runtime]") {
    TwoMemories m;
    m.ledger.finish(m.ledger.begin_copy(m.a, m.b, 2, Range{0, 16}).operation, true);
    const auto write = m.ledger.begin_use(m.b, 2, Range{8, 24}, true, true);
    m.ledger.finish(write.operation, false);
    CHECK(m.ledger.valid(m.b) == RangeSet({0, 8}));
    CHECK(m.ledger.expected(m.b) == RangeSet({0, 8}));
    CHECK(m.ledger.valid(m.a) == RangeSet({0, size}));
}

TEST_CASE("a discarding write waits for the one before it, but not for its bytes", "[runtime]") {
    TwoMemories m;
    const auto first = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, true);
    const auto second = m.ledger.begin_use(m.a, 1, Range{0, 16}, false, true);
    CHECK(waits_for(second, first.operation));
    CHECK_FALSE(waits_for_data(second, first.operation));
    const auto third = m.ledger.begin_use(m.a, 1, Range{0, 16}, true, false);
    CHECK(waits_for_data(third, second.operation));
    CHECK_FALSE(waits_for_data(third, first.operation));
}

TEST_CASE("readers go together, a writer waits for them, readers wait for it", "[runtime]") {
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

TEST_CASE("writing one memory waits for copies out of it, not for readers of others", "[runtime]") {
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

TEST_CASE("a copy that finishes after a newer write does not bring back old bytes", "[runtime]") {
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

TEST_CASE("a failed copy sends what depends on it to another source, a failed write does not",
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
        // It is a reader of a now.
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

TEST_CASE("within one memory bytes are handed over beside readers, not beside writers",
          "[runtime]") {
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

namespace {

/// Host memory that two devices see through caches of units of 16 bytes, and memory elsewhere.
struct Cached {
    Ledger ledger;
    const MemoryId shared = ledger.add_memory();
    const ViewId host = ledger.add_view(shared, RangeSet({0, 32}));
    const ViewId a = ledger.add_view(shared);
    const ViewId b = ledger.add_view(shared);
    const ViewId elsewhere = ledger.add_view(ledger.add_memory(), RangeSet({32, size}));

    Cached() {
        ledger.set_unit(a, 16);
        ledger.set_unit(b, 8);
    }
    void hand_over(ViewId from, ViewId to, const Range &range) {
        ledger.finish(ledger.begin_copy(from, to, to, range).operation, true);
    }
};

} // namespace

TEST_CASE("what passes from one device to another is valid at the host, too", "[runtime]") {
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

TEST_CASE("a write needs the rest of its units, as far as somebody wrote there", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    CHECK(ledger.beside(cached.a, Range{4, 20}) == RangeSet({{0, 4}, {20, 32}}));
    CHECK(ledger.beside(cached.a, Range{30, 34}) == RangeSet({16, 30}));
    CHECK(ledger.beside(cached.a, Range{0, 16}).empty());
    CHECK(ledger.beside(cached.elsewhere, Range{4, 20}).empty());
    const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{0, 4});
    CHECK(waits_for_data(ledger.begin_use(cached.a, 1, Range{4, 16}, false, true), over.operation));
    CHECK_FALSE(
        waits_for_data(ledger.begin_use(cached.a, 1, Range{4, 16}, true, false), over.operation));
}

TEST_CASE("a copy beside bytes that could not be handed over is not made", "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{16, 32});
    const auto copy = ledger.begin_copy(cached.elsewhere, cached.a, 1, Range{32, 40});
    CHECK_FALSE(waits_for_data(copy, over.operation)); // units of their own
    const auto write = ledger.begin_use(cached.elsewhere, 3, Range{24, 32}, false, true);
    const auto beside = ledger.begin_copy(cached.elsewhere, cached.a, 1, Range{24, 32});
    CHECK(waits_for_data(beside, over.operation));
    ledger.finish(write.operation, true);
    ledger.finish(over.operation, false);
    CHECK_FALSE(ledger.retry_from(beside.operation, cached.elsewhere));
    CHECK(ledger.retry_from(copy.operation, cached.elsewhere));
}

TEST_CASE(
    "a copy to the host is not made beside bytes that were to pass it between devices and did not",
    "[runtime]") {
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

TEST_CASE("a hand-over waits for who writes in its units, and for who reads them where it goes",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    cached.hand_over(cached.host, cached.a, {0, 8});
    const auto reader = ledger.begin_use(cached.a, 1, Range{0, 8}, true, false);
    const auto source_reader = ledger.begin_use(cached.host, 0, Range{0, 16}, true, false);
    const auto over = ledger.begin_copy(cached.host, cached.a, 1, Range{8, 16});
    CHECK(waits_for(over, reader.operation));
    CHECK_FALSE(waits_for(over, source_reader.operation));
    const auto elsewhere = ledger.begin_copy(cached.host, cached.b, 2, Range{16, 32});
    CHECK(elsewhere.waits.empty());
    CHECK(waits_for(ledger.begin_use(cached.host, 0, Range{0, 4}, false, true), over.operation));
}

TEST_CASE("a hand-over brings along what is valid in its units and not about to change",
          "[runtime]") {
    Cached cached;
    Ledger &ledger = cached.ledger;
    cached.hand_over(cached.host, cached.a, {0, 4});
    const auto along = [&](const Range &range) {
        return ledger.brought_along(cached.host, cached.a, range);
    };
    CHECK(along({8, 10}) == RangeSet({{4, 8}, {10, 16}}));
    CHECK(along({30, 34}) == RangeSet({16, 30}));
    ledger.begin_use(cached.host, 0, Range{12, 16}, false, true);
    CHECK(along({8, 10}) == RangeSet({{4, 8}, {10, 12}}));
    // The caches of b have smaller units.
    CHECK(ledger.brought_along(cached.host, cached.b, Range{8, 10}) == RangeSet({10, 12}));
    CHECK(ledger.brought_along(cached.a, cached.b, Range{0, 2}) == RangeSet({2, 4}));
}

TEST_CASE("where writers exclude each other, those of two places wait and those of one do not",
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

namespace {

/// Executes a ledger's operations on real bytes, each once all it waits for is over, in random order.
class Machine {
public:
    Machine(unsigned seed, bool with_failures) : random_(seed), with_failures_(with_failures) {
        for (int memory = 0; memory < 3; ++memory) {
            const MemoryId id = ledger_.add_memory();
            bytes_.emplace_back(size, 0);
            add_view(id);
            if (memory == 0) {
                add_view(id); // two views of one memory
            }
        }
    }

    void step() {
        if (random_() % 3 == 0) {
            run_one();
            return;
        }
        const auto view = static_cast<ViewId>(random_() % views_.size());
        uint64_t a = random_() % (size + 1);
        uint64_t b = random_() % (size + 1);
        const Range range{std::min(a, b), std::max(a, b)};
        if (range.empty()) {
            return;
        }
        const bool writes = random_() % 2 == 0;
        const bool fetches = !writes || random_() % 2 == 0;
        if (fetches) {
            fetch(view, range);
        }
        begin(view, range, fetches, writes);
    }

    void run_all() {
        while (!waiting_.empty()) {
            run_one();
        }
    }

    void check_end() {
        for (ViewId view = 0; view < views_.size(); ++view) {
            CHECK(ledger_.expected(view) == ledger_.valid(view));
        }
        if (with_failures_) {
            return;
        }
        for (uint64_t index = 0; index < size; ++index) {
            bool found = false;
            for (ViewId view = 0; view < views_.size(); ++view) {
                if (ledger_.valid(view).contains(Range{index, index + 1})) {
                    found = true;
                    REQUIRE(bytes_[views_[view]][index] == model_[index]);
                }
            }
            REQUIRE(found == (model_[index] != 0));
        }
    }
    uint64_t reads_checked = 0;

private:
    struct Operation {
        bool is_use = false;
        ViewId view = 0;
        ViewId source = 0;
        RangeSet ranges;
        bool reads = false;
        bool writes = false;
        bool one_memory = false;
        uint32_t value = 0;
        std::vector<uint32_t> expected; // by byte of ranges' hull
        std::vector<Ledger::Wait> waits;
    };

    void add_view(MemoryId memory) {
        ledger_.add_view(memory);
        views_.push_back(memory);
    }

    void fetch(ViewId view, const Range &range) {
        for (const bool one_memory : {true, false}) {
            for (ViewId source = 0; source < views_.size(); ++source) {
                if (source == view || (views_[source] == views_[view]) != one_memory) {
                    continue;
                }
                RangeSet stale = subtract(range, ledger_.expected(view));
                RangeSet ranges = intersect(stale, ledger_.expected(source));
                if (ranges.empty()) {
                    continue;
                }
                const auto begun = ledger_.begin_copy(source, view, view, ranges);
                Operation copy;
                copy.view = view;
                copy.source = source;
                copy.ranges = ranges;
                copy.one_memory = one_memory;
                copy.waits = begun.waits;
                waiting_.emplace(begun.operation, std::move(copy));
            }
        }
    }

    void begin(ViewId view, const Range &range, bool reads, bool writes) {
        const auto begun = ledger_.begin_use(view, view, range, reads, writes);
        Operation use;
        use.is_use = true;
        use.view = view;
        use.ranges = range;
        use.reads = reads;
        use.writes = writes;
        use.waits = begun.waits;
        use.expected.assign(model_.begin() + range.begin, model_.begin() + range.end);
        if (writes) {
            use.value = ++value_;
            std::fill(model_.begin() + range.begin, model_.begin() + range.end, use.value);
        }
        waiting_.emplace(begun.operation, std::move(use));
    }

    bool is_ready(const Operation &operation) const {
        return std::none_of(
            operation.waits.begin(), operation.waits.end(),
            [&](const Ledger::Wait &wait) { return waiting_.count(wait.operation) != 0; });
    }

    void run_one() {
        std::vector<OperationId> ready;
        for (const auto &[id, operation] : waiting_) {
            if (is_ready(operation)) {
                ready.push_back(id);
            }
        }
        if (ready.empty()) {
            REQUIRE(waiting_.empty()); // nothing may wait for itself
            return;
        }
        const OperationId id = ready[random_() % ready.size()];
        const Operation operation = std::move(waiting_.at(id));
        waiting_.erase(id);
        const RangeSet before = valid_somewhere();
        ledger_.finish(id, run(id, operation));
        REQUIRE(valid_somewhere().contains(before)); // whatever fails, no byte is lost
    }

    RangeSet valid_somewhere() const {
        RangeSet all;
        for (ViewId view = 0; view < views_.size(); ++view) {
            all.add(ledger_.valid(view));
        }
        return all;
    }

    bool run(OperationId id, const Operation &operation) {
        const bool after_failure = std::any_of(
            operation.waits.begin(), operation.waits.end(), [&](const Ledger::Wait &wait) {
                return wait.data && failed_.count(wait.operation) != 0;
            });
        if (after_failure || (with_failures_ && random_() % 10 == 0)) {
            failed_.emplace(id, true);
            return false;
        }
        if (!operation.is_use) {
            if (!operation.one_memory) {
                for (const Range &range : operation.ranges.ranges()) {
                    std::copy(bytes_[views_[operation.source]].begin() + range.begin,
                              bytes_[views_[operation.source]].begin() + range.end,
                              bytes_[views_[operation.view]].begin() + range.begin);
                }
            }
            return true;
        }
        const Range range = operation.ranges.hull();
        auto &bytes = bytes_[views_[operation.view]];
        if (operation.reads && !with_failures_) {
            for (uint64_t index = range.begin; index < range.end; ++index) {
                const uint32_t wanted = operation.expected[index - range.begin];
                if (wanted != 0) { // else never written
                    REQUIRE(bytes[index] == wanted);
                    ++reads_checked;
                }
            }
        }
        if (operation.writes) {
            std::fill(bytes.begin() + range.begin, bytes.begin() + range.end, operation.value);
        }
        return true;
    }

    std::mt19937 random_;
    const bool with_failures_;
    Ledger ledger_;
    std::vector<MemoryId> views_;
    std::vector<std::vector<uint32_t>> bytes_; // by memory
    std::vector<uint32_t> model_ = std::vector<uint32_t>(size, 0);
    std::map<OperationId, Operation> waiting_;
    std::map<OperationId, bool> failed_;
    uint32_t value_ = 0;
};

} // namespace

TEST_CASE("random programs in any order of completion read what a sequential one reads",
          "[runtime]") {
    const unsigned seed = std::random_device()();
    INFO("seed " << seed);
    uint64_t checked = 0;
    for (unsigned program = 0; program < 200; ++program) {
        Machine machine(seed + program, false);
        for (int step = 0; step < 120; ++step) {
            machine.step();
        }
        machine.run_all();
        machine.check_end();
        checked += machine.reads_checked;
    }
    CHECK(checked > 10000);
}

TEST_CASE("random programs with failures end, and leave nothing expected that is not there",
          "[runtime]") {
    const unsigned seed = std::random_device()();
    INFO("seed " << seed);
    for (unsigned program = 0; program < 200; ++program) {
        Machine machine(seed + program, true);
        for (int step = 0; step < 120; ++step) {
            machine.step();
        }
        machine.run_all();
        machine.check_end();
    }
}

TEST_CASE("a memory is busy while an operation uses it, and bytes that are forgotten are valid "
          "elsewhere alone",
          "[runtime]") {
    Ledger ledger;
    const MemoryId host = ledger.add_memory();
    const MemoryId device = ledger.add_memory();
    const ViewId at_host = ledger.add_view(host, RangeSet({0, 100}));
    const ViewId at_device = ledger.add_view(device);
    CHECK_FALSE(ledger.busy(host));
    const auto copy = ledger.begin_copy(at_host, at_device, 1, RangeSet({0, 50}));
    CHECK(ledger.busy(host));
    CHECK(ledger.busy(device));
    ledger.finish(copy.operation, true);
    CHECK_FALSE(ledger.busy(device));
    CHECK(ledger.only_at(at_device).empty());
    CHECK(ledger.only_at(at_host) == RangeSet({50, 100}));
    const auto write = ledger.begin_use(at_device, 1, RangeSet({10, 20}), false, true);
    CHECK(ledger.busy(device));
    CHECK_FALSE(ledger.busy(host));
    ledger.finish(write.operation, true);
    CHECK(ledger.only_at(at_device) == RangeSet({10, 20}));
    ledger.forget(at_device);
    CHECK(ledger.valid(at_device).empty());
    CHECK(ledger.expected(at_device).empty());
    CHECK(ledger.valid(at_host) == RangeSet({{0, 10}, {20, 100}}));
}
