// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links between devices, and between a device and the host, as reported by NVML: an optional
// library that comes with the driver.
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

/// A device's PCI address, by which NVML finds it.
struct PciAddress {
    unsigned domain, bus, device;
    auto operator<=>(const PciAddress &) const = default;
};

/// The link that carries bytes from one device to another that uses its memory in place.
struct Link {
    pi_link_kind kind = PI_LINK_UNKNOWN;
    /// Bytes a second in one direction, by the link's standard, without packet overhead; 0 =
    /// unknown.
    uint64_t bandwidth = 0;
    unsigned nvlinks = 0;  ///< number of NVLinks
    bool switched = false; ///< they lead to switches: traffic to other devices shares the ports
};

/// NVML, opened and initialised. Answers are cached, so that a connection's info is constant.
class Nvml {
public:
    /// PI_ERROR_UNAVAILABLE with the reason: no library, one that lacks a required function, no
    /// driver.
    explicit Nvml(const std::string &path);
    Nvml(const Nvml &) = delete;
    ~Nvml() { functions_.nvmlShutdown(); }

    /// NVLink if there is one, directly or over a switch; else PCIe.
    Link between(const PciAddress &src, const PciAddress &dst);
    /// Bytes a second of its PCIe slot, at the newest generation that device and slot support (an
    /// idle slot runs slower); 0 if NVML does not report it.
    uint64_t pcie_bandwidth(const PciAddress &address);

private:
    void look_up();
    nvmlDevice_t device(const PciAddress &address) const; ///< NULL if NVML does not know it
    Link ask(const PciAddress &src, const PciAddress &dst) const;
    uint64_t ask_pcie(nvmlDevice_t device) const;
    struct NvLinks {
        unsigned count;
        bool switched;
    };
    /// Active links of `from` that lead to `to`, or, if there are none, to switches.
    NvLinks nvlinks(nvmlDevice_t from, const PciAddress &to) const;
    uint64_t nvlink_bandwidth(nvmlDevice_t device) const; ///< of one link

    const sdk::Library library_;
    pi_nvml_functions functions_{};
    std::mutex mutex_; ///< guards what follows
    std::map<std::pair<PciAddress, PciAddress>, Link> links_;
    std::map<PciAddress, uint64_t> slots_;
};

} // namespace pi::cuda
