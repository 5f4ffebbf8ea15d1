// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-devices: a device's tiles. The driver returns the same handle for a tile each time.
#include "device.hpp"
#include "entries.hpp"

#include <pi/sdk/binary.hpp>
#include <pi/sdk/partition.hpp>

namespace pi::level_zero {

using namespace sdk;

namespace entries {

pi_result PI_CALL piDevicePartition(pi_device device, const pi_device_partition_desc *desc,
                                    uint32_t capacity, pi_device *out_devices,
                                    uint32_t *out_count) {
    return call<Device>(device, [&](Device &self) {
        const std::vector<ze_device_handle_t> &parts = self.sub_devices();
        read_partition(desc, parts.empty() ? 0 : 1u << PI_PARTITION_BY_HARDWARE,
                       self.compute_units());
        std::vector<Ref<Device>> made;
        std::vector<pi_device> handles(parts.size());
        for (size_t i = 0; out_devices && i < parts.size() && i < capacity; ++i) {
            made.push_back(make<Device>(self.platform(), parts[i], Ref<Device>(self)));
            handles[i] = made.back()->handle();
        }
        write_list<pi_device>(handles, capacity, out_devices, out_count);
        for (Ref<Device> &part : made)
            part.give();
    });
}

// No effect on root devices, which live as long as the instance.

pi_result PI_CALL piDeviceRetain(pi_device device) {
    return call<Device>(device, [](Device &self) {
        if (self.parent())
            self.retain();
    });
}

pi_result PI_CALL piDeviceRelease(pi_device device) {
    return call<Device>(device, [](Device &self) {
        if (self.parent())
            self.release();
    });
}

pi_result PI_CALL piDeviceSelectBinary(pi_device device, uint32_t count,
                                       const pi_program_binary *binaries, uint32_t *out_index) {
    return call<Device>(device, [&](Device &self) {
        require(out_index, "out_index");
        // First what is made for exactly this device.
        const std::string own = text("0x", std::hex, self.properties().deviceId);
        std::vector<BinaryTarget> accepted{{own, PI_PROGRAM_FORMAT_DEVICE_BINARY}};
        if (self.modules().spirvVersionSupported)
            accepted.push_back({"spirv64", PI_PROGRAM_FORMAT_SPIRV});
        accepted.push_back({"binary", PI_PROGRAM_FORMAT_DEVICE_BINARY}); // of any vendor
        *out_index = select_binary(accepted, count, binaries);
    });
}

} // namespace entries
} // namespace pi::level_zero
