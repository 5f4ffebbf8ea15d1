// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a launch that its queries and command buffers need as well.
#pragma once

#include "error.hpp"

#include <pi/pi.h>

#include <cstddef>
#include <cstdint>

namespace pi::unified_runtime {

/// Sizes of a launch, each of `dimensions` values.
struct WorkSizes {
    uint32_t dimensions = 0;
    const size_t *offset = nullptr; ///< NULL: zeros
    const size_t *global = nullptr;
    const size_t *local = nullptr; ///< NULL: the plugin's choice
};

/// UR_RESULT_ERROR_INVALID_WORK_DIMENSION: the dimensions, or a global size is 0.
/// UR_RESULT_ERROR_INVALID_WORK_GROUP_SIZE: a local size is 0.
void set_sizes(pi_kernel_launch_desc &desc, const WorkSizes &sizes);

struct ArgumentList {
    const ur_exp_kernel_arg_properties_t *arguments = nullptr;
    uint32_t count = 0;

    const ur_exp_kernel_arg_properties_t *begin() const noexcept { return arguments; }
    const ur_exp_kernel_arg_properties_t *end() const noexcept { return arguments + count; }
};

/// UR_RESULT_ERROR_INVALID_NULL_POINTER, or UR_RESULT_ERROR_INVALID_ENUMERATION for a type.
void check_arguments(const ArgumentList &list);

} // namespace pi::unified_runtime
