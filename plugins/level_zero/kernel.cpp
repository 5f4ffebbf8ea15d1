// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel.hpp"
#include "entries.hpp"

#include <pi/sdk/descriptor.hpp>

#include <algorithm>
#include <array>

namespace pi::level_zero {

using namespace sdk;

Kernel::Kernel(Program &program, const char *name)
    : Object(program.host()), program_(program), name_(name) {
    program.require_built();
    try {
        for (Device *device : program.devices()) {
            auto function = std::make_unique<Function>();
            function->device = device;
            function->module = program.module(*device);
            Place &place = function->module->place();
            auto desc = typed<ze_kernel_desc_t>(ZE_STRUCTURE_TYPE_KERNEL_DESC);
            desc.pKernelName = name_.c_str();
            const ze_result_t code =
                name_.empty()
                    ? ZE_RESULT_ERROR_INVALID_KERNEL_NAME
                    : place.api().zeKernelCreate(function->module->id(), &desc, &function->id);
            if (code == ZE_RESULT_ERROR_INVALID_KERNEL_NAME)
                fail(PI_ERROR_INVALID_NAME, "name is '", name_,
                     "'; the program has no such kernel on ", device->name());
            place.check(code, "zeKernelCreate", "'", name_, "'");
            functions_.push_back(std::move(function));
            read_properties(*functions_.back());
        }
    } catch (...) {
        for (const auto &function : functions_)
            function->module->place().api().zeKernelDestroy(function->id);
        throw;
    }
}

Kernel::Kernel(Program &program, Device &device, ze_kernel_handle_t id,
               std::shared_ptr<const bool> own)
    : Object(program.host()), program_(program) {
    auto function = std::make_unique<Function>();
    function->device = &device;
    function->module = program.module(device);
    function->id = id;
    function->given = true;
    Place &place = function->module->place();
    size_t size = 0;
    place.check(place.api().zeKernelGetName(id, &size, nullptr), "zeKernelGetName");
    name_.resize(size);
    place.check(place.api().zeKernelGetName(id, &size, name_.data()), "zeKernelGetName");
    name_.resize(std::min(name_.find('\0'), name_.size()));
    read_properties(*function);
    function->own = std::move(own);
    functions_.push_back(std::move(function));
}

Kernel::~Kernel() {
    for (const auto &function : functions_)
        if (!function->own || *function->own)
            function->module->place().api().zeKernelDestroy(function->id);
}

void Kernel::read_properties(Function &function) {
    function.properties = typed<ze_kernel_properties_t>(ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES);
    Place &place = function.module->place();
    place.check(place.api().zeKernelGetProperties(function.id, &function.properties),
                "zeKernelGetProperties", "'", name_, "'");
}

Kernel::Function &Kernel::function(const Device &device) const {
    for (const auto &function : functions_)
        if (function->device->id() == device.id())
            return *function;
    fail(PI_ERROR_INVALID_KERNEL, "the program of kernel '", name_, "' is not built for ",
         device.name());
}

namespace {

uint32_t smallest_sub_group(const Device &device) {
    const ze_device_compute_properties_t &compute = device.compute();
    const auto *sizes = compute.subGroupSizes;
    const uint32_t count = std::min<uint32_t>(compute.numSubGroupSizes, ZE_SUBGROUPSIZE_COUNT);
    return count ? *std::min_element(sizes, sizes + count) : 1;
}

/// The widest sub-group the kernel runs with; 1 if neither the kernel nor the device reports it.
uint32_t max_sub_group(const Kernel::Function &function) {
    const uint32_t widest = function.properties.maxSubgroupSize;
    return widest ? widest : smallest_sub_group(*function.device);
}

} // namespace

namespace entries {

pi_result PI_CALL piKernelGetGroupInfo(pi_kernel kernel, pi_device device,
                                       pi_kernel_group_info name, uint64_t size, void *value,
                                       uint64_t *out_size) {
    return call<Kernel>(kernel, [&](Kernel &self) {
        const Device &on = self.context().checked_device(device);
        const Kernel::Function &function = self.function(on);
        const ze_kernel_properties_t &properties = function.properties;
        const InfoWriter write(size, value, out_size);
        switch (name) {
        case PI_KERNEL_GROUP_INFO_MAX_WORK_GROUP_SIZE:
            return write(uint64_t{on.compute().maxTotalGroupSize});
        case PI_KERNEL_GROUP_INFO_COMPILE_WORK_GROUP_SIZE:
            return write(std::array<uint64_t, 3>{properties.requiredGroupSizeX,
                                                 properties.requiredGroupSizeY,
                                                 properties.requiredGroupSizeZ});
        case PI_KERNEL_GROUP_INFO_LOCAL_MEMORY_SIZE:
            return write(uint64_t{properties.localMemSize});
        case PI_KERNEL_GROUP_INFO_PRIVATE_MEMORY_SIZE:
            return write(uint64_t{properties.privateMemSize});
        case PI_KERNEL_GROUP_INFO_PREFERRED_GROUP_MULTIPLE:
            return write(uint64_t{max_sub_group(function)});
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
        const uint32_t widest = max_sub_group(function);
        switch (name) {
        case PI_KERNEL_SUB_GROUP_INFO_MAX_SIZE:
            return write(widest);
        case PI_KERNEL_SUB_GROUP_INFO_MAX_COUNT:
            return write(function.properties.maxNumSubgroups
                             ? function.properties.maxNumSubgroups
                             : (on.compute().maxTotalGroupSize + widest - 1) / widest);
        case PI_KERNEL_SUB_GROUP_INFO_COMPILE_SIZE:
            return write(uint32_t{function.properties.requiredSubgroupSize});
        default:
            fail(PI_ERROR_INVALID_ENUMERATION, "name is ", name,
                 ", not a PI_KERNEL_SUB_GROUP_INFO_ value");
        }
    });
}

} // namespace entries
} // namespace pi::level_zero
