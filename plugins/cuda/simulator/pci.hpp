// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "simulator/machine.hpp"

#include <cstddef>
#include <cstdio>

namespace pi::cuda::simulated {

struct PciAddress {
    unsigned domain = 0, bus = 0, device = 0;
    bool operator==(const PciAddress &) const = default;
};

/// The machine file's address; without one, the bus is the device's index plus 1.
inline PciAddress pci_address(const drivers::DeviceModel &device, std::size_t index) {
    PciAddress address{0, static_cast<unsigned>(index) + 1, 0};
    if (!device.pci_address.empty())
        std::sscanf(device.pci_address.c_str(), "%x:%x:%x", &address.domain, &address.bus,
                    &address.device);
    return address;
}

} // namespace pi::cuda::simulated
