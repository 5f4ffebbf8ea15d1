// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks of kernel arguments that depend on neither the device nor the kernel.
#pragma once

#include <pi/describe/checks/launch.hpp>
#include <pi/sdk/error.hpp>

namespace pi::sdk {

/// The name of a launch's argument in messages.
constexpr ArgumentName argument_name(size_t index, const char *member = "") {
    return {"desc->arguments", index, member};
}

/// Kind, reserved word, and offset and size of an argument, as far as they depend on its kind only.
inline void check_argument(const pi_kernel_argument &given, size_t index) {
    enforce<checks::check_argument>(argument_name(index), given);
}

/// PI_ERROR_INVALID_ARGUMENTS unless the argument's range lies within a buffer of `size` bytes.
inline void check_buffer_argument(const pi_kernel_argument &given, const ArgumentName &name,
                                  uint64_t size) {
    enforce<checks::check_buffer_argument>(name, given, size);
}

} // namespace pi::sdk
