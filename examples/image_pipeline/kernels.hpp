// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi_native_kernel.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace image_pipeline {

/// kernels.cl in the forms that devices take; PTX and SPIR-V are empty if there was no compiler for them. They live as
/// long as the program.
std::string_view opencl_kernels();
std::string_view ptx_kernels();
std::string_view spirv_kernels();
const pi_native_program &native_kernels();

/// The kernels as a program is made of them.
struct KernelForm {
    pi_program_format format = 0; ///< 0: none
    const void *data = nullptr;
    uint64_t size = 0;
};
/// All that there are, best first. `cubin`: a module for devices of CUDA, or nothing; borrowed.
std::vector<KernelForm> kernel_forms(std::string_view cubin);

} // namespace image_pipeline
