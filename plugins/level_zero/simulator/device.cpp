// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "driver.hpp"

#include <cstdio>
#include <cstring>

namespace pi::level_zero::simulated {

namespace {

template <class F>
ze_result_t call_on(ze_device_handle_t handle, F body) {
    return call([&](Lock &) { body(driver().device(handle)); });
}

/// Fills a structure of the caller's and keeps its header.
template <class Properties, class F>
ze_result_t fill_properties(ze_device_handle_t handle, Properties *out, F fill) {
    return call_on(handle, [&](Device &device) {
        need_pointers(out);
        Properties properties{};
        properties.stype = out->stype;
        properties.pNext = out->pNext;
        fill(device, properties);
        *out = properties;
    });
}

/// The machine file's, or one that no other device of the machine's drivers has.
ze_device_uuid_t uuid_of(const Device &device) {
    ze_device_uuid_t uuid{};
    const std::string &digits = device.model.uuid;
    if (digits.empty())
        std::snprintf(reinterpret_cast<char *>(uuid.id), sizeof uuid.id, "pi-ze%s-%zu",
                      driver().number.c_str(), device.index);
    for (size_t i = 0; i < sizeof uuid.id && 2 * i + 1 < digits.size(); ++i)
        uuid.id[i] =
            static_cast<uint8_t>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
    if (device.root)
        uuid.id[sizeof uuid.id - 1] ^= static_cast<uint8_t>(device.tile + 1);
    return uuid;
}

void write_luid(const Device &device, ze_device_luid_ext_properties_t &out) {
    for (size_t i = 0; i < sizeof out.luid.id; ++i)
        out.luid.id[i] = 2 * i + 1 < device.model.luid.size()
                             ? static_cast<uint8_t>(std::strtoul(
                                   device.model.luid.substr(2 * i, 2).c_str(), nullptr, 16))
                             : uint8_t(0);
    out.nodeMask = 1;
}

void fill_properties(const Device &device, ze_device_properties_t &out) {
    out.type = ZE_DEVICE_TYPE_GPU;
    out.vendorId = 0x8086;
    out.deviceId = 0x0bda;
    if (device.model.integrated)
        out.flags |= ZE_DEVICE_PROPERTY_FLAG_INTEGRATED;
    if (device.root)
        out.flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    out.subdeviceId = device.tile;
    out.coreClockRate = 1000;
    out.maxMemAllocSize = device.model.capacity;
    out.maxHardwareContexts = 64;
    out.numThreadsPerEU = 1;
    out.physicalEUSimdWidth = 1;
    const int tiles = driver().config.units_of_one_tile ? std::max(device.model.tiles, 1) : 1;
    out.numEUsPerSubslice = 1;
    out.numSubslicesPerSlice = static_cast<uint32_t>(device.model.compute_units / tiles);
    out.numSlices = 1;
    // The older structure has nanoseconds a tick, the newer one ticks a second.
    out.timerResolution = out.stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2
                              ? 1000000000 / tick_nanoseconds
                              : tick_nanoseconds;
    out.timestampValidBits = timestamp_bits;
    out.kernelTimestampValidBits = kernel_timestamp_bits;
    out.uuid = uuid_of(device);
    std::snprintf(out.name, sizeof out.name, "%s (simulated)", device.model.name.c_str());
}

} // namespace

} // namespace pi::level_zero::simulated

using namespace pi::level_zero::simulated;

ze_result_t ZE_APICALL zeDeviceGet(ze_driver_handle_t handle, uint32_t *count,
                                   ze_device_handle_t *out) {
    return call_of(handle, [&] {
        auto next = driver().devices.begin();
        give(count, driver().machine.devices.size(), out,
             [&](size_t i) { out[i] = (next++)->second->handle; });
    });
}

ze_result_t ZE_APICALL zeDeviceGetSubDevices(ze_device_handle_t handle, uint32_t *count,
                                             ze_device_handle_t *out) {
    return call_on(handle, [&](Device &device) {
        give(count, device.tiles.size(), out, [&](size_t i) { out[i] = device.tiles[i]; });
    });
}

ze_result_t ZE_APICALL zeDeviceGetProperties(ze_device_handle_t handle,
                                             ze_device_properties_t *out) {
    return fill_properties(handle, out, [](Device &device, ze_device_properties_t &properties) {
        fill_properties(device, properties);
        for (void *next = properties.pNext; next;
             next = static_cast<ze_base_properties_t *>(next)->pNext)
            if (static_cast<ze_base_properties_t *>(next)->stype ==
                ZE_STRUCTURE_TYPE_DEVICE_LUID_EXT_PROPERTIES)
                write_luid(device, *static_cast<ze_device_luid_ext_properties_t *>(next));
    });
}

ze_result_t ZE_APICALL zeDeviceGetComputeProperties(ze_device_handle_t handle,
                                                    ze_device_compute_properties_t *out) {
    return fill_properties(handle, out, [](Device &, ze_device_compute_properties_t &properties) {
        properties.maxTotalGroupSize = most_items;
        properties.maxGroupSizeX = properties.maxGroupSizeY = properties.maxGroupSizeZ = most_items;
        properties.maxGroupCountX = properties.maxGroupCountY = properties.maxGroupCountZ =
            UINT32_MAX;
        properties.maxSharedLocalMemory = most_local;
        properties.numSubGroupSizes = 2;
        properties.subGroupSizes[0] = 16;
        properties.subGroupSizes[1] = 32;
    });
}

ze_result_t ZE_APICALL zeDeviceGetModuleProperties(ze_device_handle_t handle,
                                                   ze_device_module_properties_t *out) {
    return fill_properties(handle, out, [](Device &, ze_device_module_properties_t &properties) {
        // SPIR-V kernels run as functions of a native library.
        properties.spirvVersionSupported =
            driver().config.kernels.empty() ? 0 : ZE_MAKE_VERSION(1, 4);
        properties.flags = ZE_DEVICE_MODULE_FLAG_FP64 | ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
        properties.fp32flags = properties.fp64flags =
            ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
            ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
        properties.maxArgumentsSize = 4096;
        properties.printfBufferSize = 1 << 20;
        properties.nativeKernelSupported.id[0] = 'p';
        properties.nativeKernelSupported.id[1] = 'i';
    });
}

ze_result_t ZE_APICALL zeDeviceGetCommandQueueGroupProperties(
    ze_device_handle_t handle, uint32_t *count, ze_command_queue_group_properties_t *out) {
    return call_on(handle, [&](Device &) {
        give(count, group_count, out, [&](size_t i) {
            out[i].flags = ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
            if (i == compute_group)
                out[i].flags |= ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                                ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COOPERATIVE_KERNELS;
            out[i].maxMemoryFillPatternSize = most_pattern[i];
            out[i].numQueues = queues_of_group[i];
        });
    });
}

ze_result_t ZE_APICALL zeDeviceGetMemoryProperties(ze_device_handle_t handle, uint32_t *count,
                                                   ze_device_memory_properties_t *out) {
    return call_on(handle, [&](Device &device) {
        give(count, 1, out, [&](size_t i) {
            out[i].flags = 0;
            out[i].maxClockRate = 1000;
            out[i].maxBusWidth = 256;
            out[i].totalSize = device.model.capacity;
            std::snprintf(out[i].name, sizeof out[i].name, "simulated");
        });
    });
}

ze_result_t ZE_APICALL zeDeviceGetMemoryAccessProperties(
    ze_device_handle_t handle, ze_device_memory_access_properties_t *out) {
    return fill_properties(
        handle, out, [](Device &, ze_device_memory_access_properties_t &properties) {
            constexpr ze_memory_access_cap_flags_t all =
                ZE_MEMORY_ACCESS_CAP_FLAG_RW | ZE_MEMORY_ACCESS_CAP_FLAG_ATOMIC |
                ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT | ZE_MEMORY_ACCESS_CAP_FLAG_CONCURRENT_ATOMIC;
            properties.hostAllocCapabilities = all;
            properties.deviceAllocCapabilities = all;
            properties.sharedSingleDeviceAllocCapabilities = all;
            properties.sharedCrossDeviceAllocCapabilities = all;
        });
}

ze_result_t ZE_APICALL zeDeviceGetCacheProperties(ze_device_handle_t handle, uint32_t *count,
                                                  ze_device_cache_properties_t *out) {
    return call_on(handle, [&](Device &) {
        give(count, 1, out, [&](size_t i) {
            out[i].flags = 0;
            out[i].cacheSize = size_t(4) << 20;
        });
    });
}

ze_result_t ZE_APICALL zeDeviceGetImageProperties(ze_device_handle_t handle,
                                                  ze_device_image_properties_t *out) {
    return fill_properties(handle, out, [](Device &, ze_device_image_properties_t &properties) {
        properties.maxImageDims1D = most_image_width;
        properties.maxImageDims2D = most_image_width;
        properties.maxImageDims3D = most_image_depth;
        properties.maxImageBufferSize = 0;
        properties.maxImageArraySlices = most_image_depth;
        properties.maxSamplers = 16;
        properties.maxReadImageArgs = properties.maxWriteImageArgs = 128;
    });
}

ze_result_t ZE_APICALL zeDeviceGetExternalMemoryProperties(
    ze_device_handle_t handle, ze_device_external_memory_properties_t *out) {
    return fill_properties(
        handle, out, [](Device &, ze_device_external_memory_properties_t &properties) {
            properties.memoryAllocationImportTypes = properties.memoryAllocationExportTypes =
                ZE_EXTERNAL_MEMORY_TYPE_FLAG_OPAQUE_FD | ZE_EXTERNAL_MEMORY_TYPE_FLAG_DMA_BUF;
        });
}

ze_result_t ZE_APICALL zeDeviceGetP2PProperties(ze_device_handle_t handle, ze_device_handle_t peer,
                                                ze_device_p2p_properties_t *out) {
    return fill_properties(handle, out,
                           [&](Device &device, ze_device_p2p_properties_t &properties) {
                               if (driver().reaches(device, driver().device(peer)))
                                   properties.flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS |
                                                      ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
                           });
}

ze_result_t ZE_APICALL zeDeviceCanAccessPeer(ze_device_handle_t handle, ze_device_handle_t peer,
                                             ze_bool_t *out) {
    return call_on(handle, [&](Device &device) {
        Device &other = driver().device(peer);
        need_pointers(out);
        *out = driver().config.peers_disagree || driver().reaches(device, other);
    });
}

ze_result_t ZE_APICALL zeDeviceGetStatus(ze_device_handle_t handle) {
    return call_on(handle, [](Device &device) { need(!device.lost, ZE_RESULT_ERROR_DEVICE_LOST); });
}

ze_result_t ZE_APICALL zeDeviceGetGlobalTimestamps(ze_device_handle_t handle, uint64_t *host,
                                                   uint64_t *ticks) {
    return call_on(handle, [&](Device &device) {
        need_pointers(host, ticks);
        need(!device.lost, ZE_RESULT_ERROR_DEVICE_LOST);
        const std::uint64_t now = device_ticks();
        *host = now * tick_nanoseconds;
        *ticks = low_bits(now, timestamp_bits);
    });
}

ze_result_t ZE_APICALL zeDevicePciGetPropertiesExt(ze_device_handle_t handle,
                                                   ze_pci_ext_properties_t *out) {
    return fill_properties(handle, out, [](Device &device, ze_pci_ext_properties_t &properties) {
        ze_pci_address_ext_t &at = properties.address;
        const std::string &text = device.model.pci_address;
        if (std::sscanf(text.c_str(), "%x:%x:%x.%x", &at.domain, &at.bus, &at.device,
                        &at.function) != 4)
            throw Failure{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE};
        properties.maxSpeed = {-1, -1, -1};
    });
}
