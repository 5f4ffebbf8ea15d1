// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pi::drivers {

/// A device of the machine file.
struct DeviceModel {
    std::string name;
    std::uint64_t capacity = 0; ///< bytes of scope 0
    int compute_units = 1;
    int tiles = 0; ///< number of tiles, each with its share of units and bytes; 0: not divided
    bool integrated = false;
    std::string uuid;                 ///< 32 hexadecimal digits, or empty
    std::string luid;                 ///< 16, or empty
    std::string pci_address;          ///< "0000:1b:00.0", or empty
    std::uint64_t host_bandwidth = 0; ///< from host memory, in bytes a second; 0 = unknown
};

/// The link by which one device uses another's memory.
struct LinkModel {
    bool access = false; ///< used in place
    bool atomics = false;
    bool shared = false;             ///< with other links, as at a switch
    std::string kind;                ///< "nvlink", or empty
    std::uint64_t bandwidth = 0;     ///< bytes a second; 0 = unknown
    bool copies_lose_pages = false;  ///< commands that carry bytes over it leave pages unchanged
    bool kernels_lose_pages = false; ///< kernels see other memory in every second page
};

struct Machine {
    std::vector<DeviceModel> devices;
    /// access[user][owner]: whether one device may use the other's memory in place.
    std::vector<std::vector<bool>> access;
    std::vector<std::vector<LinkModel>> links; ///< links[user][owner]

    /// Whether a copy by device `by` loses pages, from memory of one device to that of another;
    /// nullopt is the host.
    bool copy_loses_pages(std::optional<std::size_t> from, std::size_t by,
                          std::optional<std::size_t> to) const;
    /// The same for a kernel of device `by` that uses memory of `owner`.
    bool kernel_loses_pages(std::optional<std::size_t> owner, std::size_t by) const;
};

/// The machine of a file (docs/machine-files.md) without its processors; without a path, one
/// device. Throws std::runtime_error with the file and the field.
Machine read_machine(const std::string &path);

} // namespace pi::drivers
