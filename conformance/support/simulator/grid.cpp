// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "grid.hpp"

#include <thread>
#include <vector>

namespace pi::drivers {

namespace {

pi_native_group group_of(const Grid &grid, std::size_t index) {
    pi_native_group group{};
    group.struct_size = sizeof group;
    group.dimensions = 3;
    for (std::size_t axis = 0; axis < 3; ++axis) {
        group.group_count[axis] = grid.count[axis];
        group.local_size[axis] = grid.size[axis];
        group.global_size[axis] = std::uint64_t(grid.count[axis]) * grid.size[axis];
        group.global_offset[axis] = grid.offset[axis];
        group.group_id[axis] = index % grid.count[axis];
        index /= grid.count[axis];
        group.begin[axis] = grid.offset[axis] + group.group_id[axis] * grid.size[axis];
        group.end[axis] = group.begin[axis] + grid.size[axis];
    }
    return group;
}

} // namespace

void run_groups(const Grid &grid, bool at_once,
                const std::function<void(const pi_native_group &)> &body) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < grid.groups(); ++i)
        if (at_once)
            threads.emplace_back([&, i] { body(group_of(grid, i)); });
        else
            body(group_of(grid, i));
    for (std::thread &thread : threads)
        thread.join();
}

} // namespace pi::drivers
