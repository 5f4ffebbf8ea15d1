// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/cache_line.hpp"
#include "base/thread_number.hpp"
#include "coherence/ledger.hpp"
#include "transfer/completion.hpp"

#include <pi/runtime/range_set.hpp>
#include <pi/runtime/topology.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace pi::runtime {

enum class Ending { succeeded, failed, undone };

/// The pending operations of one storage. The ledger knows each by its number; here are its
/// completion, its holder, and its end until the ledger has that. Not synchronised: the storage's
/// lock guards it, and its ledger.
class Operations {
public:
    /// Fails an operation after the earlier ones that may still be working on the same bytes.
    struct FailureInTurn {
        PreparedWait wait;
        std::shared_ptr<Outcome> outcome;
    };
    struct alignas(cache_line) Pending {
        OperationId operation;
        std::shared_ptr<Completion> completion; // made for the first waiter
        bool held = false;                      // acquired and not released
        uint64_t holder = 0;                    // as this_thread_number
        PlaceIndex place = host_place;
        Range range;
        bool maps_source = false;                 // a transfer that may read through a map
        bool maps_destination = false;            // or write through one
        std::unique_ptr<FailureInTurn> in_turn{}; // only where memory has units
        std::optional<Ending> ending{};           // over, but the ledger does not have it yet
        uint64_t end_number = 0;                  // the order of ends

        /// Whether this thread acquired it and has not released it.
        bool held_here() const { return held && holder == this_thread_number(); }
    };

    /// Both must outlive it.
    Operations(Ledger &ledger, const std::shared_ptr<Continuations> &continuations)
        : ledger_(ledger), continuations_(continuations) {}

    /// Adds the operation that `begin_in_ledger` begins. After an exception neither has it.
    template <class Begin>
    Ledger::Begun begin(PlaceIndex place, const Range &range, bool held, Begin begin_in_ledger) {
        // First, since an operation that has begun in the ledger must end there.
        pending_.push_back({0, nullptr, held, this_thread_number(), place, range});
        Ledger::Begun begun;
        try {
            begun = begin_in_ledger();
        } catch (...) {
            pending_.pop_back();
            throw;
        }
        pending_.back().operation = begun.operation;
        return begun;
    }
    /// Prepares the newest operation to fail in its turn, which then needs no memory. That calls
    /// finish(operation, result, text).
    template <class Finish>
    void prepare_failure(Finish finish) {
        Pending &operation = pending_.back();
        const std::vector<Dependency> earlier =
            dependencies(ledger_.before_failure(operation.operation));
        if (earlier.empty()) {
            return;
        }
        auto failure = std::make_shared<Outcome>();
        PreparedWait wait(earlier, [finish = std::move(finish), id = operation.operation,
                                    failure](pi_result, const std::string &) {
            finish(id, failure->result, failure->text);
        });
        operation.in_turn =
            std::make_unique<FailureInTurn>(FailureInTurn{std::move(wait), std::move(failure)});
    }

    Pending &at(OperationId operation);
    const Pending &at(OperationId operation) const;
    /// NULL once the ledger has its end.
    Pending *find(OperationId operation) {
        const auto found =
            std::find_if(pending_.begin(), pending_.end(),
                         [operation](const Pending &each) { return each.operation == operation; });
        return found == pending_.end() ? nullptr : &*found;
    }
    Pending &newest() { return pending_.back(); }

    const std::shared_ptr<Completion> &completion_of(OperationId operation);
    std::vector<Dependency> dependencies(const std::vector<Ledger::Wait> &waits);

    /// Whether this thread holds one.
    bool holds_any_here() const {
        return std::any_of(pending_.begin(), pending_.end(),
                           [](const Pending &operation) { return operation.held_here(); });
    }
    /// The first of these operations, and of those that they wait for, that this thread holds; NULL
    /// if none.
    const Pending *held_here(const std::vector<Ledger::Wait> &waits) const;
    /// Whether any thread holds one of these, or of those that they wait for.
    bool any_held(std::vector<OperationId> operations) const;

    /// Records how an operation ended, for learn(); NULL if that was recorded already.
    Pending *end(OperationId operation, Ending ending) {
        Pending *const over = find(operation);
        if (over == nullptr || over->ending) {
            return nullptr;
        }
        over->held = false;
        over->in_turn.reset();
        over->ending = ending;
        over->end_number = ++ends_;
        ++owed_;
        return over;
    }
    size_t owed() const { return owed_; } ///< ends that the ledger does not have yet
    /// Gives the ledger one of these ends. After std::bad_alloc it is still owed.
    void learn(Pending &over);
    /// Gives it the first of them.
    void learn_next();

private:
    Ledger &ledger_;
    const std::shared_ptr<Continuations> &continuations_;
    std::vector<Pending> pending_; // few: in the order of their operations
    size_t owed_ = 0;
    uint64_t ends_ = 0;
};

std::vector<OperationId> operations_of(const std::vector<Ledger::Wait> &waits);

} // namespace pi::runtime
