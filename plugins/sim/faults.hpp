// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies the faults of a machine file to calls.
#pragma once

#include "machine.hpp"
#include "names.hpp"

#include <array>
#include <atomic>

namespace pi::sim {

/// Counts the calls of each function. Thread-safe.
class Faults {
public:
    explicit Faults(const Machine &machine);

    /// Counts a call of a function of function_names and returns its fault, or NULL.
    const FaultSpec *next(size_t function);

    /// The fault of the command that this thread is enqueueing, or NULL.
    static const FaultSpec *&of_this_call();

private:
    std::array<std::vector<const FaultSpec *>, std::size(function_names)>
        faults_; ///< of the machine
    std::array<std::atomic<uint64_t>, std::size(function_names)> calls_{};
};

/// "piMemBufferCreate, call 3: the machine file's fault"
std::string describe(const FaultSpec &fault);

} // namespace pi::sim
