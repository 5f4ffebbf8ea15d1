// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs with failing commands, on host memory behind caches with units and on other
// memory.
#include "coherence/ledger.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace pi::runtime;

namespace {

constexpr uint64_t size = 64;
#if defined(__SANITIZE_THREAD__) // the test has only one thread
constexpr unsigned programs = 50;
#else
constexpr unsigned programs = 3000;
#endif

/// Executes operations as the runtime plans them, each when all that it waits for has ended. Failed
/// operations change no byte: at the end every byte has the value of the last successful write.
/// Bytes of a failed write may be valid nowhere afterwards, since other bytes of their unit may be
/// newest at the write's view.
class Machine {
public:
    explicit Machine(unsigned seed) : random_(seed) {
        const MemoryId shared = ledger_.add_memory();
        add_view(shared, 1);
        add_view(shared, 8);
        add_view(shared, 16);
        add_view(ledger_.add_memory(), 1);
        add_view(ledger_.add_memory(), 1);
    }

    void step() {
        if (random_() % 3 == 0) {
            run_one();
            return;
        }
        if (random_() % 32 == 0) {
            abandon_one();
            return;
        }
        const auto view = static_cast<ViewId>(random_() % views_.size());
        const uint64_t begin = random_() % size;
        const Range range{begin, std::min(size, begin + 1 + random_() % (size / 2))};
        const bool writes = random_() % 2 == 0;
        const bool fetches = (!writes || random_() % 2 == 0) && may_fetch(view, range);
        const std::vector<RangeSet> before = all_expected();
        const OperationId newest_before = newest_;
        bring(view, fetches ? range : RangeSet(), writes ? range : RangeSet());
        if (!fetches && !writes) {
            return;
        }
        Operation use{writes ? Kind::write : Kind::read};
        use.view = view;
        use.ranges = range;
        use.fetches = fetches;
        use.value = ++value_;
        begin_operation(ledger_.begin_use(view, view, range, fetches, writes), std::move(use));
        if (random_() % 8 == 0) {
            undo(newest_before);
            REQUIRE(all_expected() == before);
        }
    }

    void run_all() {
        while (!waiting_.empty() || !ended_.empty()) {
            run_one();
        }
    }

    void check_end() const {
        for (ViewId view = 0; view < views_.size(); ++view) {
            CHECK(ledger_.expected(view) == ledger_.valid(view));
            check_bytes(view, ledger_.valid(view), ~OperationId{0});
        }
    }

private:
    enum class Kind { read, write, copy, coherence_sync };
    struct Operation {
        Kind kind;
        ViewId view = 0;
        ViewId source = 0;
        RangeSet ranges{};
        bool fetches = false;
        uint32_t value = 0;
        std::vector<Ledger::Wait> waits{};
    };
    struct Ended {
        Operation operation;
        bool succeeds;
        bool has_command = true;
    };
    struct View {
        MemoryId memory;
        uint64_t unit;
        std::vector<uint32_t>
            bytes; // the view's own bytes; the first view of host memory has the actual bytes
    };

    void add_view(MemoryId memory, uint64_t unit) {
        ledger_.set_unit(ledger_.add_view(memory), unit);
        views_.push_back({memory, unit, std::vector<uint32_t>(size, 0)});
    }

    static bool is_transfer(const Operation &operation) {
        return operation.kind == Kind::copy || operation.kind == Kind::coherence_sync;
    }

    bool is_shared(ViewId view) const { return views_[view].memory == views_[0].memory; }

    /// No copies into the shared memory: nothing may fail there, since overwritten bytes could not
    /// be restored.
    bool may_fetch(ViewId view, const Range &range) const {
        RangeSet there;
        for (ViewId source = 0; source < views_.size(); ++source) {
            if (!is_shared(view) || is_shared(source)) {
                there.add(ledger_.expected(source));
            }
        }
        return there.contains(range);
    }

    void begin_operation(const Ledger::Begun &begun, Operation operation) {
        operation.waits = begun.waits;
        newest_ = begun.operation;
        all_.emplace(begun.operation, operation);
        waiting_.emplace(begun.operation, std::move(operation));
    }

    struct Transfer {
        Kind kind;
        ViewId source;
        RangeSet ranges;
    };

    /// Plans as StorageState::plan does, then begins the operations in that order.
    void bring(ViewId view, const RangeSet &wanted, const RangeSet &written) {
        RangeSet stale = subtract(wanted, ledger_.expected(view));
        std::vector<Transfer> transfers =
            coherence_syncs(view, stale, [&](ViewId source) { return ledger_.expected(source); });
        std::vector<Transfer> copies;
        for (ViewId source = 0; source < views_.size(); ++source) {
            RangeSet ranges = intersect(stale, ledger_.expected(source));
            stale.remove(ranges);
            if (!ranges.empty()) {
                copies.push_back({Kind::copy, source, std::move(ranges)});
            }
        }
        RangeSet beside = ledger_.rest_of_units(view, written);
        for (const Transfer &copy : copies) {
            beside.add(ledger_.rest_of_units(view, copy.ranges));
        }
        beside.remove(ledger_.possibly_valid(view));
        for (const Transfer &transfer : transfers) {
            beside.remove(transfer.ranges);
        }
        for (Transfer &transfer : coherence_syncs(
                 view, beside, [&](ViewId source) { return ledger_.possibly_valid(source); })) {
            transfers.push_back(std::move(transfer));
        }
        transfers.insert(transfers.end(), copies.begin(), copies.end());
        for (const Transfer &transfer : transfers) {
            Operation operation{transfer.kind};
            operation.view = view;
            operation.source = transfer.source;
            operation.ranges = transfer.ranges;
            begin_operation(ledger_.begin_copy(transfer.source, view, view, transfer.ranges),
                            std::move(operation));
        }
    }

    template <class There>
    std::vector<Transfer> coherence_syncs(ViewId view, RangeSet &stale, There there) const {
        std::vector<Transfer> transfers;
        RangeSet planned;
        for (ViewId source = 0; source < views_.size(); ++source) {
            if (source == view || views_[source].memory != views_[view].memory) {
                continue;
            }
            RangeSet ranges = intersect(stale, there(source));
            if (!ranges.empty()) {
                ranges.add(subtract(ledger_.synced_along(source, view, ranges), planned));
                planned.add(ranges);
                stale.remove(ranges);
                transfers.push_back({Kind::coherence_sync, source, std::move(ranges)});
            }
        }
        return transfers;
    }

    /// A use at a device waits for the command of a use at a device of the same plugin, and
    /// otherwise for the end in the ledger.
    bool is_over(OperationId id, const Operation &for_whom) const {
        const auto ended = ended_.find(id);
        const auto plugin = [](const Operation &operation) { return (operation.view + 1) / 2; };
        return ended == ended_.end() ? waiting_.count(id) == 0
                                     : ended->second.has_command && !is_transfer(for_whom) &&
                                           plugin(ended->second.operation) == plugin(for_whom);
    }

    /// Abandons a write, which ends before its turn. It has no command, so its waiters wait for the
    /// ledger.
    void abandon_one() {
        for (const auto &[id, operation] : waiting_) {
            if (operation.kind == Kind::write && random_() % 4 == 0) {
                failed_.insert(id);
                ended_.emplace(id, Ended{operation, false, false});
                waiting_.erase(id);
                return;
            }
        }
    }

    /// Undoes all operations that began after this one.
    void undo(OperationId newest) {
        while (!waiting_.empty() && waiting_.rbegin()->first > newest) {
            ledger_.undo(waiting_.rbegin()->first);
            all_.erase(waiting_.rbegin()->first);
            waiting_.erase(std::prev(waiting_.end()));
        }
    }

    std::vector<RangeSet> all_expected() const {
        std::vector<RangeSet> sets;
        for (ViewId view = 0; view < views_.size(); ++view) {
            sets.push_back(ledger_.expected(view));
        }
        return sets;
    }

    void run_one() {
        std::vector<OperationId> ready;
        for (const auto &[id, operation] : waiting_) {
            if (std::all_of(operation.waits.begin(), operation.waits.end(),
                            [&, &each = operation](const Ledger::Wait &wait) {
                                return is_over(wait.operation, each);
                            })) {
                ready.push_back(id);
            }
        }
        // Finishes operations in any order, but a failed one only after those before it.
        std::vector<OperationId> known;
        for (const auto &[id, ended] : ended_) {
            if (ended.succeeds || ledger_.before_failure(id).empty()) {
                known.push_back(id);
            }
        }
        const size_t all = ready.size() + known.size();
        if (all == 0) {
            REQUIRE(waiting_.size() + ended_.size() == 0); // no operation may wait for itself
            return;
        }
        const size_t chosen = random_() % all;
        if (chosen < known.size()) {
            report(known[chosen]);
            return;
        }
        const OperationId id = ready[chosen - known.size()];
        const Operation operation = std::move(waiting_.at(id));
        waiting_.erase(id);
        const bool succeeds = run(id, operation);
        if (!succeeds) {
            failed_.insert(id);
        }
        ended_.emplace(id, Ended{operation, succeeds});
        if (is_transfer(operation)) {
            report(id);
        }
    }

    void report(OperationId id) {
        const Ended ended = ended_.extract(id).mapped();
        const Operation &operation = ended.operation;
        const bool succeeds = ended.succeeds;
        if (!succeeds && operation.kind == Kind::write && is_shared(operation.view)) {
            failed_writes_.emplace(id, operation);
        }
        const RangeSet before = valid_anywhere();
        ledger_.finish(id, succeeds);
        note_given_up(subtract(before, valid_anywhere()));
    }

    bool is_behind_failure(const Operation &operation) const {
        return std::any_of(operation.waits.begin(), operation.waits.end(),
                           [&](const Ledger::Wait &wait) {
                               return wait.data && failed_.count(wait.operation) != 0;
                           });
    }

    /// Only coherence syncs bring bytes into the shared memory, and they do not fail by themselves.
    bool may_fail(const Operation &operation) const {
        return !is_shared(operation.view) || operation.kind == Kind::write;
    }

    bool run(OperationId id, const Operation &operation) {
        if ((may_fail(operation) && random_() % 4 == 0) || is_behind_failure(operation) ||
            (is_transfer(operation) && !ledger_.retry_from(id, operation.source))) {
            return false;
        }
        View &view = views_[operation.view];
        if (operation.kind == Kind::coherence_sync) {
            move_units(views_[operation.source], views_[0], operation.ranges);
            move_units(views_[0], view, operation.ranges);
        } else if (operation.kind == Kind::copy) {
            move(views_[operation.source], view, operation.ranges);
        } else {
            if (operation.fetches) {
                check_bytes(operation.view, operation.ranges, id);
            }
            if (operation.kind == Kind::write) {
                const Range range = operation.ranges.hull();
                std::fill_n(view.bytes.begin() + range.begin, range.size(), operation.value);
                written_.emplace(id, std::pair(range, operation.value));
            }
        }
        return true;
    }

    static void move(const View &from, View &to, const RangeSet &ranges) {
        for (const Range &range : ranges.ranges()) {
            std::copy_n(from.bytes.begin() + range.begin, range.size(),
                        to.bytes.begin() + range.begin);
        }
    }

    /// Units of the end that has caches: the host has none.
    static void move_units(const View &from, View &to, const RangeSet &ranges) {
        if (&from != &to) {
            move(from, to, whole_units(ranges, std::max(from.unit, to.unit)));
        }
    }

    /// Compares bytes with the writes before an operation.
    void check_bytes(ViewId view, const RangeSet &ranges, OperationId before) const {
        std::vector<uint32_t> model(size, 0);
        for (const auto &[id, write] : written_) {
            if (id < before) {
                std::fill_n(model.begin() + write.first.begin, write.first.size(), write.second);
            }
        }
        for (const Range &range : ranges.ranges()) {
            for (uint64_t index = range.begin; index < range.end; ++index) {
                INFO("byte " << index << " at view " << view);
                if (model[index] != 0 && before > given_up_[index]) { // else any value is right
                    REQUIRE(views_[view].bytes[index] == model[index]);
                }
            }
        }
    }

    RangeSet valid_anywhere() const {
        RangeSet bytes;
        for (ViewId view = 0; view < views_.size(); ++view) {
            bytes.add(ledger_.valid(view));
        }
        return bytes;
    }

    /// Units of a failed write that later commands move from or to its view.
    RangeSet beside_later_ones(const std::pair<const OperationId, Operation> &failed) const {
        RangeSet bytes;
        for (auto later = all_.upper_bound(failed.first); later != all_.end(); ++later) {
            const Operation &operation = later->second;
            const ViewId at =
                operation.kind == Kind::coherence_sync ? operation.source : operation.view;
            if (operation.kind != Kind::read && at == failed.second.view) {
                bytes.add(whole_units(operation.ranges, 16));
            }
        }
        return bytes;
    }

    /// Records bytes that are no longer valid anywhere; their newest write must have failed.
    /// Operations that began before may still expect them.
    void note_given_up(const RangeSet &bytes) {
        for (const auto &[id, write] : written_) {
            if (ended_.count(id) != 0) {
                continue; // it may still succeed
            }
            RangeSet lost = intersect(bytes, write.first);
            for (auto failed = failed_writes_.lower_bound(id); failed != failed_writes_.end();
                 ++failed) {
                lost.remove(intersect(failed->second.ranges, beside_later_ones(*failed)));
            }
            INFO("operation " << id);
            REQUIRE(lost.empty());
        }
        for (const Range &range : bytes.ranges()) {
            std::fill(given_up_.begin() + range.begin, given_up_.begin() + range.end, newest_);
        }
    }

    std::mt19937 random_;
    Ledger ledger_;
    std::vector<View> views_;
    std::map<OperationId, Operation> waiting_;
    std::map<OperationId, Ended> ended_; // the ledger does not know their end yet
    std::map<OperationId, std::pair<Range, uint32_t>> written_; // by successful writes
    std::set<OperationId> failed_;
    std::map<OperationId, Operation> failed_writes_; // to the shared memory
    std::map<OperationId, Operation> all_;
    std::vector<OperationId> given_up_ = std::vector<OperationId>(size); // by byte: the newest then
    OperationId newest_ = 0;
    uint32_t value_ = 0;
};

} // namespace

TEST_CASE("random programs over caches with units lose no write, even when writes elsewhere fail",
          "[runtime]") {
    for (unsigned program = 0; program < programs; ++program) {
        INFO("seed " << program);
        Machine machine(program);
        for (int step = 0; step < 80; ++step) {
            machine.step();
        }
        machine.run_all();
        machine.check_end();
    }
}
