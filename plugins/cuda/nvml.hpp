// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What lies between devices, and between one and the host: told by NVML, which comes with the driver but is a library of
// its own, which is there or not.
#pragma once

#include <pi/cuda/nvml_api.h>
#include <pi/pi.h>
#include <pi/sdk/library.hpp>

#include <compare>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace pi::cuda {

/// Where a device is on the bus, by which NVML knows it.
struct PciAddress {
    unsigned domain, bus, device;
    auto operator<=>(const PciAddress &) const = default;
};

/// What bytes go over from one device to another one that uses its memory in place.
struct Link {
    pi_link_kind kind = PI_LINK_UNKNOWN;
    uint64_t bandwidth =
        0; ///< one way, bytes a second, as the link's standard has it: packets cost more; 0 = unknown
    unsigned nvlinks = 0; ///< how many
    bool switched =
        false; ///< they go to switches: the ports are shared with what goes to other devices
};

/// NVML, opened and initialised. What it is asked it remembers: a connection's answer is constant.
class Nvml {
public:
    /// PI_ERROR_UNAVAILABLE with the reason: no library, one without what is needed, no driver.
    explicit Nvml(const std::string &path);
    Nvml(const Nvml &) = delete;
    ~Nvml() { functions_.nvmlShutdown(); }

    /// NVLink where there is one, directly or over a switch, else PCIe.
    Link between(const PciAddress &src, const PciAddress &dst);
    /// Bytes a second of the slot that it is in, at the newest generation that device and slot have, since an idle
    /// one is slower; 0 if NVML does not tell.
    uint64_t pcie_bandwidth(const PciAddress &device);

private:
    void look_up();
    nvmlDevice_t device(const PciAddress &address) const; ///< NULL if NVML does not know it
    Link ask(const PciAddress &src, const PciAddress &dst) const;
    uint64_t ask_pcie(nvmlDevice_t device) const;
    struct NvLinks {
        unsigned count;
        bool switched;
    };
    /// Active links of `from` that lead to `to`, or, if there is none, to switches.
    NvLinks nvlinks(nvmlDevice_t from, const PciAddress &to) const;
    uint64_t nvlink_bandwidth(nvmlDevice_t device) const; ///< of one link

    const sdk::Library library_;
    pi_nvml_functions functions_{};
    std::mutex mutex_; ///< guards what follows
    std::map<std::pair<PciAddress, PciAddress>, Link> links_;
    std::map<PciAddress, uint64_t> slots_;
};

} // namespace pi::cuda
