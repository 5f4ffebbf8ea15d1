// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs on host memory behind caches that move whole units, beside memory elsewhere where commands fail.
#include "ledger.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace pi::runtime;

namespace {

constexpr uint64_t size = 64;
#if defined(__SANITIZE_THREAD__) // of which there is one here
constexpr unsigned programs = 50;
#else
constexpr unsigned programs = 500;
#endif

/// Executes operations as the runtime plans them, each once all that it waits for is over. Those that fail touch nothing:
/// in the end every byte is what the last write that succeeded made it.
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
        const auto view = static_cast<ViewId>(random_() % views_.size());
        const uint64_t begin = random_() % size;
        const Range range{begin, std::min(size, begin + 1 + random_() % (size / 2))};
        const bool writes = random_() % 2 == 0;
        const bool fetches = (!writes || random_() % 2 == 0) && may_fetch(view, range);
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
    }

    void run_all() {
        while (!waiting_.empty()) {
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
    enum class Kind { read, write, copy, hand_over };
    struct Operation {
        Kind kind;
        ViewId view = 0;
        ViewId source = 0;
        RangeSet ranges{};
        bool fetches = false;
        uint32_t value = 0;
        std::vector<Ledger::Wait> waits{};
    };
    struct View {
        MemoryId memory;
        uint64_t unit;
        std::vector<uint32_t>
            bytes; // what is seen there; of host memory the first has what there is
    };

    void add_view(MemoryId memory, uint64_t unit) {
        ledger_.set_unit(ledger_.add_view(memory), unit);
        views_.push_back({memory, unit, std::vector<uint32_t>(size, 0)});
    }

    bool is_shared(ViewId view) const { return views_[view].memory == views_[0].memory; }

    /// Nothing comes into the shared memory: there nothing fails, as what it overwrites is not to be had again.
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
        waiting_.emplace(begun.operation, std::move(operation));
    }

    struct Transfer {
        Kind kind;
        ViewId source;
        RangeSet ranges;
    };

    /// As StorageState::plan does, then begun in that order.
    void bring(ViewId view, const RangeSet &wanted, const RangeSet &written) {
        RangeSet stale = subtract(wanted, ledger_.expected(view));
        std::vector<Transfer> transfers =
            hand_overs(view, stale, [&](ViewId source) { return ledger_.expected(source); });
        std::vector<Transfer> copies;
        for (ViewId source = 0; source < views_.size(); ++source) {
            RangeSet ranges = intersect(stale, ledger_.expected(source));
            stale.remove(ranges);
            if (!ranges.empty()) {
                copies.push_back({Kind::copy, source, std::move(ranges)});
            }
        }
        RangeSet beside = ledger_.beside(view, written);
        for (const Transfer &copy : copies) {
            beside.add(ledger_.beside(view, copy.ranges));
        }
        beside.remove(ledger_.may_count(view));
        for (const Transfer &transfer : transfers) {
            beside.remove(transfer.ranges);
        }
        for (Transfer &transfer :
             hand_overs(view, beside, [&](ViewId source) { return ledger_.may_count(source); })) {
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
    std::vector<Transfer> hand_overs(ViewId view, RangeSet &stale, There there) const {
        std::vector<Transfer> transfers;
        RangeSet planned;
        for (ViewId source = 0; source < views_.size(); ++source) {
            if (source == view || views_[source].memory != views_[view].memory) {
                continue;
            }
            RangeSet ranges = intersect(stale, there(source));
            if (!ranges.empty()) {
                ranges.add(subtract(ledger_.brought_along(source, view, ranges), planned));
                planned.add(ranges);
                stale.remove(ranges);
                transfers.push_back({Kind::hand_over, source, std::move(ranges)});
            }
        }
        return transfers;
    }

    void run_one() {
        std::vector<OperationId> ready;
        for (const auto &[id, operation] : waiting_) {
            if (std::none_of(operation.waits.begin(), operation.waits.end(),
                             [&](const Ledger::Wait &wait) {
                                 return waiting_.count(wait.operation) != 0;
                             })) {
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
        const bool succeeds = run(id, operation);
        if (!succeeds) {
            failed_.insert(id);
        }
        ledger_.finish(id, succeeds);
    }

    bool is_behind_failure(const Operation &operation) const {
        return std::any_of(operation.waits.begin(), operation.waits.end(),
                           [&](const Ledger::Wait &wait) {
                               return wait.data && failed_.count(wait.operation) != 0;
                           });
    }

    bool run(OperationId id, const Operation &operation) {
        const bool is_transfer = operation.kind == Kind::copy || operation.kind == Kind::hand_over;
        if ((!is_shared(operation.view) && random_() % 4 == 0) || is_behind_failure(operation) ||
            (is_transfer && !ledger_.retry_from(id, operation.source))) {
            return false;
        }
        View &view = views_[operation.view];
        if (operation.kind == Kind::hand_over) {
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

    /// Of the end that has caches: the host has none.
    static void move_units(const View &from, View &to, const RangeSet &ranges) {
        if (&from != &to) {
            move(from, to, whole_units(ranges, std::max(from.unit, to.unit)));
        }
    }

    /// Against what the writes before an operation made of them.
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
                if (model[index] != 0) { // else never written
                    REQUIRE(views_[view].bytes[index] == model[index]);
                }
            }
        }
    }

    std::mt19937 random_;
    Ledger ledger_;
    std::vector<View> views_;
    std::map<OperationId, Operation> waiting_;
    std::map<OperationId, std::pair<Range, uint32_t>> written_; // by writes that succeeded
    std::set<OperationId> failed_;
    uint32_t value_ = 0;
};

} // namespace

TEST_CASE("random programs over caches of whole units miss no write, though writes elsewhere fail",
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
