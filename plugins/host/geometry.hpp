// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work-items of a launch and how they are cut into work-groups.
#pragma once

#include <pi/pi_native_kernel.h>

#include <array>

namespace pi::host {

/// A checked launch geometry; axes beyond the dimensions are one work-item wide.
struct Geometry {
    uint32_t dimensions = 0;
    std::array<uint64_t, 3> offset{};
    std::array<uint64_t, 3> size{1, 1, 1};
    std::array<uint64_t, 3> local{1, 1, 1};
    std::array<uint64_t, 3> groups{1, 1, 1};

    uint64_t group_total() const { return groups[0] * groups[1] * groups[2]; }
    /// The group of this number, counted along the first axis first.
    pi_native_group group(uint64_t number) const;
};

/// Reads dimensions and sizes of a launch; where no local size is given, chooses one for a device that
/// runs `concurrency` groups at once. PI_ERROR_INVALID_WORK_SIZE names what is wrong, also a cooperative launch of
/// more groups than that.
Geometry read_geometry(const pi_kernel_launch_desc &desc, uint32_t concurrency);

/// The same checks of dimensions and local size alone.
void check_local_size(const pi_kernel_launch_desc &desc);

/// A local size for this global size: enough groups to keep `concurrency` threads busy to the end, whole rows first,
/// since neighbours in memory belong to one thread.
std::array<uint64_t, 3> choose_local_size(const std::array<uint64_t, 3> &size,
                                          uint32_t concurrency);

/// A local size with which there are at most `count` groups, as small as cuts along one axis make them.
std::array<uint64_t, 3> choose_local_size_for(const std::array<uint64_t, 3> &size, uint32_t count);

} // namespace pi::host
