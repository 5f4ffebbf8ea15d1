// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Launch sizes with whole work-groups: the global size is a multiple of the local size in every
// dimension. (Work-groups that are cut at the end: geometry.hpp.)
#pragma once

#include <pi/describe/checks/launch.hpp>
#include <pi/sdk/error.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

namespace pi::sdk {

using Size3 = std::array<uint64_t, 3>;

struct WorkSize {
    Size3 groups{1, 1, 1}, local{1, 1, 1};
    uint64_t group_items() const { return local[0] * local[1] * local[2]; }
    uint64_t group_count() const { return groups[0] * groups[1] * groups[2]; }
};

/// A device's limits for launches of a kernel.
struct WorkLimits {
    Size3 max_items;    ///< of a work-group, on each axis
    uint64_t max_group; ///< work-items of a work-group
    Size3 max_groups;   ///< on each axis
    bool global_offset;
    const std::string &kernel, &device; ///< for messages
};

inline WorkSize work_of(const Size3 &global, const Size3 &local) {
    WorkSize work;
    work.local = local;
    for (size_t i = 0; i < local.size(); ++i)
        work.groups[i] = global[i] / local[i];
    return work;
}

/// Reads the global size; PI_ERROR_INVALID_WORK_SIZE, or PI_ERROR_UNSUPPORTED_FEATURE for an
/// offset.
inline Size3 read_global_size(const pi_kernel_launch_desc &desc, const WorkLimits &limits) {
    enforce<checks::check_work_size>(desc);
    Size3 global{1, 1, 1};
    for (uint32_t i = 0; i < desc.dimensions; ++i) {
        global[i] = desc.global_size[i];
        if (desc.global_offset[i] && !limits.global_offset)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, "global_offset[", i, "] is ", desc.global_offset[i],
                 "; kernels on ", limits.device, " have no global offset");
    }
    return global;
}

using checks::has_local_size;

/// Reads a checked local size; PI_ERROR_INVALID_WORK_SIZE.
inline Size3 read_local_size(const pi_kernel_launch_desc &desc, const Size3 &global,
                             const WorkLimits &limits) {
    Size3 local{1, 1, 1};
    uint64_t group = 1;
    for (uint32_t i = 0; i < desc.dimensions; ++i) {
        local[i] = desc.local_size[i];
        if (local[i] > limits.max_items[i] || __builtin_mul_overflow(group, local[i], &group) ||
            group > limits.max_group)
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", i, "] is ", local[i], "; kernel '",
                 limits.kernel, "' on ", limits.device, " has at most ", limits.max_items[i],
                 " there and ", limits.max_group, " in a group");
        if (global[i] % local[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is ", global[i],
                 ", not a multiple of local_size[", i, "], ", local[i], ": ", limits.device,
                 " has no PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS");
    }
    return local;
}

/// Chooses whole work-groups of about `wanted` work-items, with a long first dimension.
inline Size3 choose_whole_groups(const Size3 &global, const WorkLimits &limits, uint64_t wanted) {
    const auto largest_divisor = [](uint64_t of, uint64_t most) -> uint64_t {
        for (uint64_t candidate = std::min(of, most); candidate > 1; --candidate)
            if (of % candidate == 0)
                return candidate;
        return 1;
    };
    Size3 local{1, 1, 1};
    uint64_t left = std::min(limits.max_group, wanted);
    for (size_t i = 0; i < local.size(); ++i) {
        local[i] = largest_divisor(global[i], std::min(left, limits.max_items[i]));
        left = std::max<uint64_t>(1, left / local[i]);
    }
    return local;
}

/// Chooses work-groups for a cooperative launch. All of them must be resident at once;
/// resident(work) is how many of this size can be. Larger work-groups are fewer.
template <class Resident>
WorkSize choose_cooperative_groups(const Size3 &global, const WorkLimits &limits,
                                   Resident &&resident) {
    for (uint64_t wanted = std::min<uint64_t>(256, limits.max_group);;
         wanted = std::min(2 * wanted, limits.max_group)) {
        const WorkSize work = work_of(global, choose_whole_groups(global, limits, wanted));
        if (wanted == limits.max_group || work.group_count() <= resident(work))
            return work;
    }
}

/// PI_ERROR_INVALID_WORK_SIZE for more work-groups than the device allows.
inline void check_group_counts(const WorkSize &work, const Size3 &global,
                               const WorkLimits &limits) {
    for (size_t i = 0; i < work.groups.size(); ++i)
        if (work.groups[i] > limits.max_groups[i])
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", i, "] is ", global[i],
                 ", which groups of ", work.local[i], " make ", work.groups[i], "; ", limits.device,
                 " has at most ", limits.max_groups[i], " there");
}

/// PI_ERROR_INVALID_WORK_SIZE for a cooperative launch of more work-groups than can be resident.
inline void check_resident(const WorkSize &work, uint64_t most, const WorkLimits &limits) {
    if (work.group_count() > most)
        fail(PI_ERROR_INVALID_WORK_SIZE, "a cooperative launch of ", work.group_count(),
             " work-groups of ", work.group_items(), "; ", limits.device, " runs ", most,
             " together");
}

} // namespace pi::sdk
