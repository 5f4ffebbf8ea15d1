// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// NVML in software: the links and slots of the simulated driver's machine (README.md).
#include "config.hpp"
#include "pci.hpp"
#include "simulator/machine.hpp"

#include <pi/cuda/nvml_api.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iterator>
#include <mutex>
#include <stdexcept>
#include <vector>

namespace pi::cuda {

#define PI_NVML_DECLARE(need, result, name, parameters)                                            \
    extern "C" __attribute__((visibility("default"))) result name parameters;
PI_NVML_FUNCTIONS(PI_NVML_DECLARE)
#undef PI_NVML_DECLARE

namespace {

using namespace simulated;
using drivers::LinkModel, drivers::Machine;

/// An NVLink's other end: a device of the machine, or a switch.
struct NvLink {
    std::size_t device;
    bool to_switch;
};

struct Gpu {
    PciAddress pci;
    std::uint64_t host_bandwidth = 0;
    std::vector<NvLink> links;
    std::uint64_t link_bandwidth = 0; ///< of each NVLink
};

/// One per process, created by the first nvmlInit_v2.
struct Library {
    std::mutex mutex;
    int initialised = 0;
    Machine machine;
    std::vector<Gpu> gpus;
};

Library &library() {
    static Library *const all = new Library;
    return *all;
}

/// Links are symmetric: if the file has one direction only, use that.
const LinkModel *nvlink(const Machine &machine, std::size_t one, std::size_t other) {
    for (const LinkModel *link : {&machine.links[one][other], &machine.links[other][one]})
        if (link->kind == "nvlink" && link->bandwidth)
            return link;
    return nullptr;
}

void add_links(const Machine &machine, std::size_t index, Gpu &gpu) {
    constexpr double fastest = 25e9;
    std::size_t to_switch = 0;
    for (std::size_t peer = 0; peer < machine.devices.size(); ++peer) {
        const LinkModel *const link = nvlink(machine, index, peer);
        if (!link)
            continue;
        const double bandwidth = static_cast<double>(link->bandwidth);
        const auto count = static_cast<std::size_t>(std::ceil(bandwidth / fastest));
        gpu.link_bandwidth = link->bandwidth / count;
        if (link->shared)
            to_switch = std::max(to_switch, count);
        else
            gpu.links.insert(gpu.links.end(), count, {peer, false});
    }
    gpu.links.insert(gpu.links.end(), to_switch, {0, true});
    gpu.links.resize(std::min<std::size_t>(gpu.links.size(), NVML_NVLINK_MAX_LINKS));
}

void start(Library &all) {
    all.machine = drivers::read_machine(read_config().machine);
    for (std::size_t i = 0; i < all.machine.devices.size(); ++i) {
        Gpu gpu{.pci = pci_address(all.machine.devices[i], i),
                .host_bandwidth = all.machine.devices[i].host_bandwidth};
        add_links(all.machine, i, gpu);
        all.gpus.push_back(std::move(gpu));
    }
}

nvmlDevice_t handle_of(std::size_t index) {
    return reinterpret_cast<nvmlDevice_t>(&library().gpus[index]);
}

template <class F>
nvmlReturn_t call(F body) {
    Library &all = library();
    const std::lock_guard lock(all.mutex);
    return all.initialised ? body(all) : NVML_ERROR_UNINITIALIZED;
}

/// Calls body(index) for an existing device.
template <class F>
nvmlReturn_t call_on(nvmlDevice_t device, const void *out, F body) {
    return call([&](Library &all) {
        for (std::size_t i = 0; i < all.gpus.size(); ++i)
            if (out && handle_of(i) == device)
                return body(all, i);
        return NVML_ERROR_INVALID_ARGUMENT;
    });
}

/// Calls body(link) for an existing link.
template <class F>
nvmlReturn_t call_on_link(nvmlDevice_t device, unsigned link, const void *out, F body) {
    return call_on(device, out, [&](Library &all, std::size_t index) {
        if (link >= NVML_NVLINK_MAX_LINKS)
            return NVML_ERROR_INVALID_ARGUMENT;
        if (link >= all.gpus[index].links.size())
            return NVML_ERROR_NOT_SUPPORTED;
        body(all.gpus[index].links[link]);
        return NVML_SUCCESS;
    });
}

} // namespace

nvmlReturn_t nvmlInit_v2() {
    Library &all = library();
    const std::lock_guard lock(all.mutex);
    try {
        if (all.gpus.empty())
            start(all);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "simulated NVML: %s\n", error.what());
        return NVML_ERROR_DRIVER_NOT_LOADED;
    }
    ++all.initialised;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() {
    return call([](Library &all) {
        --all.initialised;
        return NVML_SUCCESS;
    });
}

const char *nvmlErrorString(nvmlReturn_t code) {
    switch (code) {
    case NVML_SUCCESS:
        return "The operation was successful";
    case NVML_ERROR_UNINITIALIZED:
        return "Uninitialized";
    case NVML_ERROR_INVALID_ARGUMENT:
        return "Invalid Argument";
    case NVML_ERROR_NOT_SUPPORTED:
        return "Not Supported";
    case NVML_ERROR_NOT_FOUND:
        return "Not Found";
    case NVML_ERROR_DRIVER_NOT_LOADED:
        return "Driver Not Loaded";
    default:
        return "Unknown Error";
    }
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *text, nvmlDevice_t *out) {
    return call([&](Library &all) {
        PciAddress address;
        if (!text || !out ||
            std::sscanf(text, "%x:%x:%x", &address.domain, &address.bus, &address.device) != 3)
            return NVML_ERROR_INVALID_ARGUMENT;
        for (std::size_t i = 0; i < all.gpus.size(); ++i)
            if (all.gpus[i].pci == address) {
                *out = handle_of(i);
                return NVML_SUCCESS;
            }
        return NVML_ERROR_NOT_FOUND;
    });
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *out) {
    return call_on(device, out, [&](Library &all, std::size_t index) {
        // 16 lanes, without packet overhead; figures in files are rounded.
        constexpr double slots[] = {4e9, 8e9, 15.76e9, 31.51e9, 63.02e9, 121e9};
        const auto bandwidth = static_cast<double>(all.gpus[index].host_bandwidth);
        if (bandwidth == 0)
            return NVML_ERROR_NOT_SUPPORTED;
        const auto *const slot = std::lower_bound(std::begin(slots), std::end(slots), bandwidth);
        *out = static_cast<unsigned>(std::min(slot, std::end(slots) - 1) - slots) + 1;
        return NVML_SUCCESS;
    });
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *out) {
    return call_on(device, out, [&](Library &all, std::size_t index) {
        *out = 16;
        return all.gpus[index].host_bandwidth ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
    });
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t one, nvmlDevice_t other,
                                    nvmlGpuP2PCapsIndex_t capability, nvmlGpuP2PStatus_t *out) {
    return call_on(one, out, [&](Library &all, std::size_t index) {
        for (std::size_t peer = 0; peer < all.gpus.size(); ++peer)
            if (handle_of(peer) == other && capability == NVML_P2P_CAPS_INDEX_NVLINK) {
                *out = nvlink(all.machine, index, peer) ? NVML_P2P_STATUS_OK
                                                        : NVML_P2P_STATUS_NOT_SUPPORTED;
                return NVML_SUCCESS;
            }
        return NVML_ERROR_INVALID_ARGUMENT;
    });
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, nvmlEnableState_t *out) {
    return call_on_link(device, link, out, [&](const NvLink &) { *out = NVML_FEATURE_ENABLED; });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link,
                                                 nvmlIntNvLinkDeviceType_t *out) {
    return call_on_link(device, link, out, [&](const NvLink &of) {
        *out = of.to_switch ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
    });
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link,
                                                 nvmlPciInfo_t *out) {
    return call_on_link(device, link, out, [&](const NvLink &of) {
        // A switch has an address that no device has.
        const PciAddress pci =
            of.to_switch ? PciAddress{0xffff, 0, 0} : library().gpus[of.device].pci;
        *out = {};
        out->domain = pci.domain;
        out->bus = pci.bus;
        out->device = pci.device;
        std::snprintf(out->busId, sizeof out->busId, "%08X:%02X:%02X.0", pci.domain, pci.bus,
                      pci.device);
    });
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int count, nvmlFieldValue_t *values) {
    return call_on(device, values, [&](Library &all, std::size_t index) {
        for (int i = 0; i < count; ++i) {
            nvmlFieldValue_t &value = values[i];
            const std::uint64_t speed = all.gpus[index].link_bandwidth / 1'000'000;
            value.nvmlReturn = value.fieldId == NVML_FI_DEV_NVLINK_SPEED_MBPS_COMMON && speed
                                   ? NVML_SUCCESS
                                   : NVML_ERROR_NOT_SUPPORTED;
            value.valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
            value.value.uiVal = static_cast<unsigned>(speed);
        }
        return NVML_SUCCESS;
    });
}

} // namespace pi::cuda
