// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The infos of a device.
#include "connection.hpp"
#include "entries.hpp"
#include "features.hpp"
#include "memory.hpp"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstring>

namespace pi::cuda {

using namespace sdk;

namespace {

using Row = InfoRow<Device>;

[[noreturn]] void absent(const Device &device, const char *what) {
    fail(PI_ERROR_UNSUPPORTED_FEATURE, device.name(), " does not report ", what);
}

bool has_nvrtc(Instance &instance) {
    try {
        instance.nvrtc();
        return true;
    } catch (const Error &) {
        return false; // piProgramCreate reports the reason
    }
}

void write_uuid(Device &device, const InfoWriter &write) {
    CUuuid uuid{};
    if (!device.api().cuDeviceGetUuid_v2 ||
        device.api().cuDeviceGetUuid_v2(&uuid, device.id()) != CUDA_SUCCESS)
        absent(device, "its UUID");
    std::array<uint8_t, 16> bytes;
    std::memcpy(bytes.data(), uuid.bytes, bytes.size());
    write(bytes);
}

void write_luid(Device &device, const InfoWriter &write) {
    std::array<uint8_t, 8> luid{};
    unsigned mask = 0;
    if (!device.api().cuDeviceGetLuid ||
        device.api().cuDeviceGetLuid(reinterpret_cast<char *>(luid.data()), &mask, device.id()) !=
            CUDA_SUCCESS)
        absent(device, "its LUID, which is Windows' own");
    write(luid);
}

void write_pci(Device &device, const InfoWriter &write) {
    char address[32] = {};
    if (device.api().cuDeviceGetPCIBusId(address, sizeof address, device.id()) != CUDA_SUCCESS)
        absent(device, "its PCI address");
    std::string words = address;
    std::transform(words.begin(), words.end(), words.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    write(words);
}

constexpr Row rows[] = {
    {PI_DEVICE_INFO_TYPE,
     [](Device &, const InfoWriter &write) { write(pi_device_type{PI_DEVICE_TYPE_GPU}); }},
    {PI_DEVICE_INFO_NAME, [](Device &d, const InfoWriter &write) { write(d.name()); }},
    {PI_DEVICE_INFO_VENDOR,
     [](Device &, const InfoWriter &write) { write("NVIDIA Corporation"); }},
    {PI_DEVICE_INFO_VERSION,
     [](Device &d, const InfoWriter &write) {
         write(text("compute capability ", d.compute_capability() / 10, '.',
                    d.compute_capability() % 10));
     }},
    {PI_DEVICE_INFO_DRIVER_VERSION,
     [](Device &d, const InfoWriter &write) { write("CUDA " + version_text(d.api().version())); }},
    {PI_DEVICE_INFO_PLATFORM,
     [](Device &d, const InfoWriter &write) { write(d.platform().handle()); }},
    {PI_DEVICE_INFO_PARENT,
     [](Device &, const InfoWriter &write) { write(pi_device{nullptr}); }},
    {PI_DEVICE_INFO_REFERENCE_COUNT,
     [](Device &d, const InfoWriter &write) { write(d.reference_count()); }},
    {PI_DEVICE_INFO_UUID, write_uuid},
    {PI_DEVICE_INFO_LUID, write_luid},
    {PI_DEVICE_INFO_PCI_ADDRESS, write_pci},
    {PI_DEVICE_INFO_COMPUTE_UNITS,
     [](Device &d, const InfoWriter &write) {
         write(static_cast<uint32_t>(d.attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
     }},
    {PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.max_group()); }},
    {PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES,
     [](Device &d, const InfoWriter &write) { write(d.max_items()); }},
    {PI_DEVICE_INFO_LOCAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.local_memory()); }},
    {PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.memory_size()); }},
    {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE,
     [](Device &d, const InfoWriter &write) { write(d.memory_size()); }},
    {PI_DEVICE_INFO_ADDRESS_BITS, [](Device &, const InfoWriter &write) { write(uint32_t{64}); }},
    {PI_DEVICE_INFO_FP16,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.compute_capability() >= 53});
     }},
    {PI_DEVICE_INFO_FP64, [](Device &, const InfoWriter &write) { write(uint32_t{1}); }},
    {PI_DEVICE_INFO_IMAGES, [](Device &, const InfoWriter &write) { write(uint32_t{1}); }},
    {PI_DEVICE_INFO_SUB_GROUP_SIZES,
     [](Device &d, const InfoWriter &write) { write(std::vector<uint32_t>{d.warp()}); }},
    {PI_DEVICE_INFO_BUFFER_OFFSET_MODE,
     [](Device &, const InfoWriter &write) { write(uint32_t{PI_BUFFER_OFFSET_POINTER}); }},
    {PI_DEVICE_INFO_HOST_POINTER_IMPORT,
     [](Device &d, const InfoWriter &write) { write(uint32_t{d.imports_host_memory()}); }},
    {PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT,
     [](Device &d, const InfoWriter &write) {
         if (!d.imports_host_memory())
             absent(d, "an alignment of host pointers: it uses none in place");
         write(d.host_pointer_alignment());
     }},
    {PI_DEVICE_INFO_INTEGRATED,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{d.attribute(CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0});
     }},
    {PI_DEVICE_INFO_USM_CAPABILITIES,
     [](Device &d, const InfoWriter &write) { write(d.usm_kinds()); }},
    {PI_DEVICE_INFO_PROGRAM_FORMATS,
     [](Device &d, const InfoWriter &write) {
         write(uint32_t{1u << PI_PROGRAM_FORMAT_PTX | 1u << PI_PROGRAM_FORMAT_CUBIN |
                        1u << PI_PROGRAM_FORMAT_DEVICE_BINARY} |
               (has_nvrtc(d.instance()) ? 1u << PI_PROGRAM_FORMAT_CUDA_C : 0u));
     }},
    {PI_DEVICE_INFO_QUEUE_FLAGS,
     [](Device &d, const InfoWriter &write) {
         const bool priorities = d.attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
         write(uint64_t{PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING} |
               (priorities ? uint64_t{PI_QUEUE_PRIORITY_LOW | PI_QUEUE_PRIORITY_HIGH} : 0));
     }},
    // The resolution that the documentation of cuEventElapsedTime states.
    {PI_DEVICE_INFO_TIMER_RESOLUTION,
     [](Device &, const InfoWriter &write) { write(uint64_t{500}); }},
    {PI_DEVICE_INFO_PARTITION_KINDS,
     [](Device &, const InfoWriter &write) { write(uint32_t{0}); }},
    {PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) { write(import_types(d)); }},
    {PI_DEVICE_INFO_EXPORT_HANDLE_TYPES,
     [](Device &d, const InfoWriter &write) { write(export_types(d)); }},
    {PI_DEVICE_INFO_CAPABILITIES,
     [](Device &d, const InfoWriter &write) { write(d.capabilities()); }},
    {PI_DEVICE_INFO_LAUNCH_FEATURES,
     [](Device &, const InfoWriter &write) { write(uint32_t{0}); }},
    {PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE,
     [](Device &d, const InfoWriter &write) { write(image_limits(d, PI_IMAGE_2D).size_2d); }},
    {PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE,
     [](Device &d, const InfoWriter &write) { write(image_limits(d, PI_IMAGE_3D).size_3d); }},
    {PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT,
     [](Device &d, const InfoWriter &write) { write(view_offset_alignment(d)); }},
    {PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT,
     [](Device &d, const InfoWriter &write) { write(view_pitch_alignment(d)); }},
    {PI_DEVICE_INFO_HOST_READ_CHANNELS,
     [](Device &d, const InfoWriter &write) { write(to_host_channels(d)); }},
    {PI_DEVICE_INFO_HOST_WRITE_CHANNELS,
     [](Device &d, const InfoWriter &write) { write(from_host_channels(d)); }},
};

pi_memory_scope describe_scope(const Device &device, Scope which) {
    pi_memory_scope scope{};
    std::strncpy(scope.name, scope_names[which], sizeof scope.name - 1);
    scope.flags = PI_SCOPE_POOLABLE;
    scope.min_alignment = min_alignment;
    scope.offset_alignment = 1;
    scope.flush_atom = 1;
    if (which == SCOPE_GLOBAL) {
        scope.flags |= PI_SCOPE_LAYOUT;
        scope.capacity = scope.max_allocation = device.memory_size();
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
} // namespace pi::cuda
