// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-group queries of kernels.
#include "entries.hpp"
#include "kernel.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace pi::opencl {

using namespace sdk;

namespace {

constexpr cl_kernel_sub_group_info compile_sub_group_size_intel =
    0x410A; // CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL

/// The vendor's answer; where it depends on the group size, for the kernel's largest groups.
uint32_t ask(const Kernel &kernel, const Device &device, cl_kernel_sub_group_info name) {
    const Kernel::Limits &limits = kernel.limits(device);
    size_t local[3] = {std::min(limits.max_group, limits.max_items[0]), 1, 1};
    if (limits.compiled[0])
        std::copy(limits.compiled.begin(), limits.compiled.end(), local);
    const bool of_range = name == CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE ||
                          name == CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE;
    const Il &il = device.il();
    size_t value = 0;
    check(il.get_sub_group_info(kernel.id(), device.id(), name, of_range ? sizeof local : 0,
                                of_range ? local : nullptr, sizeof value, &value, nullptr),
          il.core_sub_groups ? "clGetKernelSubGroupInfo" : "clGetKernelSubGroupInfoKHR");
    return static_cast<uint32_t>(value);
}

/// From the kernel's attributes: "... intel_reqd_sub_group_size(16) ...".
uint32_t size_in_attributes(const Kernel &kernel) {
    const std::string attributes = query_text(kernel.context().api().clGetKernelInfo,
                                              "clGetKernelInfo", kernel.id(), CL_KERNEL_ATTRIBUTES);
    constexpr std::string_view name = "intel_reqd_sub_group_size(";
    const size_t at = attributes.find(name);
    return at == std::string::npos ? 0
                                   : static_cast<uint32_t>(std::strtoul(
                                         attributes.c_str() + at + name.size(), nullptr, 10));
}

uint32_t required_size(const Kernel &kernel, const Device &device) {
    // Without the extension a source cannot require a size.
    if (!device.has_extension("cl_intel_required_subgroup_size"))
        return 0;
    size_t size = 0;
    const cl_int code =
        device.il().get_sub_group_info(kernel.id(), device.id(), compile_sub_group_size_intel, 0,
                                       nullptr, sizeof size, &size, nullptr);
    // A driver may list the extension but not support the query.
    return code == CL_SUCCESS ? static_cast<uint32_t>(size) : size_in_attributes(kernel);
}

} // namespace

namespace entries {

pi_result PI_CALL piKernelGetSubGroupInfo(pi_kernel kernel, pi_device device,
                                          pi_kernel_sub_group_info name, uint64_t size, void *value,
                                          uint64_t *out_size) {
    return call<Kernel>(kernel, [&](Kernel &self) {
        const Device &on = self.context().checked_device(device);
        if (!on.il().get_sub_group_info)
            fail(PI_ERROR_UNSUPPORTED_FEATURE, on.name(),
                 " does not report sub-groups: OpenCL 2.1 or cl_khr_subgroups is needed");
        const InfoWriter write(size, value, out_size);
        switch (name) {
        case PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE:
            return write(ask(self, on, CL_KERNEL_MAX_SUB_GROUP_SIZE_FOR_NDRANGE));
        case PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT:
            return write(ask(self, on,
                             on.il().core_sub_groups ? CL_KERNEL_MAX_NUM_SUB_GROUPS
                                                     : CL_KERNEL_SUB_GROUP_COUNT_FOR_NDRANGE));
        case PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE:
            return write(required_size(self, on));
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name is ", name,
                 ", not a PI_KERNEL_SUB_GROUP_INFO_ value");
        }
    });
}

} // namespace entries
} // namespace pi::opencl
