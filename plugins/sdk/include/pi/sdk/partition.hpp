// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The descriptor of piDevicePartition, checked in the same way in all backends.
#pragma once

#include <pi/sdk/descriptor.hpp>

#include <numeric>
#include <vector>

namespace pi::sdk {

struct Partition {
    pi_partition_kind kind;
    /// The compute units of each sub-device, for EQUALLY and BY_COUNTS. Empty for the other kinds,
    /// where the backend chooses them.
    std::vector<uint32_t> counts;
};

/// Reads the descriptor. `kinds`: 1 << PI_PARTITION_ of the supported kinds; `units`: the device's
/// compute units. Errors as in pi.h.
inline Partition read_partition(const pi_device_partition_desc *desc, uint32_t kinds,
                                uint32_t units) {
    const pi_device_partition_desc known = read_desc(desc, PI_TYPE_DEVICE_PARTITION_DESC);
    enforce<checks::check_device_partition>(known);
    if (!(kinds >> known.kind & 1))
        fail(PI_ERROR_UNSUPPORTED_FEATURE, "kind is ", known.kind,
             "; PI_DEVICE_INFO_PARTITION_KINDS of the device is 0x", std::hex, kinds);
    Partition partition{known.kind, {}};
    if (known.kind == PI_PARTITION_EQUALLY) {
        if (known.count > units)
            fail(PI_ERROR_INVALID_SIZE, "count is ", known.count, "; the device has ", units,
                 " compute units, of which each sub-device needs 1 at least");
        partition.counts.assign(units / known.count, known.count);
    } else if (known.kind == PI_PARTITION_BY_COUNTS) {
        const std::span counts(known.counts, known.count);
        const auto sum = std::accumulate(counts.begin(), counts.end(), uint64_t{0});
        if (sum > units)
            fail(PI_ERROR_INVALID_SIZE, "counts are ", sum, " in all; the device has ", units,
                 " compute units");
        partition.counts.assign(counts.begin(), counts.end());
    }
    return partition;
}

} // namespace pi::sdk
