// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_native_kernel.h>

#include <string_view>

namespace image_pipeline {

/// kernels.cl in the two forms that devices take. Lives as long as the program.
std::string_view opencl_kernels();
const pi_native_program &native_kernels();

} // namespace image_pipeline
