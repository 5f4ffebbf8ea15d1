// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "device.hpp"

#include "entries.hpp"
#include "features.hpp"
#include "image.hpp"
#include "partition.hpp"
#include "physical.hpp"
#include "plugin.hpp"
#include "shared.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace pi::host {

using sdk::InfoWriter;

Device::Device(const pi_host *host, Platform &platform, const Topology &topology, const Node &node)
    : Object(host, false), platform_(platform), topology_(topology), node_(node),
      cores_(topology.cores(node)),
      concurrency_(
          std::min(node.units, platform.instance().config().threads.value_or(node.units))) {}

Device::Device(Device &parent, Cores cores, uint32_t units, pi_partition_kind partition)
    : Object(parent.host()), platform_(parent.platform_), topology_(parent.topology_),
      node_(parent.node_), parent_(parent), cores_(std::move(cores)), concurrency_(units),
      partition_kind_(partition) {}

std::string Device::description() const {
    return parent_ ? sdk::text(concurrency_, " processors of NUMA node ", node_.number)
                   : sdk::text("NUMA node ", node_.number);
}

Executor &Device::executor() const {
    return platform_.instance().executor();
}

namespace {

template <pi_device_info Name>
void absent(Device &, const InfoWriter &) {
    sdk::fail(PI_ERROR_UNSUPPORTED_FEATURE, "query ", Name,
              ": a NUMA node has no identity of this kind; compare PI_DEVICE_INFO_NUMA_NODE");
}

template <class T, auto Value>
void constant(Device &, const InfoWriter &write) {
    write(static_cast<T>(Value));
}

void capacity(Device &device, const InfoWriter &write) {
    write(device.node().capacity);
}

constexpr sdk::InfoRow<Device> info_rows[] = {
    {PI_DEVICE_INFO_TYPE, constant<pi_device_type, PI_DEVICE_TYPE_CPU>},
    {PI_DEVICE_INFO_NAME, [](Device &d, const InfoWriter &write) { write(d.node().cpu_model); }},
    {PI_DEVICE_INFO_VENDOR, [](Device &d, const InfoWriter &write) { write(d.node().cpu_vendor); }},
    {PI_DEVICE_INFO_VERSION, [](Device &, const InfoWriter &write) { write(this_plugin.version); }},
    {PI_DEVICE_INFO_DRIVER_VERSION,
     [](Device &, const InfoWriter &write) { write(this_plugin.version); }},
    {PI_DEVICE_INFO_PLATFORM,
     [](Device &d, const InfoWriter &write) { write(d.platform().handle()); }},
    {PI_DEVICE_INFO_PARENT,
     [](Device &d, const InfoWriter &write) {
         write(d.parent() ? d.parent()->handle() : pi_device{nullptr});
     }},
    {PI_DEVICE_INFO_REFERENCE_COUNT,
     [](Device &d, const InfoWriter &write) { write(d.reference_count()); }},
    {PI_DEVICE_INFO_UUID, absent<PI_DEVICE_INFO_UUID>},
    {PI_DEVICE_INFO_LUID, absent<PI_DEVICE_INFO_LUID>},
    {PI_DEVICE_INFO_PCI_ADDRESS, absent<PI_DEVICE_INFO_PCI_ADDRESS>},
    {PI_DEVICE_INFO_NUMA_NODE, [](Device &d, const InfoWriter &write) { write(d.node().number); }},
    {PI_DEVICE_INFO_COMPUTE_UNITS,
     [](Device &d, const InfoWriter &write) { write(d.concurrency()); }},
    {PI_DEVICE_INFO_MAX_WORK_GROUP_SIZE, constant<uint64_t, max_work_group_size>},
    {PI_DEVICE_INFO_MAX_WORK_ITEM_SIZES,
     [](Device &, const InfoWriter &write) {
         write(std::array{max_work_group_size, max_work_group_size, max_work_group_size});
     }},
    {PI_DEVICE_INFO_LOCAL_MEMORY_SIZE, constant<uint64_t, local_memory_size>},
    {PI_DEVICE_INFO_GLOBAL_MEMORY_SIZE, capacity},
    {PI_DEVICE_INFO_MAX_ALLOCATION_SIZE, capacity},
    {PI_DEVICE_INFO_ADDRESS_BITS, constant<uint32_t, sizeof(void *) * 8>},
    {PI_DEVICE_INFO_FP16, constant<uint32_t, 0>},
    {PI_DEVICE_INFO_FP64, constant<uint32_t, 1>},
    {PI_DEVICE_INFO_IMAGES, constant<uint32_t, 1>},
    {PI_DEVICE_INFO_SUB_GROUP_SIZES, constant<uint32_t, 1>},
    {PI_DEVICE_INFO_BUFFER_OFFSET_MODE, constant<uint32_t, PI_BUFFER_OFFSET_POINTER>},
    {PI_DEVICE_INFO_HOST_POINTER_IMPORT, constant<uint32_t, 1>},
    {PI_DEVICE_INFO_HOST_POINTER_ALIGNMENT, constant<uint64_t, 1>},
    {PI_DEVICE_INFO_INTEGRATED, constant<uint32_t, 1>},
    {PI_DEVICE_INFO_USM_CAPABILITIES,
     constant<uint32_t, 1 << PI_USM_HOST | 1 << PI_USM_DEVICE | 1 << PI_USM_SHARED>},
    {PI_DEVICE_INFO_PROGRAM_FORMATS, constant<uint32_t, 1 << PI_PROGRAM_FORMAT_NATIVE_TABLE |
                                                            1 << PI_PROGRAM_FORMAT_NATIVE_LIBRARY>},
    {PI_DEVICE_INFO_QUEUE_FLAGS, constant<uint64_t, PI_QUEUE_OUT_OF_ORDER | PI_QUEUE_PROFILING>},
    {PI_DEVICE_INFO_TIMER_RESOLUTION, constant<uint64_t, 1>},
    {PI_DEVICE_INFO_PARTITION_KINDS,
     [](Device &d, const InfoWriter &write) { write(partition_kinds(d)); }},
    {PI_DEVICE_INFO_EXTERNAL_HANDLE_TYPES, constant<uint32_t, import_types>},
    {PI_DEVICE_INFO_EXPORT_HANDLE_TYPES,
     [](Device &, const InfoWriter &write) { write(export_types()); }},
    {PI_DEVICE_INFO_CAPABILITIES,
     [](Device &d, const InfoWriter &write) {
         write(this_plugin.capabilities &
               ~(partition_kinds(d) ? 0 : uint64_t{PI_CAPABILITY_PARTITION}));
     }},
    {PI_DEVICE_INFO_LAUNCH_FEATURES,
     constant<uint32_t, PI_LAUNCH_FEATURE_GLOBAL_OFFSET | PI_LAUNCH_FEATURE_NON_UNIFORM_GROUPS>},
    {PI_DEVICE_INFO_MAX_IMAGE_2D_SIZE,
     [](Device &, const InfoWriter &write) { write(image_limits.size_2d); }},
    {PI_DEVICE_INFO_MAX_IMAGE_3D_SIZE,
     [](Device &, const InfoWriter &write) { write(image_limits.size_3d); }},
    {PI_DEVICE_INFO_IMAGE_VIEW_OFFSET_ALIGNMENT, constant<uint64_t, image_view_alignment>},
    {PI_DEVICE_INFO_IMAGE_VIEW_PITCH_ALIGNMENT, constant<uint64_t, image_view_alignment>},
};

} // namespace

namespace entries {

pi_result PI_CALL piDevicesGet(pi_platform platform, pi_device_type types, uint32_t capacity,
                               pi_device *out_devices, uint32_t *out_count) {
    return sdk::call<Platform>(platform, [&](Platform &self) {
        std::vector<pi_device> handles;
        if (pi_sdk_asks_for(types, PI_DEVICE_TYPE_CPU))
            for (const auto &device : self.devices())
                handles.push_back(device->handle());
        sdk::write_list<pi_device>(handles, capacity, out_devices, out_count);
    });
}

pi_result PI_CALL piDeviceGetInfo(pi_device device, pi_device_info name, uint64_t size, void *value,
                                  uint64_t *out_size) {
    return sdk::call<Device>(device, [&](Device &self) {
        sdk::answer_info<Device>(self, info_rows, feature_rows(), name, size, value, out_size);
    });
}

pi_result PI_CALL piDeviceRetain(pi_device device) {
    return sdk::call<Device>(device, [](Device &self) {
        if (self.parent())
            self.retain();
    });
}

pi_result PI_CALL piDeviceRelease(pi_device device) {
    return sdk::call<Device>(device, [](Device &self) {
        if (self.parent())
            self.release();
    });
}

pi_result PI_CALL piDeviceGetGlobalTimestamps(pi_device device, uint64_t *out_device_time,
                                              uint64_t *out_host_time) {
    return sdk::call<Device>(device, [&](Device &) {
        const uint64_t time = sdk::now(); // the device uses the host's clock
        if (out_device_time)
            *out_device_time = time;
        if (out_host_time)
            *out_host_time = time;
    });
}

pi_result PI_CALL piDeviceGetMemoryScopes(pi_device device, uint32_t capacity,
                                          pi_memory_scope *out_scopes, uint32_t *out_count) {
    return sdk::call<Device>(device, [&](Device &self) {
        constexpr uint64_t requirements = PI_SCOPE_CONTIGUOUS | PI_SCOPE_PINNED;
        pi_memory_scope scopes[scope_count];
        std::fill(std::begin(scopes), std::end(scopes),
                  pi_memory_scope{.name = "global",
                                  .flags = PI_SCOPE_HOST_VISIBLE | PI_SCOPE_COHERENT,
                                  .capacity = self.node().capacity,
                                  .max_allocation = self.node().capacity,
                                  .min_alignment = min_alignment,
                                  .offset_alignment = 1,
                                  .flush_atom = 1,
                                  .reserved = {}});
        scopes[scope_global].flags |=
            PI_SCOPE_POOLABLE | PI_SCOPE_MAPS_IN_PLACE | (can_lock_pages() ? requirements : 0);
        // Mapping rows makes a copy, and allocations differ in shape: neither in place nor
        // poolable.
        std::memcpy(scopes[scope_scratchpad].name, scratchpad_name, sizeof(scratchpad_name));
        scopes[scope_scratchpad].flags |= PI_SCOPE_LAYOUT;
        sdk::write_list<pi_memory_scope>(scopes, capacity, out_scopes, out_count);
    });
}

} // namespace entries

} // namespace pi::host
