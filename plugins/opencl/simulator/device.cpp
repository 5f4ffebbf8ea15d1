// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Queries of changed devices and their platform.
#include "layer.hpp"

#include <algorithm>

namespace simulated {

namespace {

constexpr cl_device_info sub_group_sizes_intel = 0x4108; // CL_DEVICE_SUB_GROUP_SIZES_INTEL
constexpr const char *khr_version = "OpenCL 2.0 PoCL behind PI's simulated SPIR-V";

const char *own_extensions() {
    return layer().mode == Mode::KHR
               ? " cl_khr_il_program cl_khr_subgroups cl_intel_required_subgroup_size "
                 "cl_khr_pci_bus_info"
               : " cl_khr_subgroups cl_intel_required_subgroup_size cl_khr_pci_bus_info";
}

/// The device's name; PoCL 4 replaced its drivers' names.
std::string name_of(std::string name) {
    if (layer().mode == Mode::POCL7)
        for (const auto &[older, newer] :
             {std::pair{"basic", "cpu-minimal"}, std::pair{"pthread", "cpu"}})
            if (name.rfind(older, 0) == 0)
                name.replace(0, std::strlen(older), newer);
    return name + " (simulated SPIR-V)";
}

cl_name_version named(const char *name, cl_version version) {
    cl_name_version one{version, {}};
    std::strncpy(one.name, name, sizeof one.name - 1);
    return one;
}

/// The list of the driver below, with the layer's extensions appended.
std::vector<cl_name_version> extensions_with_version(cl_device_id device) {
    auto all = ask_list<cl_name_version>(layer().below->clGetDeviceInfo, device,
                                         CL_DEVICE_EXTENSIONS_WITH_VERSION);
    for (const char *name :
         {"cl_khr_subgroups", "cl_intel_required_subgroup_size", "cl_khr_pci_bus_info"})
        all.push_back(named(name, CL_MAKE_VERSION(1, 0, 0)));
    return all;
}

std::vector<cl_name_version> il_versions() {
    return {named("SPIR-V", CL_MAKE_VERSION(1, 0, 0)), named("SPIR-V", CL_MAKE_VERSION(1, 1, 0)),
            named("SPIR-V", CL_MAKE_VERSION(1, 2, 0)), named("SPIR-V", CL_MAKE_VERSION(1, 3, 0)),
            named("SPIR-V", CL_MAKE_VERSION(1, 4, 0))};
}

/// As if each of the platform's devices were in its own slot; sub-devices have their root's.
cl_device_pci_bus_info_khr pci_address(cl_device_id device) {
    const cl_device_id root = root_of(device);
    cl_platform_id platform = nullptr;
    layer().below->clGetDeviceInfo(root, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
    cl_uint count = 0;
    layer().below->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count);
    std::vector<cl_device_id> all(count);
    layer().below->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, all.data(), nullptr);
    const auto place = std::find(all.begin(), all.end(), root) - all.begin();
    return {0x1a, 0xb0, static_cast<cl_uint>(place), 0};
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, size_t size,
                                   void *value, size_t *out_size) {
    const auto &below = layer().below->clGetDeviceInfo;
    const auto text = [&] { return ask_text(below, device, name); };
    if (!takes_il(device))
        return below(device, name, size, value, out_size);
    switch (name) {
    case CL_DEVICE_NAME:
        return answer(name_of(text()), size, value, out_size);
    case CL_DEVICE_EXTENSIONS:
        return answer(text() + own_extensions(), size, value, out_size);
    case CL_DEVICE_EXTENSIONS_WITH_VERSION:
        return answer(extensions_with_version(device), size, value, out_size);
    case CL_DEVICE_IL_VERSION:
        return answer(std::string("SPIR-V_1.0 SPIR-V_1.1 SPIR-V_1.2 SPIR-V_1.3 SPIR-V_1.4"), size,
                      value, out_size);
    case CL_DEVICE_ILS_WITH_VERSION:
        return answer(il_versions(), size, value, out_size);
    case CL_DEVICE_MAX_NUM_SUB_GROUPS: {
        size_t most = 0;
        below(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, nullptr);
        return answer(static_cast<cl_uint>((most + sub_group_size - 1) / sub_group_size), size,
                      value, out_size);
    }
    case sub_group_sizes_intel:
        return answer_bytes(sub_group_sizes, sizeof sub_group_sizes, size, value, out_size);
    case CL_DEVICE_PCI_BUS_INFO_KHR:
        return answer(pci_address(device), size, value, out_size);
    case CL_DEVICE_VERSION:
        return layer().mode == Mode::KHR ? answer(std::string(khr_version), size, value, out_size)
                                         : below(device, name, size, value, out_size);
    case CL_DEVICE_COMPILER_AVAILABLE:
        return layer().mode == Mode::ONLY ? answer(cl_bool{CL_FALSE}, size, value, out_size)
                                          : below(device, name, size, value, out_size);
    default:
        return below(device, name, size, value, out_size);
    }
}

bool is_changed(cl_platform_id platform) {
    return ask_text(layer().below->clGetPlatformInfo, platform, CL_PLATFORM_NAME) ==
           "Portable Computing Language";
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info name, size_t size,
                                     void *value, size_t *out_size) {
    if (name == CL_PLATFORM_VERSION && layer().mode == Mode::KHR && is_changed(platform))
        return answer(std::string(khr_version), size, value, out_size);
    return layer().below->clGetPlatformInfo(platform, name, size, value, out_size);
}

void *CL_API_CALL get_address(cl_platform_id platform, const char *name) {
    if (is_changed(platform)) {
        if (!std::strcmp(name, "clCreateProgramWithILKHR"))
            return reinterpret_cast<void *>(&create_program_with_il);
        if (!std::strcmp(name, "clGetKernelSubGroupInfoKHR"))
            return reinterpret_cast<void *>(&get_sub_group_info_khr);
    }
    return layer().below->clGetExtensionFunctionAddressForPlatform(platform, name);
}

} // namespace

bool is_changed(cl_device_id device) {
    cl_platform_id platform = nullptr;
    return layer().below->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform,
                                          nullptr) == CL_SUCCESS &&
           is_changed(platform);
}

bool is_changed(cl_context context) {
    const auto devices =
        ask_list<cl_device_id>(layer().below->clGetContextInfo, context, CL_CONTEXT_DEVICES);
    return !devices.empty() && is_changed(devices.front());
}

cl_device_id root_of(cl_device_id device) {
    for (cl_device_id parent = device; parent;) {
        device = parent;
        if (layer().below->clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent,
                                           nullptr) != CL_SUCCESS)
            break;
    }
    return device;
}

bool takes_il(cl_device_id device) {
    if (!is_changed(device))
        return false;
    if (layer().mode != Mode::MIXED)
        return true;
    cl_platform_id platform = nullptr;
    layer().below->clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, nullptr);
    cl_device_id first = nullptr;
    layer().below->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &first, nullptr);
    return root_of(device) != first;
}

void add_device_functions(cl_icd_dispatch &table) {
    table.clGetDeviceInfo = get_device_info;
    table.clGetPlatformInfo = get_platform_info;
    table.clGetExtensionFunctionAddressForPlatform = get_address;
}

} // namespace simulated
