// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copy.hpp"
#include "driver.hpp"
#include "pci.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace pi::cuda::simulated {

namespace {

/// Attributes that all devices share. An attribute that is not listed is unknown to the driver.
/// Never destroyed: exit handlers may call the driver.
const std::map<int, int> &attributes = *new std::map<int, int>{
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 48 * 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 227 * 1024},
    {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 228 * 1024},
    {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
    {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
    {CU_DEVICE_ATTRIBUTE_MAX_PITCH, static_cast<int>(max_pitch)},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
    {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
    {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 1000000},
    {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 64},
    {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 1 << 20},
    // As the vendor's: the id of the device, then that of NVIDIA.
    {CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID, 0x233010de},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
    {CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512},
    {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_MODE, 0},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1},
    {CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 0},
    {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
    {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
    {CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 2},
    {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
    {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
    {CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
    {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1},
    {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES, 0},
    {CU_DEVICE_ATTRIBUTE_DIRECT_MANAGED_MEM_ACCESS_FROM_HOST, 0},
    {CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1},
    {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1},
    {CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 0},
    {CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 0},
    {CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, 1},
    {CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 0},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH, 1 << 28},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT, 65000},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH, static_cast<int>(max_pitch)},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, 131072},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT, 65536},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH, 16384},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS, 2048},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT, 32768},
    {CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS, 2048},
};

PciAddress pci_of(const Device &device) {
    return pci_address(device.model, static_cast<size_t>(device.ordinal));
}

std::string pci_text(const Device &device) {
    const PciAddress address = pci_of(device);
    char text[32];
    std::snprintf(text, sizeof text, "%04x:%02x:%02x.0", address.domain, address.bus,
                  address.device);
    return text;
}

/// Hexadecimal digits as bytes; without digits they derive from the ordinal.
void read_hex(const std::string &digits, int ordinal, char *bytes, size_t size) {
    std::memset(bytes, 0, size);
    if (digits.size() != 2 * size) {
        std::memcpy(bytes, "PI sim", std::min<size_t>(size - 1, 6));
        bytes[size - 1] = static_cast<char>(ordinal + 1);
        return;
    }
    for (size_t i = 0; i < size; ++i)
        bytes[i] = static_cast<char>(std::strtoul(digits.substr(2 * i, 2).c_str(), nullptr, 16));
}

void copy_text(const std::string &text, char *out, int size) {
    need(out && size > 0, CUDA_ERROR_INVALID_VALUE);
    std::snprintf(out, static_cast<size_t>(size), "%s", text.c_str());
}

} // namespace

int attribute_of(const Device &device, CUdevice_attribute attribute) {
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        return device.model.compute_units;
    case CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS:
        return uses_pageable_memory(device);
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
        return driver().config.registration != Registration::none;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
        return device.model.integrated;
    case CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID:
        return static_cast<int>(pci_of(device).domain);
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
        return static_cast<int>(pci_of(device).bus);
    case CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID:
        return static_cast<int>(pci_of(device).device);
    default:
        break;
    }
    const auto found = attributes.find(attribute);
    need(found != attributes.end(), CUDA_ERROR_INVALID_VALUE);
    return found->second;
}

namespace {

template <class F>
CUresult call_on_device(CUdevice ordinal, F body) {
    return call([&](Lock &) {
        body(driver().device(ordinal));
        return CUDA_SUCCESS;
    });
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuDeviceGetCount(int *count) {
    return call([&](Lock &) {
        need(count, CUDA_ERROR_INVALID_VALUE);
        *count = static_cast<int>(driver().devices.size());
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGet(CUdevice *out, int ordinal) {
    return call_on_device(ordinal, [&](Device &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = ordinal;
    });
}

CUresult cuDeviceGetName(char *name, int size, CUdevice ordinal) {
    return call_on_device(ordinal, [&](Device &device) {
        copy_text(device.model.name + " (simulated)", name, size);
    });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice ordinal) {
    return call_on_device(ordinal, [&](Device &device) {
        need(uuid, CUDA_ERROR_INVALID_VALUE);
        read_hex(device.model.uuid, ordinal, uuid->bytes, sizeof uuid->bytes);
    });
}

CUresult cuDeviceGetLuid(char *luid, unsigned int *mask, CUdevice ordinal) {
    return call_on_device(ordinal, [&](Device &device) {
        need(luid && mask, CUDA_ERROR_INVALID_VALUE);
        // The real driver has them on Windows only.
        need(!device.model.luid.empty(), CUDA_ERROR_NOT_SUPPORTED);
        read_hex(device.model.luid, ordinal, luid, 8);
        *mask = 1;
    });
}

CUresult cuDeviceGetAttribute(int *out, CUdevice_attribute attribute, CUdevice ordinal) {
    return call_on_device(ordinal, [&](Device &device) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = attribute_of(device, attribute);
    });
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice ordinal) {
    return call_on_device(ordinal, [&](Device &device) {
        need(bytes, CUDA_ERROR_INVALID_VALUE);
        *bytes = device.model.capacity;
    });
}

CUresult cuDeviceGetPCIBusId(char *text, int size, CUdevice ordinal) {
    return call_on_device(ordinal,
                          [&](Device &device) { copy_text(pci_text(device), text, size); });
}

CUresult cuDeviceGetByPCIBusId(CUdevice *out, const char *text) {
    return call([&](Lock &) {
        need(out && text, CUDA_ERROR_INVALID_VALUE);
        for (const std::unique_ptr<Device> &device : driver().devices)
            if (pci_text(*device) == text) {
                *out = device->ordinal;
                return CUDA_SUCCESS;
            }
        return CUDA_ERROR_INVALID_DEVICE;
    });
}

CUresult cuDeviceCanAccessPeer(int *out, CUdevice user, CUdevice owner) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        driver().device(user);
        driver().device(owner);
        *out = driver().machine.access[static_cast<size_t>(user)][static_cast<size_t>(owner)];
        return CUDA_SUCCESS;
    });
}

CUresult cuDeviceGetP2PAttribute(int *out, CUdevice_P2PAttribute attribute, CUdevice user,
                                 CUdevice owner) {
    return call([&](Lock &) {
        need(out && attribute >= CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK &&
                 attribute <= CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED,
             CUDA_ERROR_INVALID_VALUE);
        driver().device(user);
        driver().device(owner);
        need(user != owner, CUDA_ERROR_INVALID_DEVICE);
        const drivers::LinkModel &link =
            driver().machine.links[static_cast<size_t>(user)][static_cast<size_t>(owner)];
        switch (attribute) {
        case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
            *out = link.kind != "nvlink"; // 0 is the best rank
            break;
        case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
            *out = link.access;
            break;
        case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
            *out = link.access && link.atomics;
            break;
        default:
            *out = 0;
        }
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
