// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/sdk/descriptor.hpp>

namespace pi::sdk {

/// Reads a launch's descriptor; the caller checks its flags. Sizes of dimensions that it does not
/// have are ignored, and 0 in the result.
inline pi_kernel_launch_desc read_launch_desc(const pi_kernel_launch_desc *desc) {
    pi_kernel_launch_desc known = detail::read_struct(desc, PI_TYPE_KERNEL_LAUNCH_DESC);
    for (uint64_t *entries :
         {known.global_offset, known.global_size, known.local_size, known.cluster_size})
        for (uint32_t axis = known.dimensions; axis < 3; ++axis)
            entries[axis] = 0;
    return known;
}

/// Reads the descriptor of piKernelGetSuggestedLocalSize: the kernel, the dimensions and the global
/// size. All other members are 0 in the result; unknown flags are refused.
inline pi_kernel_launch_desc read_size_query(const pi_kernel_launch_desc *desc) {
    const pi_kernel_launch_desc known = read_launch_desc(desc);
    check_flags(known.flags, checks::known_flags<pi_kernel_launch_desc>, "desc->flags");
    pi_kernel_launch_desc query{};
    query.kernel = known.kernel;
    query.dimensions = known.dimensions;
    std::copy(std::begin(known.global_size), std::end(known.global_size), query.global_size);
    return query;
}

} // namespace pi::sdk
