// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain device memory for other drivers: a dma-buf is simulated by a file in memory that has the
// same pages.
#include "driver.hpp"

#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace pi::cuda::simulated {

SharedPart::~SharedPart() {
    close(file);
}

namespace {

constexpr size_t host_page = 4096;

/// The allocation that contains the range; throws INVALID_VALUE, or NOT_SUPPORTED for another kind
/// of memory.
std::shared_ptr<Allocation> memory_of(CUdeviceptr address, size_t size) {
    need(size > 0 && address % host_page == 0 && size % host_page == 0, CUDA_ERROR_INVALID_VALUE);
    const std::shared_ptr<Allocation> memory = find_allocation(address);
    need(memory && !memory->freeing, CUDA_ERROR_INVALID_VALUE);
    need(memory->kind == Kind::device, CUDA_ERROR_NOT_SUPPORTED);
    need(size <= memory->size - (address - memory->address), CUDA_ERROR_INVALID_VALUE);
    return memory;
}

/// Moves the range's bytes to a file of its own, mapped at the driver's address of the range.
std::shared_ptr<SharedPart> move_to_file(Allocation &memory, size_t offset, size_t size) {
    auto part = std::make_shared<SharedPart>();
    part->offset = offset;
    part->size = size;
    part->file = memfd_create("pi_simulated_cuda_dma_buf", MFD_CLOEXEC);
    need(part->file >= 0 && ftruncate(part->file, static_cast<off_t>(size)) == 0,
         CUDA_ERROR_OUT_OF_MEMORY);
    char *const bytes = memory.bytes + offset;
    need(pwrite(part->file, bytes, size, 0) == static_cast<ssize_t>(size),
         CUDA_ERROR_OPERATING_SYSTEM);
    need(mmap(bytes, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, part->file, 0) !=
             MAP_FAILED,
         CUDA_ERROR_OUT_OF_MEMORY);
    return part;
}

std::shared_ptr<SharedPart> part_of(Lock &lock, const std::shared_ptr<Allocation> &memory,
                                    size_t offset, size_t size) {
    for (const std::shared_ptr<SharedPart> &part : memory->shared) {
        if (part->offset == offset && part->size == size)
            return part;
        need(offset >= part->offset + part->size || part->offset >= offset + size,
             CUDA_ERROR_NOT_SUPPORTED);
    }
    // No work may write between the copy of the bytes and the remapping.
    std::vector<Point> points;
    for (const auto &[handle, context] : driver().contexts)
        for (const Point &point : work_of(*context))
            points.push_back(point);
    driver().wait(lock, points);
    return memory->shared.emplace_back(move_to_file(*memory, offset, size));
}

} // namespace

} // namespace pi::cuda::simulated

namespace pi::cuda {

using namespace simulated;

CUresult cuMemGetHandleForAddressRange(void *out, CUdeviceptr address, size_t size,
                                       CUmemRangeHandleType type, unsigned long long flags) {
    return call_in_context([&](const std::shared_ptr<Context> &, Lock &lock) {
        need(out && type == CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, CUDA_ERROR_INVALID_VALUE);
        need(flags == 0, CUDA_ERROR_NOT_SUPPORTED);
        const std::shared_ptr<Allocation> memory = memory_of(address, size);
        need(attribute_of(*memory->context->device, CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED),
             CUDA_ERROR_NOT_SUPPORTED);
        const auto part = part_of(lock, memory, address - memory->address, size);
        // Each caller gets its own descriptor; close-on-exec is left to the caller.
        const int file = dup(part->file);
        need(file >= 0, CUDA_ERROR_OPERATING_SYSTEM);
        std::memcpy(out, &file, sizeof file);
        return CUDA_SUCCESS;
    });
}

} // namespace pi::cuda
