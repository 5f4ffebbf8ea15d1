// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "geometry.hpp"

#include "device.hpp"

#include <pi/sdk/error.hpp>

#include <algorithm>

namespace pi::host {

using sdk::fail;

pi_native_group Geometry::group(uint64_t number) const {
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

namespace {

void read_global(const pi_kernel_launch_desc &desc, Geometry &geometry) {
    uint64_t items = 1;
    for (uint32_t axis = 0; axis < desc.dimensions; ++axis) {
        const uint64_t size = desc.global_size[axis], offset = desc.global_offset[axis];
        if (!size)
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", axis, "] is 0; at least 1 is needed");
        uint64_t end;
        if (__builtin_mul_overflow(items, size, &items) ||
            __builtin_add_overflow(offset, size, &end))
            fail(PI_ERROR_INVALID_WORK_SIZE, "global_size[", axis, "] is ", size,
                 " and global_offset[", axis, "] ", offset,
                 ": the launch's work-items cannot be counted in 64 bits");
        geometry.size[axis] = size;
        geometry.offset[axis] = offset;
    }
}

void read_local(const pi_kernel_launch_desc &desc, Geometry &geometry) {
    uint64_t items = 1;
    for (uint32_t axis = 0; axis < desc.dimensions; ++axis) {
        const uint64_t local = desc.local_size[axis];
        if (!local)
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", axis,
                 "] is 0 beside others that are not; give all or none");
        // Each factor is checked before the product could overflow.
        if (local > max_work_group_size || (items *= local) > max_work_group_size)
            fail(PI_ERROR_INVALID_WORK_SIZE, "local_size[", axis, "] is ", local,
                 ": a work-group has at most ", max_work_group_size, " work-items");
        geometry.local[axis] = local;
    }
}

void check_dimensions(const pi_kernel_launch_desc &desc) {
    if (desc.dimensions < 1 || desc.dimensions > 3)
        fail(PI_ERROR_INVALID_WORK_SIZE, "dimensions is ", desc.dimensions,
             "; 1 to 3 are possible");
}

bool has_local_size(const pi_kernel_launch_desc &desc) {
    return std::any_of(desc.local_size, desc.local_size + desc.dimensions,
                       [](uint64_t local) { return local != 0; });
}

uint64_t product(const std::array<uint64_t, 3> &size) {
    return size[0] * size[1] * size[2];
}

} // namespace

void check_local_size(const pi_kernel_launch_desc &desc) {
    check_dimensions(desc);
    Geometry ignored;
    if (has_local_size(desc))
        read_local(desc, ignored);
}

Geometry read_geometry(const pi_kernel_launch_desc &desc, uint32_t concurrency) {
    check_dimensions(desc);
    const bool cooperative = desc.flags & PI_LAUNCH_COOPERATIVE;
    Geometry geometry;
    geometry.dimensions = desc.dimensions;
    read_global(desc, geometry);
    if (has_local_size(desc))
        read_local(desc, geometry);
    else
        geometry.local = cooperative ? choose_local_size_for(geometry.size, concurrency)
                                     : choose_local_size(geometry.size, concurrency);
    for (int axis = 0; axis < 3; ++axis)
        geometry.groups[axis] = (geometry.size[axis] - 1) / geometry.local[axis] + 1;
    if (cooperative && geometry.group_total() > concurrency)
        fail(PI_ERROR_INVALID_WORK_SIZE, "a cooperative launch of ", geometry.group_total(),
             " work-groups; the device runs ", concurrency, " together");
    if (product(geometry.local) > max_work_group_size)
        fail(PI_ERROR_INVALID_WORK_SIZE, "a cooperative launch of ", product(geometry.size),
             " work-items: the device runs ", concurrency, " groups of at most ",
             max_work_group_size, " together");
    return geometry;
}

std::array<uint64_t, 3> choose_local_size_for(const std::array<uint64_t, 3> &size, uint32_t count) {
    std::array<uint64_t, 3> best = size;
    // Whole rows first, as above.
    for (const size_t axis : {2, 1, 0}) {
        std::array<uint64_t, 3> cut = size;
        cut[axis] = (size[axis] - 1) / count + 1;
        if (product(cut) < product(best))
            best = cut;
    }
    return best;
}

std::array<uint64_t, 3> choose_local_size(const std::array<uint64_t, 3> &size,
                                          uint32_t concurrency) {
    constexpr uint64_t groups_per_thread = 4; // so that one slow group does not keep all waiting
    const uint64_t items = size[0] * size[1] * size[2];
    const uint64_t wanted = std::clamp<uint64_t>(
        items / (uint64_t{concurrency} * groups_per_thread), 1, max_work_group_size);
    std::array<uint64_t, 3> local{1, 1, 1};
    uint64_t left = wanted;
    for (int axis = 0; axis < 3 && left > 1; ++axis) {
        local[axis] = std::min(size[axis], left);
        if (local[axis] < size[axis])
            break; // a group is a box: once a row is cut, the axes behind it stay at 1
        left /= local[axis];
    }
    return local;
}

} // namespace pi::host
