// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace pi::drivers {

/// A device as the machine file has it.
struct DeviceModel {
    std::string name;
    std::uint64_t capacity = 0; ///< bytes of scope 0
    int compute_units = 1;
    bool integrated = false;
    std::string uuid;        ///< 32 hexadecimal digits, or empty
    std::string luid;        ///< 16, or empty
    std::string pci_address; ///< "0000:1b:00.0", or empty
};

struct Machine {
    std::vector<DeviceModel> devices;
    /// access[user][owner]: whether one device may use the other's memory in place.
    std::vector<std::vector<bool>> access;
};

/// The machine of a file (docs/machine-files.md) but for its processors; without a path one device. Throws
/// std::runtime_error with a text that names the file and the field.
Machine read_machine(const std::string &path);

} // namespace pi::drivers
