// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.hpp"
#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <array>

namespace pi::cuda {

using namespace sdk;

namespace {

/// The driver reports one parameter a call, until there is no next.
std::optional<std::vector<size_t>> read_parameters(Primary &primary, CUfunction function) {
    const Api &cu = primary.api();
    if (!cu.cuFuncGetParamInfo)
        return std::nullopt;
    const Current current(primary);
    std::vector<size_t> sizes;
    for (size_t offset = 0, size = 0;;) {
        const CUresult code = cu.cuFuncGetParamInfo(function, sizes.size(), &offset, &size);
        if (code == CUDA_ERROR_INVALID_VALUE)
            return sizes;
        primary.check(code, "cuFuncGetParamInfo");
        sizes.push_back(size);
    }
}

} // namespace

Kernel::Kernel(Program &program, const char *name)
    : Object(program.host()), program_(program), name_(name) {
    program.require_built();
    for (Device *device : program.devices())
        functions_.push_back(find(*device, program.module(*device)));
    const Function &first = functions_.front();
    parameters_ = read_parameters(first.module->primary(), first.id);
}

Kernel::Function Kernel::find(Device &device, const std::shared_ptr<Module> &module) const {
    Primary &primary = module->primary();
    const Api &cu = primary.api();
    const Current current(primary);
    Function function{.device = &device, .module = module};
    const CUresult code = cu.cuModuleGetFunction(&function.id, module->id(), name_.c_str());
    if (code == CUDA_ERROR_NOT_FOUND ||
        name_.empty()) // the driver's answer to an empty name is CUDA_ERROR_INVALID_VALUE
        fail(PI_ERROR_INVALID_NAME, "name is '", name_, "'; the program has no such kernel on ",
             device.name());
    primary.check(code, "cuModuleGetFunction", "'", name_, "'");
    const auto attribute = [&](CUfunction_attribute which) {
        int value = 0;
        primary.check(cu.cuFuncGetAttribute(&value, which, function.id), "cuFuncGetAttribute");
        return static_cast<uint64_t>(std::max(value, 0));
    };
    function.max_group = attribute(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    function.local_memory = attribute(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    function.private_memory = attribute(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    function.dynamic_memory = attribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    // More than 48 KiB must be requested. Request the maximum once: the driver has one function for
    // all kernels of the name, so launches with requests of their own would undo each other's.
    const uint64_t most =
        device.local_memory() - std::min(device.local_memory(), function.local_memory);
    if (most > function.dynamic_memory &&
        cu.cuFuncSetAttribute(function.id, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                              static_cast<int>(most)) == CUDA_SUCCESS)
        function.dynamic_memory = most;
    return function;
}

const Kernel::Function &Kernel::function(const Device &device) const {
    for (const Function &function : functions_)
        if (function.device == &device)
            return function;
    fail(PI_ERROR_INVALID_KERNEL, "the program of kernel '", name_, "' is not built for ",
         device.name());
}

uint32_t Kernel::argument_count() const {
    if (!parameters_)
        fail(PI_ERROR_UNSUPPORTED_FEATURE,
             "the driver does not report parameters; CUDA 12.4 and newer do");
    return static_cast<uint32_t>(parameters_->size());
}

namespace entries {

pi_result PI_CALL piKernelGetGroupInfo(pi_kernel kernel, pi_device device,
                                       pi_kernel_group_info name, uint64_t size, void *value,
                                       uint64_t *out_size) {
    return call<Kernel>(kernel, [&](Kernel &self) {
        const Device &on = self.context().checked_device(device);
        const Kernel::Function &function = self.function(on);
        const InfoWriter write(size, value, out_size);
        switch (name) {
        case PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE:
            return write(function.max_group);
        case PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE:
            // __launch_bounds__ requires no particular size: it limits the largest group.
            return write(std::array<uint64_t, 3>{});
        case PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE:
            return write(function.local_memory);
        case PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE:
            return write(function.private_memory);
        case PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE:
            return write(uint64_t{on.warp()});
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name is ", name,
                 ", not a PI_KERNEL_GROUP_INFO_ value");
        }
    });
}

pi_result PI_CALL piKernelGetSubGroupInfo(pi_kernel kernel, pi_device device,
                                          pi_kernel_sub_group_info name, uint64_t size, void *value,
                                          uint64_t *out_size) {
    return call<Kernel>(kernel, [&](Kernel &self) {
        const Device &on = self.context().checked_device(device);
        const Kernel::Function &function = self.function(on);
        const InfoWriter write(size, value, out_size);
        switch (name) {
        case PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE:
            return write(on.warp());
        case PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT:
            return write(static_cast<uint32_t>((function.max_group + on.warp() - 1) / on.warp()));
        case PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE:
            return write(uint32_t{0});
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name is ", name,
                 ", not a PI_KERNEL_SUB_GROUP_INFO_ value");
        }
    });
}

} // namespace entries
} // namespace pi::cuda
