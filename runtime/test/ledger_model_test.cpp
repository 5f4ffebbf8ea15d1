// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of ledger operations on actual bytes.
#include "coherence/ledger.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>

using namespace pi::runtime;

namespace {

constexpr uint64_t size = 48;
#if defined(__SANITIZE_THREAD__) // the test has only one thread
constexpr unsigned programs = 20;
#else
constexpr unsigned programs = 200;
#endif

/// Executes a ledger's operations on actual bytes in random order, each when all that it waits for
/// has ended.
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
        std::vector<uint32_t> expected; // by byte of the hull of `ranges`
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
            REQUIRE(waiting_.empty()); // no operation may wait for itself
            return;
        }
        const OperationId id = ready[random_() % ready.size()];
        const Operation operation = std::move(waiting_.at(id));
        waiting_.erase(id);
        const RangeSet before = valid_somewhere();
        ledger_.finish(id, run(id, operation));
        REQUIRE(valid_somewhere().contains(before)); // no failure may lose a byte
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

TEST_CASE("random programs that complete in any order read the same bytes as a sequential one",
          "[runtime]") {
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    uint64_t checked = 0;
    for (unsigned program = 0; program < programs; ++program) {
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

TEST_CASE("random programs with failures end, and all expected bytes are there", "[runtime]") {
    const unsigned seed = Catch::rngSeed();
    INFO("seed " << seed);
    for (unsigned program = 0; program < programs; ++program) {
        Machine machine(seed + program, true);
        for (int step = 0; step < 120; ++step) {
            machine.step();
        }
        machine.run_all();
        machine.check_end();
    }
}
