// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about objects, from their create calls, for checks of later calls. They are constant while
// the object lives. Objects that were created in other ways have none, and less is checked.
#pragma once

#include <pi/pi.h>

#include <array>
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

/// A type of images: which members of a descriptor it uses.
struct ImageType {
    const char *name;
    bool height, depth, layers;

    bool has_slices() const noexcept { return depth || layers; }
};

struct ImageShape {
    const ImageType *type = nullptr; ///< nullptr: not an image
    uint32_t mip_levels = 1;
    uint32_t pixel = 0; ///< bytes
    pi_channel_order order = 0;
    pi_channel_type channel = 0;
    std::array<uint64_t, 3> extent{1, 1, 1};

    std::array<uint64_t, 3> level(uint32_t mip_level) const noexcept {
        const auto shrink = [=](uint64_t pixels) {
            const uint64_t shrunk = mip_level < 64 ? pixels >> mip_level : 0;
            return shrunk != 0 ? shrunk : 1;
        };
        return {shrink(extent[0]), shrink(extent[1]), type->layers ? extent[2] : shrink(extent[2])};
    }
};

struct MemoryFacts : Facts {
    uint64_t flags = 0;
    uint64_t size = 0;   ///< bytes; 0 for images
    uint64_t root = 0;   ///< the serial of the object that owns the storage: equal for views of one
    uint64_t offset = 0; ///< for a view that is a buffer: into the root
    ImageShape image;
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
