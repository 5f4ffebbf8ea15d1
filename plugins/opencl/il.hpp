// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in SPIR-V, OpenCL's intermediate language (IL), and sub-groups: both came in OpenCL 2.1 and in extensions
// before, and are optional again in 3.0.
#pragma once

#include "opencl.hpp"

namespace pi::opencl {

class Device;

/// What a device has of it. The functions may be called for this device's platform.
struct Il {
    /// clCreateProgramWithIL, or clCreateProgramWithILKHR of cl_khr_il_program; NULL: the device takes no SPIR-V.
    decltype(&::clCreateProgramWithIL) create_program = nullptr;
    /// clSetProgramSpecializationConstant works (2.2); never without create_program.
    bool specialization = false;
    /// clGetKernelSubGroupInfo, or clGetKernelSubGroupInfoKHR of cl_khr_subgroups; NULL: it tells nothing of them.
    decltype(&::clGetKernelSubGroupInfo) get_sub_group_info = nullptr;
    /// It is the former, which knows more names.
    bool core_sub_groups = false;
};
Il find_il(const Device &device);

} // namespace pi::opencl
