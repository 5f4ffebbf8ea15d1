// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "virtual_memory.hpp"
#include "primary.hpp"

#include <utility>

namespace pi::cuda {

namespace {

CUmemAllocationProp properties_of(const Device &device) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device.id()};
    return properties;
}

/// Rounds the size up to the granularity of the device's virtual memory.
CUresult round_up(const Device &device, uint64_t &size) {
    const CUmemAllocationProp properties = properties_of(device);
    size_t granularity = 0;
    const CUresult code = device.api().cuMemGetAllocationGranularity(
        &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (code != CUDA_SUCCESS)
        return code;
    const uint64_t part = size % granularity;
    return part && __builtin_add_overflow(size, granularity - part, &size)
               ? CUDA_ERROR_OUT_OF_MEMORY
               : CUDA_SUCCESS;
}

/// The device itself and its possible peers, so that contexts created later have access as well.
std::vector<CUmemAccessDesc> grants_of(const Device &owner) {
    std::vector<CUmemAccessDesc> grants;
    for (const auto &device : owner.platform().devices()) {
        int possible = device.get() == &owner;
        if (possible || (owner.api().cuDeviceCanAccessPeer(&possible, device->id(), owner.id()) ==
                             CUDA_SUCCESS &&
                         possible))
            grants.push_back(
                {{CU_MEM_LOCATION_TYPE_DEVICE, device->id()}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE});
    }
    return grants;
}

} // namespace

CUresult VirtualMemory::create(Primary &primary, uint64_t size) {
    const CUmemAllocationProp properties = properties_of(primary.device());
    const CUresult code = round_up(primary.device(), size);
    return code != CUDA_SUCCESS ? code
                                : primary.api().cuMemCreate(&physical_, size, &properties, 0);
}

CUresult VirtualMemory::import(Primary &primary, int fd, CUdevice &device) {
    const Api &cu = primary.api();
    // The driver expects the file descriptor in place of the pointer.
    const CUresult code = cu.cuMemImportFromShareableHandle(
        &physical_, reinterpret_cast<void *>(static_cast<intptr_t>(fd)),
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    if (code != CUDA_SUCCESS)
        return code;
    CUmemAllocationProp properties{};
    const CUresult read = cu.cuMemGetAllocationPropertiesFromHandle(&properties, physical_);
    device = properties.location.id;
    return read;
}

CUresult VirtualMemory::map(Primary &primary, uint64_t size, uint64_t alignment,
                            CUdeviceptr &address) {
    const Api &cu = primary.api();
    if (const CUresult code = round_up(primary.device(), size); code != CUDA_SUCCESS)
        return code;
    if (const CUresult code = cu.cuMemAddressReserve(&address_, size, alignment, 0, 0);
        code != CUDA_SUCCESS)
        return code;
    size_ = size;
    if (const CUresult code = cu.cuMemMap(address_, size, 0, physical_, 0); code != CUDA_SUCCESS)
        return code;
    mapped_ = true;
    address = address_;
    const std::vector<CUmemAccessDesc> grants = grants_of(primary.device());
    return cu.cuMemSetAccess(address_, size, grants.data(), grants.size());
}

CUresult VirtualMemory::close(Primary &primary) {
    const Api &cu = primary.api();
    CUresult first = CUDA_SUCCESS;
    const auto note = [&](CUresult code) {
        if (first == CUDA_SUCCESS)
            first = code;
    };
    if (std::exchange(mapped_, false))
        note(cu.cuMemUnmap(address_, size_));
    if (const CUdeviceptr address = std::exchange(address_, 0))
        note(cu.cuMemAddressFree(address, size_));
    if (const auto physical = std::exchange(physical_, 0))
        note(cu.cuMemRelease(physical));
    return first;
}

bool has_virtual_memory(const Device &device) {
    const Api &cu = device.api();
    return device.attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) &&
           device.attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) &&
           cu.cuMemGetAllocationGranularity && cu.cuMemCreate && cu.cuMemRelease &&
           cu.cuMemAddressReserve && cu.cuMemAddressFree && cu.cuMemMap && cu.cuMemUnmap &&
           cu.cuMemSetAccess && cu.cuMemExportToShareableHandle &&
           cu.cuMemImportFromShareableHandle && cu.cuMemGetAllocationPropertiesFromHandle;
}

} // namespace pi::cuda
