// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_native_kernel.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace pi::drivers {

/// The work-groups of a launch.
struct Grid {
    std::array<unsigned, 3> count, size; ///< number of groups; work-items in each
    std::array<unsigned, 3> offset{};    ///< the first work-item
    std::size_t groups() const { return std::size_t(count[0]) * count[1] * count[2]; }
    std::size_t items() const { return std::size_t(size[0]) * size[1] * size[2]; }
};

/// Calls the body for each group: in turn, or with `at_once` all concurrently, each on a thread of
/// its own, so that they may wait for each other.
void run_groups(const Grid &grid, bool at_once,
                const std::function<void(const pi_native_group &)> &body);

} // namespace pi::drivers
