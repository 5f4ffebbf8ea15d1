// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <algorithm>
#include <cstring>

namespace pi::level_zero::simulated {

unsigned most_groups_at_once(const Device &device) {
    return static_cast<unsigned>(device.model.compute_units) * 4;
}

namespace {

template <class F>
ze_result_t call_on(ze_kernel_handle_t handle, F body) {
    return call([&](Lock &) { body(*find(driver().kernels, handle)); });
}

/// The largest divisor of the axis that is at most `room`.
unsigned divisor(unsigned axis, unsigned room) {
    for (unsigned size = std::min(axis, room); size > 1; --size)
        if (axis % size == 0)
            return size;
    return 1;
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeKernelCreate(ze_module_handle_t module, const ze_kernel_desc_t *descriptor,
                                      ze_kernel_handle_t *out) {
    return call([&](Lock &) {
        auto kernel = std::make_shared<Kernel>();
        kernel->module = find(driver().modules, module);
        kernel->context = kernel->module->context;
        need_pointers(descriptor, out);
        need_pointers(descriptor->pKernelName);
        need(descriptor->stype == ZE_STRUCTURE_TYPE_KERNEL_DESC, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        need(descriptor->flags < ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY * 2,
             ZE_RESULT_ERROR_INVALID_ENUMERATION);
        need(kernel->module->unresolved.empty(), ZE_RESULT_ERROR_INVALID_MODULE_UNLINKED);
        for (const Function &function : kernel->module->functions)
            if (function.name == descriptor->pKernelName)
                kernel->function = &function;
        need(kernel->function, ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
        if (kernel->function->requirements.group[0])
            kernel->group_size = kernel->function->requirements.group;
        kernel->values.resize(kernel->function->parameters.size());
        *out = driver().kernels.add(kernel);
    });
}

ze_result_t ZE_APICALL zeKernelDestroy(ze_kernel_handle_t handle) {
    return call_on(handle, [&](Kernel &kernel) {
        kernel.need_idle();
        driver().kernels.erase(handle);
    });
}

ze_result_t ZE_APICALL zeKernelSetGroupSize(ze_kernel_handle_t handle, uint32_t x, uint32_t y,
                                            uint32_t z) {
    return call_on(handle, [&](Kernel &kernel) {
        need(x && y && z && x <= most_items && y <= most_items && z <= most_items &&
                 size_t(x) * y * z <= most_items,
             ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
        const std::array size{x, y, z};
        const std::array<unsigned, 3> &required = kernel.function->requirements.group;
        need(!required[0] || size == required, ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
        kernel.group_size = size;
    });
}

ze_result_t ZE_APICALL zeKernelSuggestGroupSize(ze_kernel_handle_t handle, uint32_t width,
                                                uint32_t height, uint32_t depth, uint32_t *x,
                                                uint32_t *y, uint32_t *z) {
    return call_on(handle, [&](Kernel &kernel) {
        need_pointers(x, y, z);
        need(width && height && depth, ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
        if (const auto &required = kernel.function->requirements.group; required[0]) {
            *x = required[0];
            *y = required[1];
            *z = required[2];
            return;
        }
        *x = divisor(width, 256);
        *y = divisor(height, 256 / *x);
        *z = divisor(depth, 256 / *x / *y);
    });
}

ze_result_t ZE_APICALL zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t handle,
                                                               uint32_t *out) {
    return call_on(handle, [&](Kernel &kernel) {
        need_pointers(out);
        *out = most_groups_at_once(*kernel.module->device);
    });
}

ze_result_t ZE_APICALL zeKernelSetArgumentValue(ze_kernel_handle_t handle, uint32_t index,
                                                size_t size, const void *value) {
    return call_on(handle, [&](Kernel &kernel) {
        need(index < kernel.values.size(), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
        const Parameter &parameter = kernel.function->parameters[index];
        const bool local = parameter.pass == Pass::shared;
        need(local ? size > 0 && size <= most_local && !value : size == parameter.size,
             ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
        const bool pointer = parameter.pass == Pass::pointer || parameter.pass == Pass::addresses;
        std::vector<char> bytes(size);
        // As in Intel's driver, a null pointer means no value, not the value 0. An image or sampler
        // must have one.
        if (value)
            std::memcpy(bytes.data(), value, size);
        const bool zero = std::count(bytes.begin(), bytes.end(), 0) == std::ptrdiff_t(size);
        need(value ? !pointer || !zero : local || pointer, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        kernel.values[index] = std::move(bytes);
    });
}

ze_result_t ZE_APICALL zeKernelSetIndirectAccess(ze_kernel_handle_t handle,
                                                 ze_kernel_indirect_access_flags_t flags) {
    return call_on(handle, [&](Kernel &kernel) {
        need(flags < ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED * 2,
             ZE_RESULT_ERROR_INVALID_ENUMERATION);
        kernel.indirect = flags;
    });
}

ze_result_t ZE_APICALL zeKernelGetIndirectAccess(ze_kernel_handle_t handle,
                                                 ze_kernel_indirect_access_flags_t *out) {
    return call_on(handle, [&](Kernel &kernel) {
        need_pointers(out);
        *out = kernel.indirect;
    });
}

ze_result_t ZE_APICALL zeKernelGetSourceAttributes(ze_kernel_handle_t handle, uint32_t *size,
                                                   char **out) {
    return call_on(handle, [&](Kernel &) {
        need_pointers(size);
        *size = 1;
        if (out && *out)
            **out = 0;
    });
}

ze_result_t ZE_APICALL zeKernelSetCacheConfig(ze_kernel_handle_t handle,
                                              ze_cache_config_flags_t flags) {
    return call_on(handle, [&](Kernel &) {
        need(flags < ZE_CACHE_CONFIG_FLAG_LARGE_DATA * 2, ZE_RESULT_ERROR_INVALID_ENUMERATION);
    });
}

ze_result_t ZE_APICALL zeKernelGetProperties(ze_kernel_handle_t handle,
                                             ze_kernel_properties_t *out) {
    return call_on(handle, [&](Kernel &kernel) {
        need_pointers(out);
        ze_kernel_properties_t properties{};
        properties.stype = out->stype;
        properties.pNext = out->pNext;
        properties.numKernelArgs = static_cast<uint32_t>(kernel.values.size());
        properties.requiredGroupSizeX = kernel.function->requirements.group[0];
        properties.requiredGroupSizeY = kernel.function->requirements.group[1];
        properties.requiredGroupSizeZ = kernel.function->requirements.group[2];
        properties.requiredSubgroupSize = kernel.function->requirements.sub_group;
        properties.maxSubgroupSize =
            properties.requiredSubgroupSize ? properties.requiredSubgroupSize : 32;
        properties.maxNumSubgroups = most_items / properties.maxSubgroupSize;
        *out = properties;
        for (void *next = out->pNext; next; next = static_cast<ze_base_properties_t *>(next)->pNext)
            if (static_cast<ze_base_properties_t *>(next)->stype ==
                ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES)
                static_cast<ze_kernel_preferred_group_size_properties_t *>(next)
                    ->preferredMultiple = 32;
    });
}

ze_result_t ZE_APICALL zeKernelGetName(ze_kernel_handle_t handle, size_t *size, char *out) {
    return call_on(handle, [&](Kernel &kernel) { give_text(kernel.function->name, size, out); });
}

ze_result_t ZE_APICALL zeKernelSetGlobalOffsetExp(ze_kernel_handle_t handle, uint32_t x, uint32_t y,
                                                  uint32_t z) {
    return call_on(handle, [&](Kernel &kernel) { kernel.offset = {x, y, z}; });
}
