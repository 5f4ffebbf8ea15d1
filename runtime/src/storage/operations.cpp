// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "storage/operations.hpp"

#include <algorithm>
#include <utility>

namespace pi::runtime {

std::vector<OperationId> operations_of(const std::vector<Ledger::Wait> &waits) {
    std::vector<OperationId> operations;
    operations.reserve(waits.size());
    for (const Ledger::Wait &wait : waits) {
        operations.push_back(wait.operation);
    }
    return operations;
}

const Operations::Pending &Operations::at(OperationId operation) const {
    return *std::find_if(pending_.begin(), pending_.end(),
                         [operation](const Pending &each) { return each.operation == operation; });
}

Operations::Pending &Operations::at(OperationId operation) {
    return const_cast<Pending &>(std::as_const(*this).at(operation));
}

const std::shared_ptr<Completion> &Operations::completion_of(OperationId operation) {
    std::shared_ptr<Completion> &completion = at(operation).completion;
    if (completion == nullptr) {
        completion = std::make_shared<Completion>(continuations_);
    }
    return completion;
}

std::vector<Dependency> Operations::dependencies(const std::vector<Ledger::Wait> &waits) {
    std::vector<Dependency> result;
    result.reserve(waits.size());
    for (const Ledger::Wait &wait : waits) {
        result.push_back({completion_of(wait.operation), wait.data});
    }
    return result;
}

const Operations::Pending *Operations::held_here(const std::vector<Ledger::Wait> &waits) const {
    for (const OperationId operation : ledger_.with_waits(operations_of(waits))) {
        if (const Pending &other = at(operation); other.held_here()) {
            return &other;
        }
    }
    return nullptr;
}

bool Operations::any_held(std::vector<OperationId> operations) const {
    operations = ledger_.with_waits(std::move(operations));
    return std::any_of(operations.begin(), operations.end(),
                       [this](OperationId operation) { return at(operation).held; });
}

void Operations::learn(Pending &over) {
    if (over.ending == Ending::undone) {
        ledger_.undo(over.operation);
    } else {
        ledger_.finish(over.operation, over.ending == Ending::succeeded);
    }
    pending_.erase(pending_.begin() + (&over - pending_.data()));
    --owed_;
}

void Operations::learn_next() {
    learn(*std::min_element(
        pending_.begin(), pending_.end(), [](const Pending &one, const Pending &other) {
            return one.ending && (!other.ending || one.end_number < other.end_number);
        }));
}

} // namespace pi::runtime
