// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "faults.hpp"

#include <algorithm>

namespace pi::sim {

Faults::Faults(const Machine &machine) {
    for (const FaultSpec &fault : machine.faults) {
        const auto name =
            std::find(std::begin(function_names), std::end(function_names), fault.function);
        faults_[static_cast<size_t>(name - std::begin(function_names))].push_back(&fault);
    }
}

const FaultSpec *Faults::next(size_t function) {
    if (faults_[function].empty())
        return nullptr;
    const uint64_t call = calls_[function].fetch_add(1, std::memory_order_relaxed) + 1;
    for (const FaultSpec *fault : faults_[function])
        if (call >= fault->call && call - fault->call < fault->count)
            return fault;
    return nullptr;
}

const FaultSpec *&Faults::of_this_call() {
    static thread_local const FaultSpec *fault = nullptr;
    return fault;
}

std::string describe(const FaultSpec &fault) {
    std::string calls = fault.count == 1
                            ? sdk::text("call ", fault.call)
                            : sdk::text("calls ", fault.call, " to ", fault.call + fault.count - 1);
    return sdk::text(fault.function, ": the machine file has a fault for ", calls);
}

} // namespace pi::sim
