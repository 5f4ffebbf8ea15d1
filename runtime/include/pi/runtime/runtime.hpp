// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/runtime/export.hpp>
#include <pi/runtime/pool.hpp>
#include <pi/runtime/route.hpp>
#include <pi/runtime/topology.hpp>
#include <pi/runtime/transfer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace pi::runtime {

class RuntimeState;

struct RuntimeOptions {
    /// The costs of links; empty = estimated from what the plugins report. load_costs() returns the
    /// measurements of `pi-bench calibrate` on this machine, or nothing and a message. A table for
    /// another number of places is PI_ERROR_INVALID_VALUE.
    std::optional<CostTable> costs{};
    /// Bytes of staging memory in use at the same time at each place, including the host; transfers
    /// that need more wait for others to end. 0 is PI_ERROR_INVALID_VALUE.
    uint64_t staging_limit = uint64_t{64} << 20;
    /// Bytes of host memory in which transfers from device to device through the host leave their
    /// bytes, so that the next place pays only for the second half. Only storages that had no host
    /// memory before count. Beyond the limit, transfers use staging memory; 0: always.
    uint64_t bounce_limit = uint64_t{1} << 30;
    /// Bytes of idle device memory cached for reuse at each place; 0 caches none. Cacheable
    /// allocations are up to an eighth larger than requested (eight sizes per power of two, from 1
    /// MiB), if there is room, so that growing requests find memory. Before an allocation of this
    /// runtime on a device fails, all of the runtime's idle memory there is freed (not that of
    /// other runtimes).
    uint64_t pool_limit = uint64_t{256} << 20;
    /// A place that uses another device's memory over a link gets its own memory, if there is room,
    /// once repeated uses of bytes that no other place has touched meanwhile have cost as much link
    /// time as a copy. false: it keeps using the link.
    bool copy_after_repeated_use = true;
    /// Number of records in the transfer log, which keeps the newest; 0 keeps none.
    uint64_t log_capacity = 4096;
    /// Also log acquires that need no transfer, with the reason. There are many of them: they
    /// displace the records of transfers, and a record takes a third of the time of such an
    /// acquire. explain() gives the same information without the log.
    bool log_up_to_date = false;
    /// Wraps the runtime's own transport in another one; empty: none.
    std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>)> wrap_transport{};
    /// Before the first use of a connection (a copy, memory used in place, or an import of host
    /// memory), move bytes over it and compare them (piVerifyMemoryConnection). A connection that
    /// loses bytes is never used; the next route is. The acquire that needs the connection blocks
    /// for some milliseconds. Inside a callback of a plugin nothing can be verified: there,
    /// connections that are not verified yet are not used. Verification appears in no counter, log
    /// or prediction. false: the plugins are trusted.
    bool verify_connections = true;
};

/// Moves bytes between the places of a topology. It owns the transfer queues and the staging
/// memory, and counts. Storages share ownership of its state, so it may be destroyed before them.
/// All of this must be gone before the loader is released: finish() waits for work in flight.
///
/// In the child of a fork() every call on it, its storages, buffers and acquisitions throws Error
/// (PI_ERROR_INVALID_OPERATION, "forked"); destructors do nothing there.
class PI_RUNTIME_EXPORT Runtime {
public:
    explicit Runtime(std::shared_ptr<const Topology> topology, RuntimeOptions options = {});
    ~Runtime();
    Runtime(Runtime &&) noexcept;
    Runtime &operator=(Runtime &&) noexcept;

    const Topology &topology() const noexcept;
    /// Of all storages, including destroyed ones.
    Counters counters() const;
    /// The transfer log of all threads, oldest first: transfers in the order of their ends,
    /// acquires without a transfer (if logged) in the order of the acquires.
    std::vector<TransferRecord> log() const;
    void clear_log();
    /// Waits until nothing is in flight: no copy, no released acquisition with an incomplete event,
    /// and no callback with the runtime at work. False after the timeout. Not inside a callback.
    bool finish(std::chrono::nanoseconds timeout) const;

    /// Verifies all connections that are not verified yet, instead of at their first use.
    /// PI_ERROR_WOULD_BLOCK inside a callback of a plugin. PI_ERROR_OUT_OF_ codes if memory for a
    /// test is missing; all other connections are verified then.
    void verify_connections() const;

    /// Returns idle device memory to the plugins, until at most bytes_to_keep are cached at each
    /// place.
    void trim(uint64_t bytes_to_keep = 0) const;
    /// For the place of a device; else PI_ERROR_INVALID_VALUE.
    PoolStatistics pool_statistics(PlaceIndex place) const;

    const std::shared_ptr<RuntimeState> &state() const noexcept { return state_; }

private:
    std::shared_ptr<RuntimeState> state_;
};

} // namespace pi::runtime
