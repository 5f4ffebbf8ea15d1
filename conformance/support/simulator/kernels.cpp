// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The native functions of built_in.hpp, as a library that images can name.
#include <pi/sdk/verification_kernel.hpp>

const pi_native_program *PI_CALL piNativeProgram() {
    return static_cast<const pi_native_program *>(pi::sdk::native_verification_kernel().data);
}
