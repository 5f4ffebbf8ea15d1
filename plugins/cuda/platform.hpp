// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The platform and its devices. Both live as long as their instance.
#pragma once

#include "instance.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace pi::cuda {

class Device;
class Primary;
struct PciAddress;

class Platform : public sdk::Object<Platform, pi_platform> {
public:
    /// Asks the driver for its devices. PI_ERROR_UNAVAILABLE if none is usable.
    Platform(Instance &instance, const Api &api);
    ~Platform();

    Instance &instance() const { return instance_; }
    const Api &api() const { return api_; }
    const std::vector<sdk::Ref<Device>> &devices() const { return devices_; }

private:
    Instance &instance_;
    const Api &api_;
    std::vector<sdk::Ref<Device>> devices_;
};

class Device : public sdk::Object<Device, pi_device> {
public:
    Device(Platform &platform, CUdevice id);

    Platform &platform() const { return platform_; }
    const Api &api() const { return platform_.api(); }
    Instance &instance() const { return platform_.instance(); }
    CUdevice id() const { return id_; }
    const std::string &name() const { return name_; }
    const std::string &description() const { return name_; }

    /// An attribute; 0 if the driver does not know it.
    int attribute(CUdevice_attribute which) const;
    PciAddress pci_address() const;
    uint64_t memory_size() const { return memory_size_; }
    uint64_t max_group() const { return max_group_; }
    const std::array<uint64_t, 3> &max_items() const { return max_items_; }
    /// The largest number of groups on each axis.
    const std::array<uint64_t, 3> &max_groups() const { return max_groups_; }
    /// Bytes of shared memory for a group, including those that must be requested.
    uint64_t local_memory() const { return local_memory_; }
    uint64_t max_pitch() const { return max_pitch_; }
    /// The longest row of a copy with pitches: whole pixels of any format.
    uint64_t max_row() const { return max_pitch_ & ~uint64_t{15}; }
    uint32_t warp() const { return warp_; }
    /// Whether application memory can be pinned, and used by the device then.
    bool registers_host_memory() const { return registers_host_memory_; }
    /// Whether kernels can use unpinned application memory (HMM, ATS).
    bool reads_pageable() const { return reads_pageable_; }
    /// Whether imported application memory may be unpinned. On a device that can pin, only if all
    /// devices can use unpinned memory: a connection's promise must hold for each import.
    bool imports_pageable() const;
    bool imports_host_memory() const { return registers_host_memory_ || reads_pageable_; }
    /// Required alignment, in bytes, of the address and size of such an import.
    uint64_t host_pointer_alignment() const;
    bool cooperative() const { return cooperative_; }
    /// Whether its memory can be mapped, and exported as file descriptors.
    bool exports() const { return exports_; }
    /// Whether its memory can be exported to other drivers as dma-bufs.
    bool exports_dma_buf() const { return exports_dma_buf_; }
    /// Whether its memory can be shared with other processes by IPC handles.
    bool has_ipc() const { return has_ipc_; }
    /// Whether the driver supports memory pools on it.
    bool has_pools() const { return has_pools_; }
    /// The supported kinds, as bits 1 << PI_USM_. SHARED only where the host may access it while
    /// the device works.
    uint32_t usm_kinds() const { return usm_kinds_; }
    /// Major * 10 + minor of the compute capability.
    int compute_capability() const { return compute_capability_; }
    uint64_t capabilities() const {
        return this_plugin.capabilities &
               ~((imports_host_memory() ? 0 : uint64_t{PI_CAPABILITY_MEM_IMPORT}) |
                 (registers_host_memory_ ? 0 : uint64_t{PI_CAPABILITY_USM_REGISTER}) |
                 (cooperative_ ? 0 : uint64_t{PI_CAPABILITY_COOPERATIVE}) |
                 (exports_ || exports_dma_buf_ || has_ipc_ ? 0
                                                           : uint64_t{PI_CAPABILITY_MEM_EXPORT}) |
                 (api().cuLinkCreate_v2 ? 0 : uint64_t{PI_CAPABILITY_PROGRAM_LINK}));
    }

    /// The device's primary context, which all PI contexts share; it is retained while any of them
    /// lives.
    std::shared_ptr<Primary> primary();

private:
    Platform &platform_;
    const CUdevice id_;
    std::string name_;
    uint64_t memory_size_ = 0, max_group_, local_memory_, max_pitch_;
    std::array<uint64_t, 3> max_items_, max_groups_;
    uint32_t warp_;
    bool registers_host_memory_, reads_pageable_, cooperative_, has_pools_, exports_,
        exports_dma_buf_, has_ipc_;
    uint32_t usm_kinds_ = 1u << PI_USM_HOST | 1u << PI_USM_DEVICE;
    int compute_capability_;
    std::mutex mutex_; ///< guards primary_
    std::weak_ptr<Primary> primary_;
};

/// The size of a page of host memory, in bytes.
uint64_t host_page();

/// The alignment of all allocations, as cuMemAlloc guarantees it.
inline constexpr uint64_t min_alignment = 256;
/// The largest alignment that can be requested; beyond min_alignment it takes padding.
inline constexpr uint64_t max_alignment = uint64_t{1} << 30;

} // namespace pi::cuda
