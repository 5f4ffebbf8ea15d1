// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "kernel_form.hpp"

#include <pi/pi_native_kernel.h>

#include <string_view>
#include <vector>

namespace examples {

/// The example's kernels.cl in the forms that devices accept. PTX and SPIR-V are empty if there was
/// no compiler for them. They live as long as the program.
std::string_view opencl_kernels();
std::string_view ptx_kernels();
std::string_view spirv_kernels();
const pi_native_program &native_kernels();

/// All forms, best first. `cubin`: a module for CUDA devices, or empty; borrowed.
std::vector<KernelForm> kernel_forms(std::string_view cubin);

} // namespace examples
