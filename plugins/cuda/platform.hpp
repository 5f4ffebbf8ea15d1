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
    int attribute(CUdevice_attribute name) const;
    PciAddress pci_address() const;
    uint64_t memory_size() const { return memory_size_; }
    uint64_t max_group() const { return max_group_; }
    const std::array<uint64_t, 3> &max_items() const { return max_items_; }
    /// Of blocks, on each axis.
    const std::array<uint64_t, 3> &max_groups() const { return max_groups_; }
    /// Bytes of shared memory that a block can have, those that must be asked for included.
    uint64_t local_memory() const { return local_memory_; }
    uint64_t max_pitch() const { return max_pitch_; }
    /// Of the rows of a copy that has pitches: whole pixels of any format.
    uint64_t max_row() const { return max_pitch_ & ~uint64_t{15}; }
    uint32_t warp() const { return warp_; }
    /// Application memory can be pinned, and used by the device then.
    bool registers_host_memory() const { return registers_host_memory_; }
    /// Its kernels use application memory that nobody has pinned (HMM, ATS).
    bool reads_pageable() const { return reads_pageable_; }
    /// What it imports of the application may be memory that nobody has pinned. Where it can pin, only if all devices use
    /// that: what a connection promises must hold for each import.
    bool imports_pageable() const;
    bool imports_host_memory() const { return registers_host_memory_ || reads_pageable_; }
    /// Bytes that the begin and the size of such an import are multiples of.
    uint64_t host_pointer_alignment() const;
    bool cooperative() const { return cooperative_; }
    /// Its memory can be mapped, and given to others as file descriptors.
    bool exports() const { return exports_; }
    /// Its memory can be given to other drivers as dma-bufs.
    bool exports_dma_buf() const { return exports_dma_buf_; }
    /// Its memory can be other processes' by handles.
    bool has_ipc() const { return has_ipc_; }
    /// The driver has pools on it.
    bool has_pools() const { return has_pools_; }
    /// 1 << PI_USM_ kinds. SHARED only where the host may touch it while the device works.
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

    /// The device's primary context, which all PI contexts share; it is the driver's as long as any of them lives.
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

/// Bytes of a page of the host's memory.
uint64_t host_page();

/// What begins of all memory is a multiple of: what cuMemAlloc promises.
inline constexpr uint64_t min_alignment = 256;
/// Of what is aligned beyond that; more memory than is asked for is taken then.
inline constexpr uint64_t max_alignment = uint64_t{1} << 30;

} // namespace pi::cuda
