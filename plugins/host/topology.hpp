// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine according to hwloc: NUMA nodes with their processors and memory.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pi::host {

/// A NUMA node with processors that this process may use. Nodes with memory only are left out.
struct Node {
    uint32_t number;   ///< the operating system's
    uint32_t index;    ///< hwloc's logical index
    uint32_t units;    ///< processing units that this process may use; at least 1
    uint64_t capacity; ///< bytes of memory; 0: unknown
    std::string cpu_model;
    std::string cpu_vendor;
};

/// A set of processors; null if hwloc failed and they are not known.
struct DestroyBitmap {
    void operator()(hwloc_bitmap_s *bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Cores = std::unique_ptr<hwloc_bitmap_s, DestroyBitmap>;

/// Loaded once, then immutable and thread-safe. Loading does not change the calling thread's
/// binding.
class Topology {
public:
    /// Never fails: a machine that hwloc cannot inspect is one node with all its processors.
    Topology();

    const std::vector<Node> &nodes() const { return nodes_; }

    /// The node's processors that this process may use.
    Cores cores(const Node &node) const;
    /// Splits `from` into disjoint parts with so many processors each; `from` has exactly as many.
    /// The processors of a part are neighbours, so that they share caches.
    std::vector<Cores> split(const Cores &from, std::span<const uint32_t> counts) const;

    /// The highest clock rate of these processors, in MHz; 0: not known.
    uint32_t clock_rate(const Cores &cores) const;
    /// The last cache before memory of the first of these processors; zeros: not known.
    struct Cache {
        uint64_t size; ///< bytes
        uint32_t line; ///< bytes
    };
    Cache last_cache(const Cores &cores) const;
    /// Bytes of the node's memory that are free now; nullopt: not known.
    std::optional<uint64_t> free_memory(const Node &node) const;

    /// Binds the calling thread to these processors, or, unbind_thread(), to all that this process
    /// may use. Best effort: if the operating system refuses, that costs speed only.
    void bind_thread(const Cores &cores) const;
    void unbind_thread() const;
    /// Prefers the node's memory for pages of the range that were not touched yet. Best effort.
    void bind_memory(const Node &node, void *begin, uint64_t size) const;

private:
    struct Destroy {
        void operator()(hwloc_topology *topology) const { hwloc_topology_destroy(topology); }
    };
    void read_usable();
    void read_nodes();

    std::unique_ptr<hwloc_topology, Destroy> topology_; ///< null if hwloc failed
    Cores usable_;            ///< the processors that this process may use
    std::vector<Node> nodes_; ///< at least one
};

/// Bytes of free memory of the machine, as far as the system reports it.
uint64_t free_memory();

} // namespace pi::host
