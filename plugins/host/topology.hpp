// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine as hwloc sees it: NUMA nodes with their processors and memory.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace pi::host {

/// A NUMA node that has processors which this process may use. Nodes of memory alone are left out.
struct Node {
    uint32_t number;   ///< the operating system's
    uint32_t index;    ///< hwloc's logical index
    uint32_t units;    ///< processing units that this process may use; at least 1
    uint64_t capacity; ///< bytes of memory; 0 = unknown
    std::string cpu_model;
    std::string cpu_vendor;
};

/// A set of processors; null where hwloc has failed and nobody knows them.
struct DestroyBitmap {
    void operator()(hwloc_bitmap_s *bitmap) const { hwloc_bitmap_free(bitmap); }
};
using Cores = std::unique_ptr<hwloc_bitmap_s, DestroyBitmap>;

/// Loaded once, then immutable and thread-safe. Loading leaves the calling thread's binding alone.
class Topology {
public:
    /// Never fails: a machine that hwloc cannot look at is one node of all its processors.
    Topology();

    const std::vector<Node> &nodes() const { return nodes_; }

    /// The processors of a node that this process may use.
    Cores cores(const Node &node) const;
    /// Parts of `from` with so many processors each, none in two of them; `from` has as many as all together. Those of
    /// a part are neighbours, so that they share caches.
    std::vector<Cores> split(const Cores &from, std::span<const uint32_t> counts) const;

    /// Lets the calling thread run on these processors only; on all that this process may use.
    /// Best effort: an operating system that refuses costs speed, not results.
    void bind_thread(const Cores &cores) const;
    void unbind_thread() const;
    /// Prefers the node's memory for the pages of a range that are not touched yet. Best effort.
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

/// Bytes of memory that the machine has left, as far as it says.
uint64_t free_memory();

} // namespace pi::host
