// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "partition.hpp"

#include "device.hpp"
#include "entries.hpp"

#include <pi/sdk/partition.hpp>

namespace pi::host {

uint32_t partition_kinds(const Device &device) {
    return device.cores() ? 1u << PI_PARTITION_EQUALLY | 1u << PI_PARTITION_BY_COUNTS |
                                1u << PI_PARTITION_BY_NUMA
                          : 0;
}

namespace entries {

pi_result PI_CALL piDevicePartition(pi_device device, const pi_device_partition_desc *desc,
                                    uint32_t capacity, pi_device *out_devices,
                                    uint32_t *out_count) {
    return sdk::call<Device>(device, [&](Device &self) {
        sdk::Partition partition =
            sdk::read_partition(desc, partition_kinds(self), self.concurrency());
        // A root device is one NUMA node, and a sub-device is a part of it.
        if (partition.kind == PI_PARTITION_BY_NUMA)
            partition.counts = {self.concurrency()};
        std::vector<sdk::Ref<Device>> made;
        std::vector<pi_device> handles(partition.counts.size());
        if (out_devices && capacity) {
            std::vector<Cores> parts = self.topology().split(self.cores(), partition.counts);
            for (size_t i = 0; i < std::min<size_t>(capacity, parts.size()); ++i) {
                made.push_back(sdk::make<Device>(self, std::move(parts[i]), partition.counts[i],
                                                 partition.kind));
                handles[i] = made.back()->handle();
            }
        }
        sdk::write_list<pi_device>(handles, capacity, out_devices, out_count);
        for (sdk::Ref<Device> &sub_device : made)
            sub_device.give();
    });
}

} // namespace entries
} // namespace pi::host
