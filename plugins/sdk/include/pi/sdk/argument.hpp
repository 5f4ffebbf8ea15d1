// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of kernel arguments that depend on neither the device nor the kernel.
#pragma once

#include <pi/sdk/error.hpp>

#include <cstddef>

namespace pi::sdk {

/// PI_ERROR_UNSUPPORTED_FEATURE unless the reserved word is 0 and a sampler comes with an image
/// only.
inline void check_argument(const pi_kernel_argument &given, size_t index) {
    if (given.reserved)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "arguments[", index, "].reserved is ", given.reserved,
             "; it must be 0");
    if (given.image_sampler && given.kind != PI_ARGUMENT_IMAGE)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "arguments[", index,
             "].image_sampler is set, but the argument is not an image");
}

/// Checks the size of a value or of work-group memory: PI_ERROR_INVALID_ARGUMENTS for 0.
inline void check_argument_size(const pi_kernel_argument &given, size_t index) {
    if (!given.size)
        fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "].size is 0 bytes");
}

/// PI_ERROR_INVALID_ARGUMENTS unless an image or sampler, as `what` says, is passed whole.
inline void check_whole_argument(const pi_kernel_argument &given, size_t index, const char *what) {
    if (given.offset || given.size)
        fail(PI_ERROR_INVALID_ARGUMENTS, "arguments[", index, "] is ", what, ", but has offset ",
             given.offset, " and size ", given.size, "; both must be 0");
}

} // namespace pi::sdk
