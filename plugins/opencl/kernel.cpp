// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.hpp"
#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

namespace {

/// As drivers name them. Pointers and the program's own type names are not in the list.
constexpr std::string_view image_types[] = {
    "image1d_t",      "image1d_array_t",       "image1d_buffer_t",
    "image2d_t",      "image2d_array_t",       "image2d_depth_t",
    "image2d_msaa_t", "image2d_array_depth_t", "image2d_array_msaa_t",
    "image3d_t",      "image2d_msaa_depth_t",  "image2d_array_msaa_depth_t",
};

Parameter parameter(const Api &api, cl_kernel kernel, cl_uint index) {
    cl_kernel_arg_address_qualifier qualifier = 0;
    if (api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_ADDRESS_QUALIFIER, sizeof qualifier,
                               &qualifier, nullptr) != CL_SUCCESS)
        return Parameter::ANY;
    if (qualifier == CL_KERNEL_ARG_ADDRESS_LOCAL)
        return Parameter::LOCAL;
    char type[64] = "";
    size_t size = 0;
    if (api.clGetKernelArgInfo(kernel, index, CL_KERNEL_ARG_TYPE_NAME, sizeof type, type, &size) !=
        CL_SUCCESS)
        type[0] = 0;
    const std::string_view name(type);
    if (std::find(std::begin(image_types), std::end(image_types), name) != std::end(image_types))
        return Parameter::IMAGE;
    if (name == "sampler_t")
        return Parameter::SAMPLER;
    if (qualifier == CL_KERNEL_ARG_ADDRESS_PRIVATE)
        return Parameter::VALUE;
    return Parameter::BUFFER;
}

KernelOwner create_vendor_kernel(const Program &program, const char *name) {
    program.require_built();
    const Api &api = program.api();
    cl_int code = CL_SUCCESS;
    KernelOwner kernel(api, api.clCreateKernel(program.id(), name, &code));
    if (code == CL_INVALID_KERNEL_NAME)
        fail(PI_ERROR_INVALID_NAME, "name is '", name,
             "'; the program's kernels are: ", program.kernel_names());
    check(code, "clCreateKernel", "'", name, "'");
    return kernel;
}

} // namespace

Kernel::Kernel(Program &program, const char *name)
    : Kernel(program, create_vendor_kernel(program, name), name) {}

Kernel::Kernel(Program &program, KernelOwner vendor, std::string name)
    : Object(program.host()), program_(program), name_(std::move(name)),
      vendor_(std::move(vendor)) {
    program.note_use();
    const auto count =
        query<cl_uint>(api().clGetKernelInfo, "clGetKernelInfo", id(), CL_KERNEL_NUM_ARGS);
    for (cl_uint i = 0; i < count; ++i)
        parameters_.push_back(parameter(api(), id(), i));
    arguments_.resize(count);
    for (const Device *device : program.devices())
        limits_.emplace_back(device, read_limits(*device));
}

Kernel::Limits Kernel::read_limits(const Device &device) const {
    const auto ask = [&]<class T>(T, cl_kernel_work_group_info what) {
        return query<T>(api().clGetKernelWorkGroupInfo, "clGetKernelWorkGroupInfo", id(),
                        device.id(), what);
    };
    Limits limits;
    limits.max_group = ask(size_t{}, CL_KERNEL_WORK_GROUP_SIZE);
    limits.multiple = ask(size_t{}, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE);
    limits.local_memory = device.get<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE);
    const auto compiled = ask(std::array<size_t, 3>{}, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
    std::copy(compiled.begin(), compiled.end(), limits.compiled.begin());
    const auto items = query_list<size_t>(api().clGetDeviceInfo, "clGetDeviceInfo", device.id(),
                                          CL_DEVICE_MAX_WORK_ITEM_SIZES);
    for (size_t i = 0; i < items.size() && i < limits.max_items.size(); ++i)
        limits.max_items[i] = items[i];
    return limits;
}

const Kernel::Limits &Kernel::limits(const Device &device) const {
    for (const auto &[one, limits] : limits_)
        if (one == &device)
            return limits;
    fail(PI_ERROR_INVALID_KERNEL, "the program of kernel '", name_, "' is not built for ",
         device.name());
}

namespace entries {

pi_result PI_CALL piKernelGetGroupInfo(pi_kernel kernel, pi_device device,
                                       pi_kernel_group_info name, uint64_t size, void *value,
                                       uint64_t *out_size) {
    return call<Kernel>(kernel, [&](Kernel &self) {
        const Device &on = self.context().checked_device(device);
        const Kernel::Limits &limits = self.limits(on);
        const InfoWriter write(size, value, out_size);
        const auto memory = [&](cl_kernel_work_group_info what) {
            return uint64_t{query<cl_ulong>(self.api().clGetKernelWorkGroupInfo,
                                            "clGetKernelWorkGroupInfo", self.id(), on.id(), what)};
        };
        switch (name) {
        case PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE:
            return write(limits.max_group);
        case PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE:
            return write(limits.compiled);
        case PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE:
            return write(memory(CL_KERNEL_LOCAL_MEM_SIZE));
        case PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE:
            return write(memory(CL_KERNEL_PRIVATE_MEM_SIZE));
        case PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE:
            return write(limits.multiple);
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name is ", name,
                 ", not a PI_KERNEL_GROUP_INFO_ value");
        }
    });
}

} // namespace entries
} // namespace pi::opencl
