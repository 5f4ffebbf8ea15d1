// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The infos of a device.
#include "device.hpp"
#include "entries.hpp"
#include "features.hpp"
#include "memory.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace pi::level_zero {

using namespace sdk;

namespace {

using Row = InfoRow<Device>;

[[noreturn]] void absent(const Device &device, const char *what) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not report ", what);
}

void write_uuid(Device &device, const InfoWriter &write) {
    std::array<uint8_t, 16> bytes;
    static_assert(sizeof device.properties().uuid.id == sizeof bytes);
    std::memcpy(bytes.data(), device.properties().uuid.id, sizeof bytes);
    if (bytes == std::array<uint8_t, 16>{})
        absent(device, "its UUID");
    write(bytes);
}

void write_pci(Device &device, const InfoWriter &write) {
    const Api &ze = device.api();
    auto pci = typed<ze_pci_ext_properties_t>(ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES);
    if (!ze.zeDevicePciGetPropertiesExt ||
        ze.zeDevicePciGetPropertiesExt(device.id(), &pci) != ZE_RESULT_SUCCESS)
        absent(device, "its PCI address");
    char words[32];
    std::snprintf(words, sizeof words, "%04x:%02x:%02x.%x", pci.address.domain, pci.address.bus,
                  pci.address.device, pci.address.function);
    write(words);
}

uint32_t program_formats(const Device &device) {
    return 1u << PI_PROGRAM_FORMAT_DEVICE_BINARY |
           (device.modules().spirvVersionSupported ? 1u << PI_PROGRAM_FORMAT_SPIRV : 0u);
}

constexpr Row rows[] = {
    {PI_DEVICE_INFO_TYPE, [](Device &d, const InfoWriter &write) { write(device_type(d)); }},
    {PI_DEVICE_INFO_NAME, [](Device &d, const InfoWriter &write) { write(d.name()); }},
    {PI_DEVICE_INFO_VENDOR, [](Device &d, const InfoWriter &write) { write(vendor_name(d)); }},
    {PI_DEVICE_INFO_VERSION,
     [](Device &d, const InfoWriter &write) {
         write("Level Zero " + version_text(d.platform().version()));
     }},
    {PI_DEVICE_INFO_DRIVER_VERSION,
     [](Device &d, const InfoWriter &write) {
         write(text(d.platform().driver_version()));
     }},
    {PI_DEVICE_INFO_PLATFORM,
     [](Device &d, const InfoWriter &write) { write(d.platform().handle()); }},
    {PI_DEVICE_INFO_PARENT,
     [](Device &d, const InfoWriter &write) {
         write(d.parent() ? d.parent()->handle() : pi_device{nullptr});
     }},
    {PI_DEVICE_INFO_REFERENCE_COUNT,
     [](Device &d, const InfoWriter &write) { write(d.reference_count()); }},
    {PI_DEVICE_INFO_UUID, write_uuid},
    {PI_DEVICE_INFO_PCI_ADDRESS, write_pci},
    {PI_DEVICE_INFO_COMPUTE_UNITS,
     [](Device &d, const InfoWriter &write) { write(d.compute_units()); }},
    {PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{d.compute().maxTotalGroupSize});
     }},
    {PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES,
     [](Device &d, const InfoWriter &write) {
         write(std::array<uint64_t, 3>{d.compute().maxGroupSizeX, d.compute().maxGroupSizeY,
                                       d.compute().maxGroupSizeZ});
     }},
    {PI_DEVICE_INFO_LOCAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{d.compute().maxSharedLocalMemory});
     }},
    {PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.memory_size()); }},
    {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.max_allocation()); }},
    {PI_DEVICE_INFO_ADDRESS_BITS, [](Device &, const InfoWriter &write) { write(uint32_t{64}); }},
    {PI_DEVICE_INFO_FP16,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{(d.modules().flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0});
     }},
    {PI_DEVICE_INFO_FP64,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{(d.modules().flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0});
     }},
    {PI_DEVICE_INFO_IMAGES,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.images()}); }},
    {PI_DEVICE_INFO_SUB_GROUP_SIZES,
     [](Device &d, const InfoWriter &write) {
         const auto &sizes = d.compute().subGroupSizes;
         write(std::vector<uint32_t>(
             sizes, sizes + std::min<uint32_t>(d.compute().numSubGroupSizes,
                                               ZE_SUBGROUPSIZE_COUNT)));
     }},
    {PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
     [](Device &, const InfoWriter &write) { write(uint32_t{PI_BUFFER_OFFSET_POINTER}); }},
    {PI_DEVICE_INFO_HOST_POINTER_IMPORT,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.imports_host_pointers()}); }},
    {PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT,
     [](Device &d, const InfoWriter &write) {
         if (!d.imports_host_pointers())
             absent(d, "an alignment of host pointers: it uses none in place");
         write(static_cast<uint64_t>(sysconf(_SC_PAGESIZE)));
     }},
    {PI_DEVICE_INFO_INTEGRATED,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.integrated()}); }},
    {PI_DEVICE_INFO_USM_CAPABILITIES,
     [](Device &d, const InfoWriter &write) { write(d.usm_kinds()); }},
    {PI_DEVICE_INFO_PROGRAM_FORMATS,
     [](Device &d, const InfoWriter &write) { write(program_formats(d)); }},
    {PI_DEVICE_INFO_QUEUE_FLAGS,
     [](Device &, const InfoWriter &write) {
         write(uint64_t{PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING | PI_QUEUE_PRIORITY_LOW |
                        PI_QUEUE_PRIORITY_HIGH});
     }},
    {PI_DEVICE_INFO_TIMER_RESOLUTION,
     [](Device &d, const InfoWriter &write) {
         write(std::max<uint64_t>(static_cast<uint64_t>(std::round(d.clock().tick())), 1));
     }},
    {PI_DEVICE_INFO_PARTITION_KINDS,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.sub_devices().empty() ? 0u : 1u << PI_PARTITION_BY_HARDWARE});
     }},
    {PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) { write(import_types(d)); }},
    {PI_DEVICE_INFO_EXPORT_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) { write(export_types(d)); }},
    {PI_DEVICE_INFO_CAPABILITIES,
     [](Device &d, const InfoWriter &write) { write(d.capabilities()); }},
    {PI_DEVICE_INFO_LAUNCH_FEATURES,
     [](Device &d, const InfoWriter &write) {
         write(d.global_offset() ? uint32_t{PI_LAUNCH_FEATURE_GLOBAL_OFFSET} : uint32_t{0});
     }},
    {PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE,
     [](Device &d, const InfoWriter &write) {
         require_images(d);
         write(image_limits(d, PI_IMAGE_2D).size_2d);
     }},
    {PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE,
     [](Device &d, const InfoWriter &write) {
         require_images(d);
         write(image_limits(d, PI_IMAGE_3D).size_3d);
     }},
};

pi_memory_scope describe_scope(const Device &device, Scope which) {
    pi_memory_scope scope{};
    std::strncpy(scope.name, scope_names[which], sizeof scope.name - 1);
    scope.flags = PI_SCOPE_POOLABLE;
    scope.min_alignment = min_alignment;
    scope.offset_alignment = 1;
    scope.flush_atom = 1;
    if (which == SCOPE_GLOBAL) {
        scope.capacity = device.memory_size();
        scope.max_allocation = device.max_allocation();
    } else {
        scope.flags |=
            PI_SCOPE_HOST_VISIBLE | PI_SCOPE_COHERENT | PI_SCOPE_PINNED | PI_SCOPE_MAPS_IN_PLACE;
    }
    return scope;
}

} // namespace

namespace entries {

pi_result PI_CALL piDeviceGetInfo(pi_device device, pi_device_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    return call<Device>(device, [&](Device &self) {
        answer_info<Device>(self, rows, feature_rows(), name, size, value, out_size);
    });
}

pi_result PI_CALL piDeviceGetMemoryScopes(pi_device device, uint32_t capacity,
                                          pi_memory_scope *out_scopes, uint32_t *out_count) {
    return call<Device>(device, [&](Device &self) {
        const pi_memory_scope scopes[SCOPE_COUNT] = {describe_scope(self, SCOPE_GLOBAL),
                                                     describe_scope(self, SCOPE_HOST_PINNED)};
        write_list<pi_memory_scope>(scopes, capacity, out_scopes, out_count);
    });
}

} // namespace entries
} // namespace pi::level_zero
