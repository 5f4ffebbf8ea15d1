// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A NUMA node as a device, and subsets of its processors as sub-devices.
#pragma once

#include "topology.hpp"

#include <pi/sdk/object.hpp>

namespace pi::host {

class Executor;
class Platform;

inline constexpr uint64_t min_alignment = 64;
inline constexpr uint64_t max_alignment = uint64_t{2} * 1024 * 1024;
/// Work-items of a work-group. Native kernels loop over them: only the loop's index limits it.
inline constexpr uint64_t max_work_group_size = 65536;
/// Bytes of PI_ARGUMENT_LOCAL memory of one work-group: about the size of a processor's
/// second-level cache.
inline constexpr uint64_t local_memory_size = uint64_t{1024} * 1024;

/// A root device, which lives as long as the instance, or a sub-device, which is counted.
class Device : public sdk::Object<Device, pi_device> {
public:
    Device(const pi_host *host, Platform &platform, const Topology &topology, const Node &node);
    /// A sub-device with the `units` processors in `cores`, from a partition of that kind.
    Device(Device &parent, Cores cores, uint32_t units, pi_partition_kind partition);

    Platform &platform() const { return platform_; }
    const Topology &topology() const { return topology_; }
    const Node &node() const { return node_; }
    Device *parent() const { return parent_.get(); }                     ///< NULL for a root device
    pi_partition_kind partition_kind() const { return partition_kind_; } ///< 0 for a root device
    /// Its processors; null if they are not known: then it cannot be partitioned.
    const Cores &cores() const { return cores_; }
    /// For messages: "NUMA node 0", "2 processors of NUMA node 0".
    std::string description() const;
    Executor &executor() const;
    /// The number of work-groups that run at the same time.
    uint32_t concurrency() const { return concurrency_; }
    /// Whether the threads that do its work are bound: only if there are processors of other
    /// devices.
    bool binds_threads() const { return parent_ || topology_.nodes().size() > 1; }

    /// Binds the calling thread, one of the plugin's, to the device's processors if there are
    /// others.
    class BoundThread {
    public:
        explicit BoundThread(const Device &device)
            : topology_(device.binds_threads() ? &device.topology_ : nullptr) {
            if (topology_)
                topology_->bind_thread(device.cores_);
        }
        ~BoundThread() {
            if (topology_)
                topology_->unbind_thread();
        }
        BoundThread(const BoundThread &) = delete;

    private:
        const Topology *const topology_; ///< outlives the device
    };

private:
    Platform &platform_;
    const Topology &topology_;
    const Node &node_;
    const sdk::Ref<Device> parent_;
    const Cores cores_;
    const uint32_t concurrency_;
    const pi_partition_kind partition_kind_ = 0;
};

/// Memory scopes: the node's memory, and n-D allocations in rows.
inline constexpr uint32_t scope_global = 0, scope_scratchpad = 1, scope_count = 2;
inline constexpr char scratchpad_name[] = "host.scratchpad";

} // namespace pi::host
