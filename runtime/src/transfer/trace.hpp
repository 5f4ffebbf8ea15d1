// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/topology.hpp>
#include <pi/runtime/transfer.hpp>

#include <memory>

struct pi_trace_v1;

namespace pi::runtime {

/// Writes transfers into the file of the loader's layer "trace", where that is enabled: a span on
/// the track of each link that the bytes crossed. Thread-safe.
class Trace {
public:
    explicit Trace(std::shared_ptr<const Topology> topology);
    /// Does nothing without the layer. Ignores errors.
    void write(const TransferRecord &record) const;

private:
    const std::shared_ptr<const Topology> topology_;
    pi_plugin plugin_ = nullptr;
    const pi_trace_v1 *trace_ = nullptr; // NULL: nothing is traced
};

} // namespace pi::runtime
