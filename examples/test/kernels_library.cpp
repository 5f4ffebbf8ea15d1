// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernels of image_pipeline as a native library, which simulated devices of CUDA load.
#include "kernels.hpp"

const pi_native_program *PI_CALL piNativeProgram(void) {
    return &examples::native_kernels();
}
