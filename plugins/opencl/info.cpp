// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The infos of a device.
#include "entries.hpp"
#include "features.hpp"
#include "image.hpp"

#include <array>
#include <cstdio>
#include <cstring>

namespace pi::opencl {

using namespace sdk;

namespace {

using Row = InfoRow<Device>;

[[noreturn]] void absent(const Device &device, const char *what) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not report ", what);
}

template <size_t Size>
void write_identity(Device &device, const InfoWriter &write, cl_device_info name,
                    const char *what) {
    // Check for the extension first: some drivers crash on unknown names.
    if (!device.has_extension("cl_khr_device_uuid"))
        absent(device, what);
    write(device.get<std::array<uint8_t, Size>>(name));
}

void write_luid(Device &device, const InfoWriter &write) {
    if (!device.has_extension("cl_khr_device_uuid") ||
        !device.get<cl_bool>(CL_DEVICE_LUID_VALID_KHR))
        absent(device, "its LUID");
    write_identity<CL_LUID_SIZE_KHR>(device, write, CL_DEVICE_LUID_KHR, "its LUID");
}

void write_pci(Device &device, const InfoWriter &write) {
    if (!device.has_extension("cl_khr_pci_bus_info"))
        absent(device, "its PCI address (cl_khr_pci_bus_info)");
    const auto pci = device.get<cl_device_pci_bus_info_khr>(CL_DEVICE_PCI_BUS_INFO_KHR);
    char words[32];
    std::snprintf(words, sizeof words, "%04x:%02x:%02x.%x", static_cast<unsigned>(pci.pci_domain),
                  static_cast<unsigned>(pci.pci_bus), static_cast<unsigned>(pci.pci_device),
                  static_cast<unsigned>(pci.pci_function));
    write(words);
}

void write_item_sizes(Device &device, const InfoWriter &write) {
    const auto sizes = query_list<size_t>(device.api().clGetDeviceInfo, "clGetDeviceInfo",
                                          device.id(), CL_DEVICE_MAX_WORK_ITEM_SIZES);
    std::array<uint64_t, 3> three{1, 1, 1};
    for (size_t i = 0; i < three.size() && i < sizes.size(); ++i)
        three[i] = sizes[i];
    write(three);
}

void write_sub_group_sizes(Device &device, const InfoWriter &write) {
    if (!device.has_extension("cl_intel_required_subgroup_size"))
        absent(device, "its sub-group sizes (cl_intel_required_subgroup_size)");
    constexpr cl_device_info sub_group_sizes = 0x4108; // CL_DEVICE_SUB_GROUP_SIZES_INTEL
    const auto sizes = query_list<size_t>(device.api().clGetDeviceInfo, "clGetDeviceInfo",
                                          device.id(), sub_group_sizes);
    write(std::vector<uint32_t>(sizes.begin(), sizes.end()));
}

uint32_t formats(const Device &device) {
    return (device.has_compiler() ? 1u << PI_PROGRAM_FORMAT_OPENCL_C : 0) |
           (device.il().create_program ? 1u << PI_PROGRAM_FORMAT_SPIRV : 0) |
           (device.quirk(QUIRK_NO_BINARIES) ? 0 : 1u << PI_PROGRAM_FORMAT_DEVICE_BINARY);
}

template <size_t Count>
void write_image_size(Device &device, const InfoWriter &write,
                      const cl_device_info (&names)[Count]) {
    require_images(device);
    std::array<uint64_t, Count> sizes{};
    for (size_t i = 0; i < Count; ++i)
        sizes[i] = device.get<size_t>(names[i]);
    write(sizes);
}

constexpr Row rows[] = {
    {PI_DEVICE_INFO_TYPE, [](Device &d, const InfoWriter &write) { write(d.type()); }},
    {PI_DEVICE_INFO_NAME, [](Device &d, const InfoWriter &write) { write(d.name()); }},
    {PI_DEVICE_INFO_VENDOR,
     [](Device &d, const InfoWriter &write) { write(d.get_text(CL_DEVICE_VENDOR)); }},
    {PI_DEVICE_INFO_VERSION,
     [](Device &d, const InfoWriter &write) { write(d.get_text(CL_DEVICE_VERSION)); }},
    {PI_DEVICE_INFO_DRIVER_VERSION,
     [](Device &d, const InfoWriter &write) { write(d.get_text(CL_DRIVER_VERSION)); }},
    {PI_DEVICE_INFO_PLATFORM,
     [](Device &d, const InfoWriter &write) { write(d.platform().handle()); }},
    {PI_DEVICE_INFO_PARENT,
     [](Device &d, const InfoWriter &write) {
         write(d.parent() ? d.parent()->handle() : pi_device{nullptr});
     }},
    {PI_DEVICE_INFO_REFERENCE_COUNT,
     [](Device &d, const InfoWriter &write) { write(d.reference_count()); }},
    {PI_DEVICE_INFO_UUID,
     [](Device &d, const InfoWriter &write) {
         write_identity<CL_UUID_SIZE_KHR>(d, write, CL_DEVICE_UUID_KHR,
                                          "its UUID (cl_khr_device_uuid)");
     }},
    {PI_DEVICE_INFO_LUID, write_luid},
    {PI_DEVICE_INFO_PCI_ADDRESS, write_pci},
    {PI_DEVICE_INFO_NUMA_NODE,
     [](Device &d, const InfoWriter &) { absent(d, "its NUMA node"); }},
    {PI_DEVICE_INFO_COMPUTE_UNITS,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.get<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS)});
     }},
    {PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{d.get<size_t>(CL_DEVICE_MAX_WORK_GROUP_SIZE)});
     }},
    {PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES, write_item_sizes},
    {PI_DEVICE_INFO_LOCAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{d.get<cl_ulong>(CL_DEVICE_LOCAL_MEM_SIZE)});
     }},
    {PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{d.get<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE)});
     }},
    {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.max_allocation()); }},
    {PI_DEVICE_INFO_ADDRESS_BITS,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.get<cl_uint>(CL_DEVICE_ADDRESS_BITS)});
     }},
    {PI_DEVICE_INFO_FP16,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.has_extension("cl_khr_fp16")}); }},
    {PI_DEVICE_INFO_FP64,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.get<cl_device_fp_config>(CL_DEVICE_DOUBLE_FP_CONFIG) != 0});
     }},
    {PI_DEVICE_INFO_IMAGES,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.images()}); }},
    {PI_DEVICE_INFO_SUB_GROUP_SIZES, write_sub_group_sizes},
    {PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
     [](Device &, const InfoWriter &write) { write(uint32_t{PI_BUFFER_OFFSET_SUB_BUFFER}); }},
    {PI_DEVICE_INFO_HOST_POINTER_IMPORT,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.import_alignment().has_value()}); }},
    {PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT,
     [](Device &d, const InfoWriter &write) {
         if (!d.import_alignment())
             fail(PI_ERROR_UNSUPPORTED_FEATURE, d.name(), " does not use host memory in place");
         write(*d.import_alignment());
     }},
    {PI_DEVICE_INFO_INTEGRATED,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.integrated()}); }},
    {PI_DEVICE_INFO_USM_CAPABILITIES,
     [](Device &d, const InfoWriter &write) { write(d.usm_kinds()); }},
    {PI_DEVICE_INFO_PROGRAM_FORMATS,
     [](Device &d, const InfoWriter &write) { write(formats(d)); }},
    {PI_DEVICE_INFO_QUEUE_FLAGS,
     [](Device &d, const InfoWriter &write) { write(d.queue_flags()); }},
    {PI_DEVICE_INFO_TIMER_RESOLUTION,
     [](Device &d, const InfoWriter &write) {
         write(uint64_t{d.get<size_t>(CL_DEVICE_PROFILING_TIMER_RESOLUTION)});
     }},
    {PI_DEVICE_INFO_PARTITION_KINDS,
     [](Device &d, const InfoWriter &write) { write(d.partition_kinds()); }},
    {PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) {
         write((d.import_alignment() ? uint32_t{1} << PI_EXTERNAL_HOST_POINTER : uint32_t{0}) |
               uint32_t{1} << PI_EXTERNAL_NATIVE);
     }},
    {PI_DEVICE_INFO_EXPORT_HANDLE_TYPES,
     [](Device &, const InfoWriter &write) { write(uint32_t{0}); }},
    {PI_DEVICE_INFO_CAPABILITIES,
     [](Device &d, const InfoWriter &write) { write(d.capabilities()); }},
    {PI_DEVICE_INFO_LAUNCH_FEATURES,
     [](Device &d, const InfoWriter &write) {
         write(PI_LAUNCH_FEATURE_GLOBAL_OFFSET |
               (d.non_uniform_groups() ? uint32_t{PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS} : 0u));
     }},
    {PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE,
     [](Device &d, const InfoWriter &write) {
         write_image_size(d, write, {CL_DEVICE_IMAGE2D_MAX_WIDTH, CL_DEVICE_IMAGE2D_MAX_HEIGHT});
     }},
    {PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE,
     [](Device &d, const InfoWriter &write) {
         write_image_size(d, write,
                          {CL_DEVICE_IMAGE3D_MAX_WIDTH, CL_DEVICE_IMAGE3D_MAX_HEIGHT,
                           CL_DEVICE_IMAGE3D_MAX_DEPTH});
     }},
    {PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT,
     [](Device &d, const InfoWriter &write) {
         write(view_offset_alignment(d));
     }},
    {PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT,
     [](Device &d, const InfoWriter &write) {
         write(view_pitch_alignment(d));
     }},
};

pi_memory_scope describe_scope(Device &device, Scope which) {
    pi_memory_scope scope{};
    std::strncpy(scope.name, scope_names[which], sizeof scope.name - 1);
    // Not HOST_VISIBLE: ordinary buffers have an address only while they are mapped. A device that
    // uses the host's memory in place keeps its buffers there too. Nothing else proves that a map
    // is not a copy, not even for host.pinned: OpenCL allows a driver to keep a copy of it on the
    // device.
    scope.flags = PI_SCOPE_POOLABLE |
                  (device.import_alignment() ? uint64_t{PI_SCOPE_MAPS_IN_PLACE} : uint64_t{0});
    // A device with its own memory does not report how much host memory it can use.
    if (which == SCOPE_GLOBAL || device.integrated())
        scope.capacity = device.get<cl_ulong>(CL_DEVICE_GLOBAL_MEM_SIZE);
    scope.max_allocation = device.max_allocation();
    scope.min_alignment = device.min_alignment();
    scope.offset_alignment = device.offset_alignment();
    scope.flush_atom = 1;
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
} // namespace pi::opencl
