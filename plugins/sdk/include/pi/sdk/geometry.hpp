// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work-items of a launch of native functions, and their division into work-groups.
#pragma once

#include <pi/describe/checks/launch.hpp>
#include <pi/pi_native_kernel.h>
#include <pi/sdk/error.hpp>

#include <algorithm>
#include <array>

namespace pi::sdk {

/// A checked launch geometry; axes that it does not have are one work-item wide.
struct Geometry {
    uint32_t dimensions = 0;
    std::array<uint64_t, 3> offset{};
    std::array<uint64_t, 3> size{1, 1, 1};
    std::array<uint64_t, 3> local{1, 1, 1};
    std::array<uint64_t, 3> groups{1, 1, 1};

    uint64_t group_total() const { return groups[0] * groups[1] * groups[2]; }
    /// Work-group `number`, counted along the first axis first.
    pi_native_group group(uint64_t number) const;
};

inline pi_native_group Geometry::group(uint64_t number) const {
    pi_native_group group{};
    group.struct_size = sizeof group;
    group.dimensions = dimensions;
    for (int axis = 0; axis < 3; ++axis) {
        const uint64_t id = number % groups[axis];
        number /= groups[axis];
        group.group_id[axis] = id;
        group.group_count[axis] = groups[axis];
        group.global_offset[axis] = offset[axis];
        group.global_size[axis] = size[axis];
        group.local_size[axis] = local[axis];
        group.begin[axis] = offset[axis] + id * local[axis];
        group.end[axis] = group.begin[axis] + std::min(local[axis], size[axis] - id * local[axis]);
    }
    return group;
}

namespace detail {

inline void read_global(const pi_kernel_launch_desc &desc, Geometry &geometry) {
    for (uint32_t axis = 0; axis < desc.dimensions; ++axis) {
        geometry.size[axis] = desc.global_size[axis];
        geometry.offset[axis] = desc.global_offset[axis];
    }
}

/// Reads a checked local size.
inline void read_local(const pi_kernel_launch_desc &desc, uint64_t max_group, Geometry &geometry) {
    uint64_t items = 1;
    for (uint32_t axis = 0; axis < desc.dimensions; ++axis) {
        const uint64_t local = desc.local_size[axis];
        if ((items *= local) > max_group)
            fail(PI_ERROR_INVALID_WORK_SIZE, "desc->local_size[", axis, "] is ", local,
                 "; a work-group has at most ", max_group, " work-items");
        geometry.local[axis] = local;
    }
}

inline uint64_t product(const std::array<uint64_t, 3> &size) {
    return size[0] * size[1] * size[2];
}

} // namespace detail

/// Checks dimensions and local size only.
inline void check_local_size(const pi_kernel_launch_desc &desc, uint64_t max_group) {
    enforce([&](checks::Check &check) {
        checks::check_dimensions(check, desc);
        if (!check.failed())
            checks::check_local_size(check, desc);
    });
    Geometry ignored;
    if (checks::has_local_size(desc))
        detail::read_local(desc, max_group, ignored);
}

/// Chooses a local size with at most `count` work-groups: the smallest one that cuts the global
/// size along a single axis.
inline std::array<uint64_t, 3> choose_local_size_for(const std::array<uint64_t, 3> &size,
                                                     uint32_t count) {
    std::array<uint64_t, 3> best = size;
    // Whole rows first: neighbours in memory go to the same thread.
    for (const size_t axis : {2, 1, 0}) {
        std::array<uint64_t, 3> cut = size;
        cut[axis] = (size[axis] - 1) / count + 1;
        if (detail::product(cut) < detail::product(best))
            best = cut;
    }
    return best;
}

/// Chooses a local size: enough work-groups to keep `concurrency` threads busy to the end; whole
/// rows first, since neighbours in memory go to the same thread.
inline std::array<uint64_t, 3> choose_local_size(const std::array<uint64_t, 3> &size,
                                                 uint32_t concurrency, uint64_t max_group) {
    constexpr uint64_t groups_per_thread = 4; // so that one slow work-group does not delay all
    const uint64_t items = size[0] * size[1] * size[2];
    const uint64_t wanted =
        std::clamp<uint64_t>(items / (uint64_t{concurrency} * groups_per_thread), 1, max_group);
    std::array<uint64_t, 3> local{1, 1, 1};
    uint64_t left = wanted;
    for (int axis = 0; axis < 3 && left > 1; ++axis) {
        local[axis] = std::min(size[axis], left);
        if (local[axis] < size[axis])
            break; // a work-group is a box: once an axis is cut, the axes behind it stay at 1
        left /= local[axis];
    }
    return local;
}

/// Reads a launch's dimensions and sizes. Without a local size chooses one for a device that runs
/// `concurrency` work-groups, of at most `max_group` work-items, at once.
/// PI_ERROR_INVALID_WORK_SIZE with the reason, which may be a cooperative launch of more
/// work-groups than that.
inline Geometry read_geometry(const pi_kernel_launch_desc &desc, uint32_t concurrency,
                              uint64_t max_group) {
    enforce<checks::check_work_size>(desc);
    const bool cooperative = desc.flags & PI_LAUNCH_COOPERATIVE;
    Geometry geometry;
    geometry.dimensions = desc.dimensions;
    detail::read_global(desc, geometry);
    if (checks::has_local_size(desc))
        detail::read_local(desc, max_group, geometry);
    else
        geometry.local = cooperative ? choose_local_size_for(geometry.size, concurrency)
                                     : choose_local_size(geometry.size, concurrency, max_group);
    for (int axis = 0; axis < 3; ++axis)
        geometry.groups[axis] = (geometry.size[axis] - 1) / geometry.local[axis] + 1;
    if (cooperative && geometry.group_total() > concurrency)
        fail(PI_ERROR_INVALID_WORK_SIZE, "a cooperative launch of ", geometry.group_total(),
             " work-groups; the device runs ", concurrency, " together");
    if (detail::product(geometry.local) > max_group)
        fail(PI_ERROR_INVALID_WORK_SIZE, "a cooperative launch of ", detail::product(geometry.size),
             " work-items: the device runs ", concurrency, " groups of at most ", max_group,
             " together");
    return geometry;
}

} // namespace pi::sdk
