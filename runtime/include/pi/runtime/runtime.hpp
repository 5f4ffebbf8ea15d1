// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/topology.hpp>
#include <pi/runtime/transfer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace pi::runtime {

class RuntimeState;

struct RuntimeOptions {
    CostModel costs;
    /// The transfer log keeps the newest of so many records; 0 keeps none.
    uint64_t log_capacity = 4096;
    /// Puts a transport around the runtime's own; empty: none.
    std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>)> wrap_transport;
};

/// Moves bytes between the places of a topology: it owns the queues for transfers and the staging memory,
/// and counts. Storages hold on to it; it may be destroyed before them. Everything of it must be gone
/// before the loader is released: finish() waits for what is in flight.
class PI_RUNTIME_EXPORT Runtime {
public:
    explicit Runtime(std::shared_ptr<const Topology> topology, RuntimeOptions options = {});
    ~Runtime();
    Runtime(Runtime &&) noexcept;
    Runtime &operator=(Runtime &&) noexcept;

    const Topology &topology() const noexcept;
    /// Of all storages, those that are gone included.
    Counters counters() const;
    /// The transfer log, oldest first.
    std::vector<TransferRecord> log() const;
    void clear_log();
    /// Waits until nothing is in flight: no copy, and no released acquisition whose event is not final.
    /// False when the time is over first. Never call it inside a callback.
    bool finish(std::chrono::nanoseconds timeout) const;

    const std::shared_ptr<RuntimeState> &state() const noexcept { return state_; }

private:
    std::shared_ptr<RuntimeState> state_;
};

} // namespace pi::runtime
