// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-devices: parts of a device's compute units.
#include "entries.hpp"
#include "platform.hpp"

#include <pi/sdk/partition.hpp>

#include <algorithm>

namespace pi::opencl {

using namespace sdk;

uint32_t find_partition_kinds(const Device &device) {
    // OpenCL before 1.2 has no sub-devices, nor these queries.
    if (device.platform().api_version() < 102)
        return 0;
    // A device with a single unit may list kinds nevertheless.
    if (!device.get<cl_uint>(CL_DEVICE_PARTITION_MAX_SUB_DEVICES))
        return 0;
    const auto listed =
        query_list<cl_device_partition_property>(device.api().clGetDeviceInfo, "clGetDeviceInfo",
                                                 device.id(), CL_DEVICE_PARTITION_PROPERTIES);
    const auto has = [&](cl_device_partition_property property) {
        return std::find(listed.begin(), listed.end(), property) != listed.end();
    };
    uint32_t kinds = 0;
    if (has(CL_DEVICE_PARTITION_EQUALLY))
        kinds |= 1u << PI_PARTITION_EQUALLY;
    if (has(CL_DEVICE_PARTITION_BY_COUNTS))
        kinds |= 1u << PI_PARTITION_BY_COUNTS;
    if (has(CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN) &&
        device.get<cl_device_affinity_domain>(CL_DEVICE_PARTITION_AFFINITY_DOMAIN) &
            CL_DEVICE_AFFINITY_DOMAIN_NUMA)
        kinds |= 1u << PI_PARTITION_BY_NUMA;
    return kinds;
}

pi_partition_kind Device::partition_kind() const {
    if (!parent_ || partition_kind_)
        return partition_kind_;
    const auto how = query_list<cl_device_partition_property>(
        api().clGetDeviceInfo, "clGetDeviceInfo", id_, CL_DEVICE_PARTITION_TYPE);
    switch (how.empty() ? 0 : how.front()) {
    case CL_DEVICE_PARTITION_EQUALLY:
        return PI_PARTITION_EQUALLY;
    case CL_DEVICE_PARTITION_BY_COUNTS:
        return PI_PARTITION_BY_COUNTS;
    case CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN:
        if (how.size() > 1 && how[1] == CL_DEVICE_AFFINITY_DOMAIN_NUMA)
            return PI_PARTITION_BY_NUMA;
        [[fallthrough]];
    default:
        fail(PI_ERROR_UNSUPPORTED_FEATURE, name_,
             " was partitioned in a way that PI does not have");
    }
}

namespace {

std::vector<cl_device_partition_property> to_properties(Device &device, Partition partition) {
    // Some drivers refuse equal parts of all units, but accept a list with one part.
    const auto units = device.get<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS);
    if (partition.kind == PI_PARTITION_EQUALLY && partition.counts.front() == units &&
        device.partition_kinds() & 1u << PI_PARTITION_BY_COUNTS)
        partition.kind = PI_PARTITION_BY_COUNTS;
    if (partition.kind == PI_PARTITION_EQUALLY)
        return {CL_DEVICE_PARTITION_EQUALLY,
                static_cast<cl_device_partition_property>(partition.counts.front()), 0};
    if (partition.kind == PI_PARTITION_BY_NUMA)
        return {CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, CL_DEVICE_AFFINITY_DOMAIN_NUMA, 0};
    std::vector<cl_device_partition_property> properties{CL_DEVICE_PARTITION_BY_COUNTS};
    properties.insert(properties.end(), partition.counts.begin(), partition.counts.end());
    properties.insert(properties.end(), {CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
    return properties;
}

/// All sub-devices: OpenCL cannot create only some of them.
std::vector<DeviceOwner> create_sub_devices(const Device &device,
                                            const std::vector<cl_device_partition_property> &how,
                                            cl_uint count) {
    const Api &api = device.api();
    std::vector<cl_device_id> ids(count);
    std::vector<DeviceOwner> owners;
    owners.reserve(count);
    check(api.clCreateSubDevices(device.id(), how.data(), count, ids.data(), nullptr),
          "clCreateSubDevices", count, " of ", device.name());
    for (const cl_device_id id : ids) {
        owners.emplace_back(api, id);
        if (device.quirk(QUIRK_KEEP_SUB_DEVICES))
            api.clRetainDevice(id);
    }
    return owners;
}

} // namespace

namespace entries {

pi_result PI_CALL piDevicePartition(pi_device device, const pi_device_partition_desc *desc,
                                    uint32_t capacity, pi_device *out_devices,
                                    uint32_t *out_count) {
    return call<Device>(device, [&](Device &self) {
        const Partition partition = read_partition(desc, self.partition_kinds(),
                                                   self.get<cl_uint>(CL_DEVICE_MAX_COMPUTE_UNITS));
        const auto how = to_properties(self, partition);
        cl_uint count = 0;
        check(self.api().clCreateSubDevices(self.id(), how.data(), 0, nullptr, &count),
              "clCreateSubDevices", "for the count of those of ", self.name());
        std::vector<Ref<Device>> made;
        std::vector<pi_device> handles(count);
        if (out_devices && capacity)
            for (DeviceOwner &vendor : create_sub_devices(self, how, count)) {
                if (made.size() == capacity)
                    break;
                const cl_device_id id = vendor.get();
                made.push_back(make<Device>(self.platform(), id, Ref<Device>(self),
                                            std::move(vendor), partition.kind));
                handles[made.size() - 1] = made.back()->handle();
            }
        write_list<pi_device>(handles, capacity, out_devices, out_count);
        for (Ref<Device> &sub_device : made)
            sub_device.give();
    });
}

} // namespace entries
} // namespace pi::opencl
