// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulated driver's configuration: the one environment variable that it reads.
#pragma once

namespace simulated {

/// What the layer makes of the devices below it.
enum class Mode {
    IL,    ///< OpenCL 3.0 with SPIR-V, specialization constants and sub-groups, besides OpenCL C
    ONLY,  ///< the same without a compiler for OpenCL C
    KHR,   ///< OpenCL 2.0 with cl_khr_il_program and cl_khr_subgroups: no specialization constants
    MIXED, ///< as IL, but each platform's first device has no SPIR-V
    /// as IL, with PoCL 7's device names, and its refusal of CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL
    POCL7,
};

/// From PI_SIMULATED_OPENCL: "il" (the default), "only", "khr", "mixed" or "pocl7". Exits with a
/// message for any other value.
Mode read_mode();

} // namespace simulated
