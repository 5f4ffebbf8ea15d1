// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels as a native library, which simulated devices of CUDA load.

#include "native_kernels.hpp"

const pi_native_program *PI_CALL piNativeProgram(void) {
    return &pi::suite::native_program;
}
