// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The faults that a machine's file describes, given to the calls that they are meant for.
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

    /// Counts a call of a function of function_names; the fault that it has, or NULL.
    const FaultSpec *next(size_t function);

    /// The fault of the command that this thread is enqueueing, while it does; or NULL.
    static const FaultSpec *&of_this_call();

private:
    std::array<std::vector<const FaultSpec *>, std::size(function_names)>
        faults_; ///< of the machine
    std::array<std::atomic<uint64_t>, std::size(function_names)> calls_{};
};

/// "piMemBufferCreate, call 3: the machine file's fault"
std::string describe(const FaultSpec &fault);

} // namespace pi::sim
