// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <unistd.h>

using namespace pi_cuda_test;

TEST_CASE("Fresh memory is poisoned, at an address that no memory had before") {
    const Current left(0);
    Memory first(1000);
    const auto bytes = read(first.address, 1000);
    CHECK(std::all_of(bytes.begin(), bytes.end(), [](std::uint8_t b) { return b == 0xcb; }));
    const CUdeviceptr address = first.address;
    CHECK(first.free() == CUDA_SUCCESS);
    const Memory second(1000);
    CHECK(second.address != address);
}

TEST_CASE("A freed pointer is an error wherever it is used") {
    const Current left(0);
    Memory memory(4096);
    const CUdeviceptr stale = memory.address;
    CHECK(memory.free() == CUDA_SUCCESS);
    CHECK(cu().cuMemFree_v2(stale) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemsetD8_v2(stale, 0, 16) == CUDA_ERROR_INVALID_VALUE);
    char byte = 0;
    CHECK(cu().cuMemcpyHtoD_v2(stale, &byte, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemcpyDtoH_v2(&byte, stale, 1) == CUDA_ERROR_INVALID_VALUE);
    unsigned type = 0;
    CHECK(cu().cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, stale) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("A range beyond the end of its memory is refused") {
    const Current left(0);
    const Memory memory(4096);
    CHECK(cu().cuMemsetD8_v2(memory.address + 4000, 0, 96) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8_v2(memory.address + 4000, 0, 97) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemFree_v2(memory.address + 1) == CUDA_ERROR_INVALID_VALUE);
    CUdeviceptr base = 0;
    size_t size = 0;
    CHECK(cu().cuMemGetAddressRange_v2(&base, &size, memory.address + 100) == CUDA_SUCCESS);
    CHECK(base == memory.address);
    CHECK(size == 4096);
}

TEST_CASE("A pitched allocation has rows with gaps, and refuses what the real one refuses") {
    const Current left(0);
    CUdeviceptr address = 0;
    size_t pitch = 0, size = 0;
    for (const unsigned element : {4U, 8U, 16U}) {
        CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 100, 7, element) == CUDA_SUCCESS);
        CHECK(pitch >= 100);
        CHECK(pitch % 256 == 0);
        CHECK(address % 256 == 0);
        CHECK(cu().cuMemGetAddressRange_v2(nullptr, &size, address) == CUDA_SUCCESS);
        CHECK(size == 7 * pitch);
        // All copies and fills with pitches accept it.
        CHECK(cu().cuMemsetD2D8_v2(address, pitch, 1, 100, 7) == CUDA_SUCCESS);
        CHECK(cu().cuMemFree_v2(address) == CUDA_SUCCESS);
    }
    for (const unsigned element : {0U, 1U, 2U, 3U, 12U, 32U})
        CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 100, 7, element) ==
              CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 0, 7, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 100, 0, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAllocPitch_v2(&address, nullptr, 100, 7, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAllocPitch_v2(nullptr, &pitch, 100, 7, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 65537, 7, 4) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 100, 1 << 20, 4) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cu().cuMemAllocPitch_v2(&address, &pitch, 100, SIZE_MAX / 2, 4) ==
          CUDA_ERROR_OUT_OF_MEMORY);
}

TEST_CASE("Whole pages of plain memory are exported as a file with the same bytes") {
    const Current left(0);
    const Memory memory(3 * 4096);
    const auto give = [&](int *out, CUdeviceptr address, size_t size) {
        return cu().cuMemGetHandleForAddressRange(out, address, size,
                                                  CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    };
    int file = -1, again = -1;
    CHECK(cu().cuMemsetD8_v2(memory.address, 7, 3 * 4096) == CUDA_SUCCESS);
    CHECK(give(&file, memory.address, 2 * 4096) == CUDA_SUCCESS);
    CHECK(give(&again, memory.address, 2 * 4096) == CUDA_SUCCESS);
    CHECK(file != again);
    CHECK(lseek(file, 0, SEEK_END) == 2 * 4096);
    CHECK(cu().cuMemsetD8_v2(memory.address + 4096, 8, 2 * 4096) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    unsigned char bytes[2] = {};
    CHECK(pread(again, bytes, 2, 4095) == 2);
    CHECK(bytes[0] == 7);
    CHECK(bytes[1] == 8);
    CHECK(pwrite(file, "x", 1, 5000) == 1);
    CHECK(read(memory.address + 5000, 1)[0] == 'x');
    close(file);
    close(again);

    CHECK(give(nullptr, memory.address, 4096) == CUDA_ERROR_INVALID_VALUE);
    CHECK(give(&file, memory.address + 512, 4096) == CUDA_ERROR_INVALID_VALUE);
    CHECK(give(&file, memory.address, 100) == CUDA_ERROR_INVALID_VALUE);
    CHECK(give(&file, memory.address, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(give(&file, memory.address + 2 * 4096, 2 * 4096) == CUDA_ERROR_INVALID_VALUE);
    CHECK(give(&file, memory.address + 4096, 4096) == CUDA_ERROR_NOT_SUPPORTED); // overlaps
    CHECK(cu().cuMemGetHandleForAddressRange(&file, memory.address, 4096, CUmemRangeHandleType(0),
                                             0) == CUDA_ERROR_INVALID_VALUE);
    // Whole pages are not enough: the allocation must contain them.
    const Memory less(100);
    CHECK(give(&file, less.address, 4096) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("A device's capacity is enforced") {
    const Current left(0);
    size_t before = 0, free = 0, total = 0;
    CHECK(cu().cuMemGetInfo_v2(&before, &total) == CUDA_SUCCESS);
    CHECK(total == size_t(64) << 20);
    CUdeviceptr address = 0;
    CHECK(cu().cuMemAlloc_v2(&address, total + 1) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cu().cuMemAlloc_v2(&address, size_t(-1)) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cu().cuMemAlloc_v2(&address, 0) == CUDA_ERROR_INVALID_VALUE);
    Memory most(before);
    CHECK(cu().cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS);
    CHECK(free == 0);
    CHECK(cu().cuMemAlloc_v2(&address, 1) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(most.free() == CUDA_SUCCESS);
    CHECK(cu().cuMemGetInfo_v2(&free, &total) == CUDA_SUCCESS);
    CHECK(free == before);
}

TEST_CASE("Pinned and managed memory have one address for the host and all devices") {
    const Current left(0);
    void *pinned = nullptr;
    REQUIRE(cu().cuMemHostAlloc(&pinned, 64, CU_MEMHOSTALLOC_PORTABLE) == CUDA_SUCCESS);
    CUdeviceptr address = 0, managed = 0;
    CHECK(cu().cuMemHostGetDevicePointer_v2(&address, pinned, 0) == CUDA_SUCCESS);
    CHECK(address == reinterpret_cast<CUdeviceptr>(pinned));
    REQUIRE(cu().cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8_v2(address, 3, 64) == CUDA_SUCCESS);
    CHECK(cu().cuMemcpyDtoD_v2(managed, address, 64) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(static_cast<char *>(pinned)[63] == 3);
    CHECK(reinterpret_cast<char *>(managed)[63] == 3);
    CHECK(cu().cuMemFree_v2(address) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemPrefetchAsync(managed, 64, 1, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuMemPrefetchAsync(managed, 65, 1, nullptr) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAdvise(address, 64, CU_MEM_ADVISE_SET_READ_MOSTLY, 0) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemFree_v2(managed) == CUDA_SUCCESS);
    CHECK(cu().cuMemFreeHost(pinned) == CUDA_SUCCESS);
    CHECK(cu().cuMemFreeHost(pinned) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("Memory of the application is registered once, and unregistered by its first byte") {
    const Current left(0);
    std::vector<char> mine(8192);
    CHECK(cu().cuMemHostRegister_v2(mine.data(), 4096, 0) == CUDA_SUCCESS);
    CHECK(cu().cuMemHostRegister_v2(mine.data() + 4095, 16, 0) ==
          CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    unsigned flags = 0;
    CHECK(cu().cuMemHostGetFlags(&flags, mine.data() + 5) == CUDA_SUCCESS);
    CHECK(cu().cuMemHostUnregister(mine.data() + 1) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
    CHECK(cu().cuMemHostUnregister(mine.data()) == CUDA_SUCCESS);
    CHECK(cu().cuMemHostUnregister(mine.data()) == CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_CASE("Pointer attributes describe the memory of an address") {
    const Current right(1);
    const Memory memory(512);
    const auto ask = [&](auto value, CUpointer_attribute attribute, CUdeviceptr address) {
        CHECK(cu().cuPointerGetAttribute(&value, attribute, address) == CUDA_SUCCESS);
        return value;
    };
    const CUdeviceptr inside = memory.address + 9;
    CHECK(ask(0U, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, inside) == CU_MEMORYTYPE_DEVICE);
    CHECK(ask(CUcontext(), CU_POINTER_ATTRIBUTE_CONTEXT, inside) == right.context);
    CHECK(ask(-1, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, inside) == 1);
    CHECK(ask(CUdeviceptr(), CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, inside) == memory.address);
    CHECK(ask(size_t(), CU_POINTER_ATTRIBUTE_RANGE_SIZE, inside) == 512);
    void *host = nullptr;
    CHECK(cu().cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_HOST_POINTER, inside) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuPointerGetAttribute(&host, CU_POINTER_ATTRIBUTE_CONTEXT,
                                     reinterpret_cast<CUdeviceptr>(&host)) ==
          CUDA_ERROR_INVALID_VALUE);
}
