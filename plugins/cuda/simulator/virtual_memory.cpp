// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Virtual memory management: cuMemCreate, cuMemAddressReserve, cuMemMap.
#include "driver.hpp"

#include <algorithm>
#include <cstdio>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace pi::cuda::simulated {

Physical::~Physical() {
    if (file >= 0)
        close(file);
    // Runs after cuMemRelease and the last unmapping, which hold the driver's lock.
    if (charged)
        device->used -= size;
}

namespace {

/// The same as on real devices.
constexpr size_t granularity = size_t(2) << 20;

void check_properties(const CUmemAllocationProp *properties) {
    need(properties && properties->type == CU_MEM_ALLOCATION_TYPE_PINNED &&
             properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE,
         CUDA_ERROR_INVALID_VALUE);
    need((properties->requestedHandleTypes & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0,
         CUDA_ERROR_NOT_SUPPORTED);
    driver().device(properties->location.id);
}

std::shared_ptr<Physical> physical_of(CUmemGenericAllocationHandle handle) {
    std::shared_ptr<Physical> physical = driver().physical.find(handle);
    need(physical != nullptr, CUDA_ERROR_INVALID_VALUE);
    return physical;
}

/// The file's name states the owning device: importers of the descriptor read it in /proc.
std::string name_of(int ordinal) {
    return "pi_simulated_cuda_" + std::to_string(ordinal);
}

int ordinal_of(int file) {
    char target[128] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(file);
    int ordinal = -1;
    if (readlink(link.c_str(), target, sizeof target - 1) > 0)
        std::sscanf(target, "/memfd:pi_simulated_cuda_%d", &ordinal);
    return ordinal;
}

void poison_file(int file, size_t size) {
    void *const bytes = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    need(bytes != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
    drivers::fill_with_poison(static_cast<char *>(bytes), size);
    munmap(bytes, size);
}

/// The reservation that contains the range.
Reservation &reservation_of(CUdeviceptr address, size_t size) {
    auto &all = driver().reservations;
    auto next = all.upper_bound(address);
    need(next != all.begin(), CUDA_ERROR_INVALID_VALUE);
    Reservation &found = std::prev(next)->second;
    const CUdeviceptr offset = address - found.address;
    need(offset < found.size && size <= found.size - offset, CUDA_ERROR_INVALID_VALUE);
    return found;
}

/// The mappings that exactly cover the range.
std::vector<std::shared_ptr<Allocation>> mappings_in(CUdeviceptr address, size_t size) {
    std::vector<std::shared_ptr<Allocation>> mappings;
    for (size_t seen = 0; seen < size; seen += mappings.back()->size) {
        const auto found = driver().allocations.find(address + seen);
        need(found != driver().allocations.end() && found->second->kind == Kind::mapping &&
                 found->second->size <= size - seen,
             CUDA_ERROR_INVALID_VALUE);
        mappings.push_back(found->second);
    }
    need(!mappings.empty(), CUDA_ERROR_INVALID_VALUE);
    return mappings;
}

/// Device memory that needs no current context: access is granted per device.
std::shared_ptr<Context> context_of(Device &device) {
    auto context = std::make_shared<Context>();
    context->device = &device;
    return context;
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemGetAllocationGranularity(size_t *out, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        check_properties(properties);
        *out = granularity;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *out, size_t size,
                     const CUmemAllocationProp *properties, unsigned long long flags) {
    return call([&](Lock &) {
        need(out && flags == 0 && size > 0 && size % granularity == 0, CUDA_ERROR_INVALID_VALUE);
        check_properties(properties);
        Device &device = driver().device(properties->location.id);
        auto physical = std::make_shared<Physical>();
        physical->size = size;
        physical->device = &device;
        charge(device, size);
        physical->charged = true;
        physical->properties = *properties;
        physical->file = memfd_create(name_of(device.ordinal).c_str(), MFD_CLOEXEC);
        need(physical->file >= 0 && ftruncate(physical->file, static_cast<off_t>(size)) == 0,
             CUDA_ERROR_OUT_OF_MEMORY);
        poison_file(physical->file, size);
        *out = driver().physical.add(physical);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
    return call([&](Lock &) {
        const std::shared_ptr<Physical> physical = physical_of(handle);
        driver().physical.erase(handle);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressReserve(CUdeviceptr *out, size_t size, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
    return call([&](Lock &) {
        need(out && flags == 0 && size > 0 && size % granularity == 0 &&
                 (alignment & (alignment - 1)) == 0,
             CUDA_ERROR_INVALID_VALUE);
        need(size < (size_t(1) << 46), CUDA_ERROR_OUT_OF_MEMORY);
        const size_t step = std::max(alignment, granularity);
        Reservation reservation;
        const auto range = reinterpret_cast<CUdeviceptr>(MmapRegion(size + step, true).release());
        reservation.address = (range + step - 1) / step * step;
        reservation.size = size;
        reservation.view = MmapRegion(size, true);
        *out = reservation.address;
        driver().reservations[reservation.address] = std::move(reservation);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size) {
    return call([&](Lock &) {
        const auto found = driver().reservations.find(address);
        need(found != driver().reservations.end() && found->second.size == size,
             CUDA_ERROR_INVALID_VALUE);
        const auto mapped = driver().allocations.lower_bound(address);
        need(mapped == driver().allocations.end() || mapped->first >= address + size,
             CUDA_ERROR_INVALID_VALUE);
        driver().reservations.erase(found);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
    return call([&](Lock &) {
        const std::shared_ptr<Physical> physical = physical_of(handle);
        need(flags == 0 && offset == 0 && size > 0 && size % granularity == 0 &&
                 address % granularity == 0 && size <= physical->size,
             CUDA_ERROR_INVALID_VALUE);
        Reservation &reservation = reservation_of(address, size);
        const auto next = driver().allocations.lower_bound(address);
        need(!find_allocation(address) &&
                 (next == driver().allocations.end() || next->first >= address + size),
             CUDA_ERROR_INVALID_VALUE);
        auto memory = std::make_shared<Allocation>();
        memory->kind = Kind::mapping;
        memory->address = address;
        memory->size = size;
        memory->bytes = reservation.view.bytes() + (address - reservation.address);
        memory->owner = physical;
        memory->context = context_of(*physical->device);
        void *const view = mmap(memory->bytes, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                                physical->file, 0);
        need(view != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
        remember(memory);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size) {
    return call([&](Lock &lock) {
        mappings_in(address, size);
        // Wait for all work: otherwise the view would be unmapped under work that uses it.
        std::vector<Point> points;
        for (const auto &[key, context] : driver().contexts)
            for (const Point &point : work_of(*context))
                points.push_back(point);
        driver().wait(lock, points);
        for (const std::shared_ptr<Allocation> &memory : mappings_in(address, size)) {
            mmap(memory->bytes, memory->size, PROT_NONE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
            forget(*memory);
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *grants,
                        size_t count) {
    return call([&](Lock &) {
        need(grants && count > 0, CUDA_ERROR_INVALID_VALUE);
        const auto mappings = mappings_in(address, size);
        for (size_t i = 0; i < count; ++i) {
            need(grants[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE, CUDA_ERROR_INVALID_VALUE);
            const auto user = static_cast<size_t>(driver().device(grants[i].location.id).ordinal);
            for (const std::shared_ptr<Allocation> &memory : mappings) {
                const auto owner = static_cast<size_t>(memory->context->device->ordinal);
                need(user == owner || driver().machine.access[user][owner],
                     CUDA_ERROR_INVALID_DEVICE);
                memory->access[grants[i].location.id] = grants[i].flags;
            }
        }
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAccess(unsigned long long *out, const CUmemLocation *location,
                        CUdeviceptr address) {
    return call([&](Lock &) {
        const std::shared_ptr<Allocation> memory = find_allocation(address);
        need(out && location && memory && memory->kind == Kind::mapping, CUDA_ERROR_INVALID_VALUE);
        const auto found = memory->access.find(location->id);
        *out = found == memory->access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
    return call([&](Lock &) {
        const std::shared_ptr<Physical> physical = physical_of(handle);
        need(out && flags == 0 && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
                 physical->properties.requestedHandleTypes == type,
             CUDA_ERROR_INVALID_VALUE);
        const int file = fcntl(physical->file, F_DUPFD_CLOEXEC, 0);
        need(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
        *static_cast<int *>(out) = file;
        return CUDA_SUCCESS;
    });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *out, void *os_handle,
                                        CUmemAllocationHandleType type) {
    return call([&](Lock &) {
        need(out && type == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, CUDA_ERROR_INVALID_VALUE);
        // The file descriptor is passed in place of a pointer.
        const int file = static_cast<int>(reinterpret_cast<intptr_t>(os_handle));
        const int ordinal = ordinal_of(file);
        struct stat status;
        need(ordinal >= 0 && fstat(file, &status) == 0, CUDA_ERROR_INVALID_VALUE);
        Device &device = driver().device(ordinal);
        auto physical = std::make_shared<Physical>();
        physical->file = fcntl(file, F_DUPFD_CLOEXEC, 0);
        need(physical->file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
        physical->size = static_cast<size_t>(status.st_size);
        physical->device = &device;
        physical->properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
        physical->properties.requestedHandleTypes = type;
        physical->properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
        *out = driver().physical.add(physical);
        return CUDA_SUCCESS;
    });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *out,
                                                CUmemGenericAllocationHandle handle) {
    return call([&](Lock &) {
        need(out, CUDA_ERROR_INVALID_VALUE);
        *out = physical_of(handle)->properties;
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
