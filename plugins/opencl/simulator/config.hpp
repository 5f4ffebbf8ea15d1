// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the simulated driver is chosen: the one environment variable that it reads.
#pragma once

namespace simulated {

/// What the devices below the layer become.
enum class Mode {
    IL,    ///< OpenCL 3.0 with SPIR-V, specialization constants and sub-groups, beside OpenCL C
    ONLY,  ///< the same without a compiler for OpenCL C
    KHR,   ///< OpenCL 2.0 with cl_khr_il_program and cl_khr_subgroups: no specialization constants
    MIXED, ///< as IL, but each platform's first device has no SPIR-V
    POCL7, ///< as IL, with PoCL 7's names of devices and its refusal of CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL
};

/// From PI_SIMULATED_OPENCL: "il" (also when it is not set), "only", "khr", "mixed" or "pocl7". Ends the process with a message
/// when it is anything else.
Mode read_mode();

} // namespace simulated
