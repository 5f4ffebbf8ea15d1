// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "nvml.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

namespace pi::cuda {

using namespace sdk;

Nvml::Nvml(const std::string &path) : library_(path) {
    look_up();
    if (const nvmlReturn_t code = functions_.nvmlInit_v2(); code != NVML_SUCCESS)
        fail(PI_ERROR_UNAVAILABLE, path, ": nvmlInit_v2: ", functions_.nvmlErrorString(code));
}

void Nvml::look_up() {
    enum { OPTIONAL, NEEDED };
#define PI_NVML_LOOK_UP(need, result, name, parameters)                                            \
    functions_.name = need == NEEDED ? library_.get<decltype(functions_.name)>(#name)              \
                                     : library_.find<decltype(functions_.name)>(#name);
    PI_NVML_FUNCTIONS(PI_NVML_LOOK_UP)
#undef PI_NVML_LOOK_UP
}

nvmlDevice_t Nvml::device(const PciAddress &address) const {
    char words[32];
    std::snprintf(words, sizeof words, "%08X:%02X:%02X.0", address.domain, address.bus,
                  address.device);
    nvmlDevice_t found = nullptr;
    return functions_.nvmlDeviceGetHandleByPciBusId_v2(words, &found) == NVML_SUCCESS ? found
                                                                                      : nullptr;
}

Link Nvml::between(const PciAddress &src, const PciAddress &dst) {
    std::lock_guard lock(mutex_);
    const auto [known, added] = links_.try_emplace({src, dst});
    if (added)
        known->second = ask(src, dst);
    return known->second;
}

uint64_t Nvml::pcie_bandwidth(const PciAddress &address) {
    std::lock_guard lock(mutex_);
    const auto [known, added] = slots_.try_emplace(address);
    if (added)
        if (const nvmlDevice_t found = device(address))
            known->second = ask_pcie(found);
    return known->second;
}

Link Nvml::ask(const PciAddress &src, const PciAddress &dst) const {
    const nvmlDevice_t from = device(src), to = device(dst);
    if (!from || !to)
        return {};
    // Two devices with links to switches are not necessarily at the same switches.
    nvmlGpuP2PStatus_t status = NVML_P2P_STATUS_NOT_SUPPORTED;
    if (functions_.nvmlDeviceGetP2PStatus &&
        functions_.nvmlDeviceGetP2PStatus(from, to, NVML_P2P_CAPS_INDEX_NVLINK, &status) ==
            NVML_SUCCESS &&
        status == NVML_P2P_STATUS_OK) {
        const NvLinks there = nvlinks(from, dst);
        const unsigned links = std::min(there.count, nvlinks(to, src).count);
        return {PI_LINK_NVLINK, links * std::min(nvlink_bandwidth(from), nvlink_bandwidth(to)),
                links, there.switched};
    }
    const uint64_t slower = std::min(ask_pcie(from), ask_pcie(to));
    return {slower ? pi_link_kind{PI_LINK_PCIE} : pi_link_kind{PI_LINK_UNKNOWN}, slower};
}

Nvml::NvLinks Nvml::nvlinks(nvmlDevice_t from, const PciAddress &to) const {
    unsigned direct = 0, over_switches = 0;
    if (!functions_.nvmlDeviceGetNvLinkState || !functions_.nvmlDeviceGetNvLinkRemotePciInfo_v2)
        return {0, false};
    for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; ++link) {
        nvmlEnableState_t state = NVML_FEATURE_DISABLED;
        if (functions_.nvmlDeviceGetNvLinkState(from, link, &state) != NVML_SUCCESS ||
            state != NVML_FEATURE_ENABLED)
            continue;
        nvmlIntNvLinkDeviceType_t type = NVML_NVLINK_DEVICE_TYPE_UNKNOWN;
        nvmlPciInfo_t remote{};
        if (functions_.nvmlDeviceGetNvLinkRemoteDeviceType &&
            functions_.nvmlDeviceGetNvLinkRemoteDeviceType(from, link, &type) == NVML_SUCCESS &&
            type == NVML_NVLINK_DEVICE_TYPE_SWITCH)
            ++over_switches;
        else if (functions_.nvmlDeviceGetNvLinkRemotePciInfo_v2(from, link, &remote) ==
                     NVML_SUCCESS &&
                 PciAddress{remote.domain, remote.bus, remote.device} == to)
            ++direct;
    }
    return direct ? NvLinks{direct, false} : NvLinks{over_switches, over_switches != 0};
}

uint64_t Nvml::nvlink_bandwidth(nvmlDevice_t device) const {
    nvmlFieldValue_t speed{};
    speed.fieldId = NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON;
    return functions_.nvmlDeviceGetFieldValues &&
                   functions_.nvmlDeviceGetFieldValues(device, 1, &speed) == NVML_SUCCESS &&
                   speed.nvmlReturn == NVML_SUCCESS &&
                   speed.valueType == NVML_VALUE_TYPE_UNSIGNED_INT
               ? uint64_t{speed.value.uiVal} * 1'000'000
               : 0;
}

uint64_t Nvml::ask_pcie(nvmlDevice_t device) const {
    // One lane, by generation from 1 on: 2.5 and 5 GT/s in 8b/10b, 8 to 32 GT/s in 128b/130b, 64
    // GT/s with 242 of 256 bytes for packets (PCI Express base specification 6.0).
    static constexpr uint64_t lanes[] = {250'000'000,   500'000'000,   984'615'385,
                                         1'969'230'769, 3'938'461'538, 7'562'500'000};
    unsigned generation = 0, width = 0;
    if (!functions_.nvmlDeviceGetMaxPcieLinkGeneration ||
        !functions_.nvmlDeviceGetMaxPcieLinkWidth ||
        functions_.nvmlDeviceGetMaxPcieLinkGeneration(device, &generation) != NVML_SUCCESS ||
        functions_.nvmlDeviceGetMaxPcieLinkWidth(device, &width) != NVML_SUCCESS ||
        generation == 0 || generation > std::size(lanes))
        return 0;
    return lanes[generation - 1] * width;
}

} // namespace pi::cuda
