// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs in SPIR-V, OpenCL's intermediate language (IL), and sub-groups. OpenCL 2.1 introduced
// both, extensions offer them to older versions, and 3.0 makes them optional.
#pragma once

#include "opencl.hpp"

namespace pi::opencl {

class Device;

/// What a device supports. The functions may be called for devices of its platform.
struct Il {
    /// clCreateProgramWithIL, or clCreateProgramWithILKHR of cl_khr_il_program; NULL if the device
    /// does not support SPIR-V.
    decltype(&::clCreateProgramWithIL) create_program = nullptr;
    /// Whether clSetProgramSpecializationConstant works (2.2); implies create_program.
    bool specialization = false;
    /// clGetKernelSubGroupInfo, or clGetKernelSubGroupInfoKHR of cl_khr_subgroups; NULL if
    /// sub-groups cannot be queried.
    decltype(&::clGetKernelSubGroupInfo) get_sub_group_info = nullptr;
    /// Whether it is the former, which supports more names.
    bool core_sub_groups = false;
};
Il find_il(const Device &device);

} // namespace pi::opencl
