// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "coherence/ledger.hpp"

#include <algorithm>

namespace runtime_test {

using pi::runtime::Ledger;
using pi::runtime::OperationId;

inline bool waits_for(const Ledger::Begun &begun, OperationId operation) {
    return std::any_of(begun.waits.begin(), begun.waits.end(),
                       [&](const Ledger::Wait &wait) { return wait.operation == operation; });
}

inline bool waits_for_data(const Ledger::Begun &begun, OperationId operation) {
    return std::any_of(begun.waits.begin(), begun.waits.end(), [&](const Ledger::Wait &wait) {
        return wait.operation == operation && wait.data;
    });
}

} // namespace runtime_test
