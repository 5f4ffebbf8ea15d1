// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inventory.hpp"

#include "names.hpp"
#include "query.hpp"

#include <iterator>
#include <sstream>

namespace pi_info {
namespace {

std::optional<bool> flag(pi_device device, pi_device_info name) {
    const auto value = info<uint32_t>(piDeviceGetInfo, device, name);
    return value ? std::optional(*value != 0) : std::nullopt;
}

/// The names in a list with spaces between them.
std::vector<std::string> words(const std::string &list) {
    std::istringstream stream(list);
    return {std::istream_iterator<std::string>(stream), {}};
}

void ask_platform(Device &device) {
    const auto platform =
        info<pi_platform>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_PLATFORM);
    if (!platform) {
        throw pi::runtime::Error(PI_ERROR_INTERNAL,
                                 device.selector +
                                     ": piDeviceGetInfo does not answer PI_DEVICE_INFO_PLATFORM");
    }
    device.platform_handle = *platform;
    device.platform = info_text(piPlatformGetInfo, *platform, PI_PLATFORM_INFO_NAME);
    device.platform_version = info_text(piPlatformGetInfo, *platform, PI_PLATFORM_INFO_VERSION);
    device.backend = backend_name(
        info<uint32_t>(piPlatformGetInfo, *platform, PI_PLATFORM_INFO_BACKEND).value_or(0));
    const auto plugin = info<pi_plugin>(piPlatformGetInfo, *platform, PI_PLATFORM_INFO_PLUGIN);
    if (plugin) {
        device.plugin = info_text(piPluginGetInfo, *plugin, PI_PLUGIN_INFO_NAME);
    }
}

void ask_identity(Device &device) {
    const auto text = [&](pi_device_info name) {
        return info_text(piDeviceGetInfo, device.handle, name);
    };
    device.name = text(PI_DEVICE_INFO_NAME);
    device.vendor = text(PI_DEVICE_INFO_VENDOR);
    device.version = text(PI_DEVICE_INFO_VERSION);
    device.driver_version = text(PI_DEVICE_INFO_DRIVER_VERSION);
    device.pci_address = text(PI_DEVICE_INFO_PCI_ADDRESS);
    device.kind = kind_name(
        info<pi_device_type>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_TYPE).value_or(0));
    device.uuid = hexadecimal(info_bytes(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_UUID));
    device.luid = hexadecimal(info_bytes(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_LUID));
    device.numa_node = info<uint32_t>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_NUMA_NODE);
    device.vendor_id = info<uint32_t>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_VENDOR_ID);
    device.device_id = info<uint32_t>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_DEVICE_ID);
}

void ask_hardware(Device &device) {
    const auto small = [&](pi_device_info name) {
        return info<uint32_t>(piDeviceGetInfo, device.handle, name);
    };
    device.compute_units = small(PI_DEVICE_INFO_COMPUTE_UNITS);
    device.clock_rate = small(PI_DEVICE_INFO_CLOCK_RATE);
    device.memory_clock_rate = small(PI_DEVICE_INFO_MEMORY_CLOCK_RATE);
    device.memory_bus_width = small(PI_DEVICE_INFO_MEMORY_BUS_WIDTH);
    device.cache_line_size = small(PI_DEVICE_INFO_CACHE_LINE_SIZE);
    device.cache_size = info<uint64_t>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_CACHE_SIZE);
    device.free_memory = info<uint64_t>(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_FREE_MEMORY);
    device.error_correction = flag(device.handle, PI_DEVICE_INFO_ERROR_CORRECTION);
}

void ask_abilities(Device &device) {
    const auto number = [&](pi_device_info name) {
        return info<uint64_t>(piDeviceGetInfo, device.handle, name);
    };
    const auto bits = [&](pi_device_info name) -> uint64_t {
        return info<uint32_t>(piDeviceGetInfo, device.handle, name).value_or(0);
    };
    device.memory = number(PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE);
    device.max_allocation = number(PI_DEVICE_INFO_MAX_ALLOCATION_SIZE);
    device.max_work_group_size = number(PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE);
    device.host_pointer_alignment = number(PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT);
    device.atomic_64 = flag(device.handle, PI_DEVICE_INFO_ATOMIC_64);
    device.fp16 = flag(device.handle, PI_DEVICE_INFO_FP16);
    device.fp64 = flag(device.handle, PI_DEVICE_INFO_FP64);
    device.integrated = flag(device.handle, PI_DEVICE_INFO_INTEGRATED);
    device.host_pointer_import = flag(device.handle, PI_DEVICE_INFO_HOST_POINTER_IMPORT);
    device.offset_modes = offset_mode_names(bits(PI_DEVICE_INFO_BUFFER_OFFSET_MODE));
    device.program_formats = program_format_names(bits(PI_DEVICE_INFO_PROGRAM_FORMATS));
    device.capabilities = capability_names(number(PI_DEVICE_INFO_CAPABILITIES).value_or(0));
    device.il_versions =
        words(info_text(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_IL_VERSIONS));
    device.extensions = words(info_text(piDeviceGetInfo, device.handle, PI_DEVICE_INFO_EXTENSIONS));
    device.scopes = pi::DeviceRef(device.handle).memory_scopes();
}

} // namespace

std::vector<Plugin> find_plugins(pi::LoaderRef loader) {
    std::vector<Plugin> plugins;
    for (const pi_plugin_report &report : loader.reports()) {
        Plugin plugin{report.name, report.path, report.reason, report.status, {}, {}};
        if (report.plugin != nullptr) {
            plugin.version = info_text(piPluginGetInfo, report.plugin, PI_PLUGIN_INFO_VERSION);
            plugin.capabilities = capability_names(
                info<uint64_t>(piPluginGetInfo, report.plugin, PI_PLUGIN_INFO_CAPABILITIES)
                    .value_or(0));
        }
        plugins.push_back(std::move(plugin));
    }
    return plugins;
}

std::vector<Device> find_devices(pi::LoaderRef loader, const char *selector) {
    std::vector<Device> devices;
    for (const pi::DeviceRef found : loader.select_devices(selector)) {
        Device device;
        device.handle = found.get();
        device.selector = loader.device_selector(found);
        ask_platform(device);
        ask_identity(device);
        ask_hardware(device);
        ask_abilities(device);
        devices.push_back(std::move(device));
    }
    return devices;
}

std::vector<Variable> find_variables(pi::LoaderRef loader) {
    std::vector<Variable> variables;
    for (const pi_environment_variable &row : loader.environment()) {
        variables.push_back(
            {row.name, row.type, row.description,
             row.value != nullptr ? std::optional<std::string>(row.value) : std::nullopt});
    }
    return variables;
}

} // namespace pi_info
