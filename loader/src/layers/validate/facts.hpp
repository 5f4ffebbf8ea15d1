// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about objects, from their create calls, for checks of later calls. They are constant while
// the object lives. Objects that were created in other ways have none, and less is checked.
#pragma once

#include <pi/describe/checks/image.hpp>

#include <atomic>
#include <cstdint>
#include <vector>

namespace pi::loader::validate {

/// For every object in a context: that context (for a context, itself).
struct Facts {
    pi_context context = nullptr;
};

struct ContextFacts : Facts {
    std::vector<pi_device> devices;
};

struct QueueFacts : Facts {
    pi_device device = nullptr;
    bool in_order = false;
    /// Commands that something may have held back: the number of all enqueued ones, and how many of
    /// them are known to be complete.
    mutable std::atomic<uint64_t> held{0};
    mutable std::atomic<uint64_t> settled{0};
};

struct MemoryFacts : Facts {
    uint64_t flags = 0;
    uint64_t size = 0;   ///< bytes; 0 for images
    uint64_t root = 0;   ///< the serial of the object that owns the storage: equal for views of one
    uint64_t offset = 0; ///< for a view that is a buffer: into the root
    checks::ImageShape image; ///< without a type: not an image
};

struct KernelFacts : Facts {
    uint32_t argument_count = 0;
    bool counted = false; ///< argument_count is known
};

struct PoolFacts : Facts {
    pi_device device = nullptr;
    pi_usm_kind kind = 0;
};

/// Maps a handle's type to the type of its facts.
template <typename Handle>
struct FactsOf {
    using type = Facts;
};
template <>
struct FactsOf<pi_context> {
    using type = ContextFacts;
};
template <>
struct FactsOf<pi_queue> {
    using type = QueueFacts;
};
template <>
struct FactsOf<pi_mem> {
    using type = MemoryFacts;
};
template <>
struct FactsOf<pi_kernel> {
    using type = KernelFacts;
};
template <>
struct FactsOf<pi_usm_pool> {
    using type = PoolFacts;
};

} // namespace pi::loader::validate
