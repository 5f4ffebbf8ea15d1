// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A NUMA node as a device.
#pragma once

#include "topology.hpp"

#include <pi/sdk/object.hpp>

#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_scheduler_observer.h>

#include <optional>

namespace pi::host {

class Executor;
class Platform;

inline constexpr uint64_t min_alignment = 64;
inline constexpr uint64_t max_alignment = 2 * 1024 * 1024;
/// Work-items of a group. Native kernels loop over them, so nothing but the loop's index limits it.
inline constexpr uint64_t max_work_group_size = 65536;
/// Bytes of PI_ARGUMENT_LOCAL memory of one group: about what a processor's second cache holds.
inline constexpr uint64_t local_memory_size = 1024 * 1024;

/// A root device; lives as long as the instance.
class Device : public sdk::Object<Device, pi_device> {
public:
    Device(const pi_host *host, Platform &platform, const Topology &topology, const Node &node);

    Platform &platform() const { return platform_; }
    const Topology &topology() const { return topology_; }
    const Node &node() const { return node_; }
    Executor &executor() const;
    /// Work-groups that run at the same time.
    uint32_t concurrency() const { return concurrency_; }
    /// Whether kernels bind the threads that they run on: only where there are other nodes.
    bool binds_threads() const { return binding_.has_value(); }
    /// The threads that run kernels.
    tbb::task_arena &arena() { return arena_; }

private:
    /// Keeps threads on the node's processors while they work in the arena.
    class Binding : public tbb::task_scheduler_observer {
    public:
        Binding(tbb::task_arena &arena, const Device &device)
            : task_scheduler_observer(arena), device_(device) {
            observe(true);
        }
        ~Binding() { observe(false); }
        void on_scheduler_entry(bool) override { device_.topology_.bind_thread(device_.node_); }
        void on_scheduler_exit(bool) override { device_.topology_.unbind_thread(); }

    private:
        const Device &device_;
    };

    Platform &platform_;
    const Topology &topology_;
    const Node &node_;
    const uint32_t concurrency_;
    tbb::task_arena arena_;
    std::optional<Binding> binding_;
};

/// How many memory scopes a device has.
/// Memory scopes: the node's memory, and n-D allocations in rows.
inline constexpr uint32_t scope_global = 0, scope_scratchpad = 1, scope_count = 2;
inline constexpr const char *scratchpad_name = "host.scratchpad";

} // namespace pi::host
