// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"
#include "registration.hpp"

#include <pi/sdk/external.hpp>

#include <algorithm>

namespace pi::level_zero {

using namespace sdk;

namespace {

EngineGroup find_engines(const Api &ze, ze_device_handle_t device, const std::string &name) {
    const auto groups =
        ask_list("zeDeviceGetCommandQueueGroupProperties",
                 typed<ze_command_queue_group_properties_t>(
                     ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES),
                 [&](uint32_t *count, ze_command_queue_group_properties_t *items) {
                     return ze.zeDeviceGetCommandQueueGroupProperties(device, count, items);
                 });
    for (uint32_t i = 0; i < groups.size(); ++i)
        if (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE)
            return {i, std::max(groups[i].numQueues, 1u),
                    std::max<uint64_t>(groups[i].maxMemoryFillPatternSize, 1),
                    (groups[i].flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS) !=
                        0};
    fail(PI_ERROR_UNSUPPORTED_FEATURE, name, " has no engines that run kernels");
}

bool reads_and_writes(ze_memory_access_cap_flags_t flags) {
    return flags & ZE_MEMORY_ACCESS_CAP_FLAG_RW;
}

uint32_t files_of(ze_external_memory_type_flags_t types) {
    return (types & ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF ? external_bit(PI_EXTERNAL_DMA_BUF_FD)
                                                         : 0) |
           (types & ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD ? external_bit(PI_EXTERNAL_OPAQUE_FD)
                                                           : 0);
}

} // namespace

Device::Device(Platform &platform, ze_device_handle_t id, Ref<Device> parent)
    : Object(platform.host(), static_cast<bool>(parent)), platform_(platform), id_(id),
      parent_(std::move(parent)), clock_(*this) {
    properties_.stype = platform.version() >= ZE_MAKE_VERSION(1, 2)
                            ? ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                            : ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
    check(api().zeDeviceGetProperties(id_, &properties_), "zeDeviceGetProperties");
    name_ = properties_.name;
    if (parent_)
        name_ += text(" (part ", properties_.subdeviceId, ')');
    compute_ = typed<ze_device_compute_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES);
    check(api().zeDeviceGetComputeProperties(id_, &compute_), "zeDeviceGetComputeProperties",
          name_);
    modules_ = typed<ze_device_module_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES);
    check(api().zeDeviceGetModuleProperties(id_, &modules_), "zeDeviceGetModuleProperties", name_);
    engines_ = find_engines(api(), id_, name_);
    read_memory();
    read_external();
    read_images();
    sub_devices_ = ask_list<ze_device_handle_t>(
        "zeDeviceGetSubDevices", nullptr, [&](uint32_t *count, ze_device_handle_t *ids) {
            return api().zeDeviceGetSubDevices(id_, count, ids);
        });
    compute_units_ = count_units();
}

Device::~Device() = default;

void Device::read_memory() {
    for (const auto &memory :
         ask_list("zeDeviceGetMemoryProperties",
                  typed<ze_device_memory_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES),
                  [&](uint32_t *count, ze_device_memory_properties_t *items) {
                      return api().zeDeviceGetMemoryProperties(id_, count, items);
                  })) {
        memory_ = memory; // the first, which allocations use
        break;
    }
    memory_size_ = memory_.totalSize ? memory_.totalSize : max_allocation();
    access_ = typed<ze_device_memory_access_properties_t>(
        ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES);
    check(api().zeDeviceGetMemoryAccessProperties(id_, &access_),
          "zeDeviceGetMemoryAccessProperties", name_);
    if (!reads_and_writes(access_.deviceAllocCapabilities) ||
        !reads_and_writes(access_.hostAllocCapabilities))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, name_,
             " does not both read and write device and host allocations (capabilities ",
             access_.deviceAllocCapabilities, " and ", access_.hostAllocCapabilities, ')');
    usm_kinds_ = 1u << PI_USM_HOST | 1u << PI_USM_DEVICE;
    if (reads_and_writes(access_.sharedSingleDeviceAllocCapabilities))
        usm_kinds_ |= 1u << PI_USM_SHARED;
}

void Device::read_external() {
    auto external = typed<ze_device_external_memory_properties_t>(
        ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES);
    if (api().zeDeviceGetExternalMemoryProperties(id_, &external) == ZE_RESULT_SUCCESS) {
        import_files_ = files_of(external.memoryAllocationImportTypes);
        export_files_ = files_of(external.memoryAllocationExportTypes);
    }
    imports_host_pointers_ = can_pin(platform_);
}

void Device::read_images() {
    images_ = typed<ze_device_image_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES);
    check(api().zeDeviceGetImageProperties(id_, &images_), "zeDeviceGetImageProperties", name_);
    // Drivers without the extension export the functions, which then return an error.
    image_pitches_ = api().zeCommandListAppendImageCopyToMemoryExt &&
                     api().zeCommandListAppendImageCopyFromMemoryExt &&
                     platform_.has_extension(ZE_IMAGE_COPY_EXT_NAME);
}

namespace {

uint32_t units_of(const ze_device_properties_t &properties) {
    return std::max(properties.numSlices * properties.numSubslicesPerSlice, 1u);
}

} // namespace

/// Sum of all tiles' units: Intel's driver reports only one tile's for a device whose kernels it
/// does not spread over all tiles.
uint32_t Device::count_units() const {
    uint32_t of_parts = 0;
    for (const ze_device_handle_t part : sub_devices_) {
        auto properties = typed<ze_device_properties_t>(properties_.stype);
        check(api().zeDeviceGetProperties(part, &properties), "zeDeviceGetProperties");
        of_parts += units_of(properties);
    }
    return std::max(units_of(properties_), of_parts);
}

bool Device::global_offset() const {
    return api().zeKernelSetGlobalOffsetExp && platform_.has_extension(ZE_GLOBAL_OFFSET_EXP_NAME);
}

bool Device::links_parts() const {
    return modules_.spirvVersionSupported && platform_.has_extension(ZE_MODULE_PROGRAM_EXP_NAME);
}

uint64_t Device::capabilities() const {
    return this_plugin.capabilities &
           ~((imports_host_pointers_ ? 0 : uint64_t{PI_CAPABILITY_USM_REGISTER}) |
             (images() ? 0 : uint64_t{PI_CAPABILITY_IMAGE}) |
             (engines_.cooperative ? 0 : uint64_t{PI_CAPABILITY_COOPERATIVE}) |
             (modules_.spirvVersionSupported ? 0 : uint64_t{PI_CAPABILITY_SPECIALIZATION}) |
             (links_parts() ? 0 : uint64_t{PI_CAPABILITY_PROGRAM_LINK}) |
             (sub_devices_.empty() ? uint64_t{PI_CAPABILITY_PARTITION} : 0));
}

PeerAccess Device::access(const Device &owner) {
    if (owner.id_ == id_)
        return {true, true, true};
    std::lock_guard lock(peers_mutex_);
    if (const auto known = peers_.find(owner.id_); known != peers_.end())
        return known->second;
    PeerAccess access;
    auto p2p = typed<ze_device_p2p_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
    check(api().zeDeviceGetP2PProperties(id_, owner.id_, &p2p), "zeDeviceGetP2PProperties");
    access.listed = p2p.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS;
    access.atomics = p2p.flags & ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
    // zeDeviceCanAccessPeer is called only if needed: a driver may try the access out.
    ze_bool_t possible = false;
    if (access.listed)
        check(api().zeDeviceCanAccessPeer(id_, owner.id_, &possible), "zeDeviceCanAccessPeer");
    access.possible = possible;
    return peers_[owner.id_] = access;
}

pi_device_type device_type(const Device &device) {
    switch (device.properties().type) {
    case ZE_DEVICE_TYPE_GPU:
        return PI_DEVICE_TYPE_GPU;
    case ZE_DEVICE_TYPE_CPU:
        return PI_DEVICE_TYPE_CPU;
    case ZE_DEVICE_TYPE_FPGA:
    case ZE_DEVICE_TYPE_VPU:
        return PI_DEVICE_TYPE_ACCELERATOR;
    default:
        return PI_DEVICE_TYPE_OTHER;
    }
}

std::string vendor_name(const Device &device) {
    constexpr uint32_t intel = 0x8086;
    const uint32_t id = device.properties().vendorId;
    return id == intel ? "Intel(R) Corporation" : text("PCI vendor 0x", std::hex, id);
}

} // namespace pi::level_zero
