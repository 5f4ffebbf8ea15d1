// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "base/acquisition_numbers.hpp"
#include "base/per_thread.hpp"
#include "base/process.hpp"
#include "base/race_layer.hpp"
#include "coherence/lost_places.hpp"
#include "coherence/residents.hpp"
#include "planning/planner.hpp"
#include "planning/traffic.hpp"
#include "transfer/commands.hpp"
#include "transfer/completion.hpp"
#include "transfer/loss_probe.hpp"
#include "transfer/memory_pool.hpp"
#include "transfer/staging.hpp"
#include "transfer/trace.hpp"
#include "transfer/transfer_log.hpp"

#include <pi/runtime/runtime.hpp>

#include <atomic>
#include <memory>
#include <mutex>

namespace pi::runtime {

/// Counters that several threads add to.
class SharedCounters {
public:
    template <class Change>
    void update(Change change) {
        const std::lock_guard lock(mutex_);
        change(counters_);
    }
    /// The counts of every acquire, without a lock.
    void add_acquire(uint64_t required, uint64_t copy_in_copy_out) {
        if (required != 0) {
            required_.fetch_add(required, std::memory_order_relaxed);
        }
        if (copy_in_copy_out != 0) {
            copy_in_copy_out_.fetch_add(copy_in_copy_out, std::memory_order_relaxed);
        }
    }
    Counters read() const {
        Counters counters;
        add_to(counters);
        return counters;
    }
    void add_to(Counters &sum) const;

private:
    std::atomic<uint64_t> required_{0};
    std::atomic<uint64_t> copy_in_copy_out_{0};
    mutable std::mutex mutex_;
    Counters counters_;
};

/// Which places are devices, for an error text about a place that is not.
std::string device_places(const Topology &topology);

/// The state that all storages of a runtime share and keep alive.
class RuntimeState {
public:
    RuntimeState(std::shared_ptr<const Topology> all_places, RuntimeOptions runtime_options);

    /// Whether this thread may wait for work: false in posted work and in a callback of a plugin,
    /// which the work may be waiting for. Creates an event for each plugin.
    bool may_wait() const;

    const Origin origin;
    const std::shared_ptr<const Topology> topology;
    const RuntimeOptions options;
    bool logs_up_to_date() const { return options.log_up_to_date && options.log_capacity != 0; }
    /// The connections that routes may use; NULL: the plugins are believed.
    const Verification *verification() const {
        return options.verify_connections ? &topology->verification() : nullptr;
    }
    /// Verifies them. False if the result of one is not known yet, as inside a callback.
    bool verify(const std::vector<MemoryPair> &pairs) const;
    const CostTable costs;
    const std::shared_ptr<Continuations> continuations = std::make_shared<Continuations>();
    const std::shared_ptr<InFlight> in_flight = std::make_shared<InFlight>();
    PerThread<SharedCounters> counters; // of all storages; their sum counts
    TransferLog log;
    const Trace trace;
    const RaceLayer race;
    Traffic traffic;
    const std::shared_ptr<MemoryPool> memory;
    const std::shared_ptr<Commands> commands; // of the plugins' transport
    const std::shared_ptr<StagingPool> staging;
    Residents residents;
    LostPlaces lost;
    LossProbe loss_probe;
    AcquisitionNumbers acquisitions;
    std::atomic<uint64_t> bounce_bytes{0}; // of the host's memory, for staged bounces alone
    const MachineModel machine{topology->description(), costs,       traffic, verification(),
                               options.bounce_limit,    bounce_bytes};
    std::shared_ptr<Transport> transport; // never null
};

} // namespace pi::runtime
