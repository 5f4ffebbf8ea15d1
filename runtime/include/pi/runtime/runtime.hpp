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
    /// What links cost; nothing = estimated from what the plugins say. load_costs() has what `pi-bench calibrate`
    /// measured on this machine, or nothing and a message. A table of another number of
    /// places is PI_ERROR_INVALID_VALUE.
    std::optional<CostTable> costs{};
    /// Staging memory in use at one time at each place, the host included: transfers that need more
    /// wait for others to end. 0 is PI_ERROR_INVALID_VALUE.
    uint64_t staging_limit = uint64_t{64} << 20;
    /// What goes from device to device through the host stays there too, so that the next place that wants it
    /// pays only the second half: in so many bytes of host memory of storages that had none there. Others
    /// go through staging memory. 0: all of them.
    uint64_t bounce_limit = uint64_t{1} << 30;
    /// Device memory that is kept idle for use again at each place; 0 keeps none. What may be kept is
    /// made up to an eighth larger than asked for (eight sizes to each power of two, from 1 MiB on), if
    /// there is room, so that growing requests find memory. All of a device's idle memory is freed
    /// before an allocation of this runtime there fails; that of other runtimes is not.
    uint64_t pool_limit = uint64_t{256} << 20;
    /// A place that uses another device's memory over a link gets memory of its own as soon as bytes that nobody else
    /// touched meanwhile have crossed the link again as often as a copy takes, if there is room. false: it goes on there.
    bool copy_after_repeated_use = true;
    /// The transfer log keeps the newest of so many records; 0 keeps none.
    uint64_t log_capacity = 4096;
    /// Acquires that need no transfer have records in the log, too, each of which says why. There are many of them, they
    /// push out what did move, and a record takes a third of the time of such an acquire. explain() says the same without.
    bool log_up_to_date = false;
    /// Puts a transport around the runtime's own; empty: none.
    std::function<std::shared_ptr<Transport>(std::shared_ptr<Transport>)> wrap_transport{};
    /// Before a connection is used for the first time, for a copy, memory that is used in place or an import of host
    /// memory, bytes are moved over it and compared (piVerifyMemoryConnection). One that loses bytes is never used: the
    /// next route is. The acquire that needs the connection blocks for that, some milliseconds. Inside a callback of a
    /// plugin nothing can be verified: there a connection that is not verified yet is not used. What verification moves
    /// is in no counter, log or prediction. false: the plugins are believed.
    bool verify_connections = true;
};

/// Moves bytes between the places of a topology: it owns the queues for transfers and the staging memory,
/// and counts. Storages hold on to it; it may be destroyed before them. Everything of it must be gone
/// before the loader is released: finish() waits for what is in flight.
///
/// In the child of a fork() every call on it, its storages, buffers and acquisitions throws Error
/// (PI_ERROR_INVALID_OPERATION, "forked"), and destructors leave what they are of as it is.
class PI_RUNTIME_EXPORT Runtime {
public:
    explicit Runtime(std::shared_ptr<const Topology> topology, RuntimeOptions options = {});
    ~Runtime();
    Runtime(Runtime &&) noexcept;
    Runtime &operator=(Runtime &&) noexcept;

    const Topology &topology() const noexcept;
    /// Of all storages, those that are gone included.
    Counters counters() const;
    /// The transfer log, oldest first, whichever threads it is of: transfers lie where they ended, acquires that needed
    /// none, if they are logged, where they were made.
    std::vector<TransferRecord> log() const;
    void clear_log();
    /// Waits until nothing is in flight: no copy, no released acquisition whose event is not final, and no
    /// callback in which the runtime is at work.
    /// False when the time is over first. Never call it inside a callback.
    bool finish(std::chrono::nanoseconds timeout) const;

    /// Verifies all connections that are not verified yet, now instead of before their first use. PI_ERROR_WOULD_BLOCK
    /// inside a callback of a plugin, and PI_ERROR_OUT_OF_ codes where there is no memory to try one with; all others are
    /// verified then.
    void verify_connections() const;

    /// Gives idle device memory back to the plugins until no more than so many bytes are kept at each
    /// place.
    void trim(uint64_t bytes_to_keep = 0) const;
    /// Of a device's place; else PI_ERROR_INVALID_VALUE.
    PoolStatistics pool_statistics(PlaceIndex place) const;

    const std::shared_ptr<RuntimeState> &state() const noexcept { return state_; }

private:
    std::shared_ptr<RuntimeState> state_;
};

} // namespace pi::runtime
