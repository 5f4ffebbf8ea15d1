// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using namespace pi_cuda_test;

TEST_CASE("Stream-ordered memory is usable between its allocation and its free") {
    const Current left(0);
    const Stream stream;
    CUdeviceptr address = 0;
    REQUIRE(cu().cuMemAllocAsync(&address, 256, stream.handle) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8Async(address, 1, 256, stream.handle) == CUDA_SUCCESS);
    stream.finish();
    CHECK(read(address, 256)[255] == 1);
    CHECK(cu().cuMemFreeAsync(address, stream.handle) == CUDA_SUCCESS);
    CHECK(cu().cuMemFreeAsync(address, stream.handle) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemsetD8Async(address, 1, 256, stream.handle) == CUDA_ERROR_INVALID_VALUE);
    stream.finish();
}

TEST_CASE("Stream-ordered memory that another stream uses too early is an illegal address") {
    const Current left(0);
    const Stream stream, hasty;
    Gate gate(stream.handle);
    CUdeviceptr address = 0;
    REQUIRE(cu().cuMemAllocAsync(&address, 256, stream.handle) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8Async(address, 1, 256, hasty.handle) == CUDA_SUCCESS);
    CHECK(cu().cuStreamSynchronize(hasty.handle) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("A pool's memory is accessible to the devices that the pool grants, whatever peers are "
          "enabled") {
    const Current left(0);
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemoryPool pool = nullptr;
    REQUIRE(cu().cuMemPoolCreate(&pool, &properties) == CUDA_SUCCESS);
    CUdeviceptr address = 0;
    REQUIRE(cu().cuMemAllocFromPoolAsync(&address, 64, pool, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    const auto use_on_right = [&] {
        const Current right(1);
        CHECK(cu().cuCtxEnablePeerAccess(left.context, 0) == CUDA_SUCCESS);
        CHECK(cu().cuMemsetD8_v2(address, 2, 64) == CUDA_SUCCESS);
        return cu().cuCtxSynchronize();
    };
    CHECK(use_on_right() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CUcontext context = left.context;
    CHECK(cu().cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, address) ==
          CUDA_SUCCESS);
    CHECK(context == nullptr);
    CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cu().cuMemPoolSetAccess(pool, &grant, 1) == CUDA_SUCCESS);
    CHECK(use_on_right() == CUDA_SUCCESS);
    grant.location.id = 2;
    CHECK(cu().cuMemPoolSetAccess(pool, &grant, 1) == CUDA_ERROR_INVALID_DEVICE);
    CUmemAccess_flags flags{};
    CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 1};
    CHECK(cu().cuMemPoolGetAccess(&flags, pool, &location) == CUDA_SUCCESS);
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    std::uint64_t used = 0;
    CHECK(cu().cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) ==
          CUDA_SUCCESS);
    CHECK(used >= 64);
    CHECK(cu().cuMemFreeAsync(address, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(cu().cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used) ==
          CUDA_SUCCESS);
    CHECK(used == 0);
    CHECK(cu().cuMemPoolDestroy(pool) == CUDA_SUCCESS);
    CHECK(cu().cuMemPoolDestroy(pool) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("A pool's allocation waits for pending frees before it fails") {
    const Current lone(2);
    const size_t most = size_t(12) << 20; // of 16 MiB
    CUdeviceptr first = 0, second = 0;
    REQUIRE(cu().cuMemAllocAsync(&first, most, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuMemAllocAsync(&second, most, nullptr) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(cu().cuMemFreeAsync(first, nullptr) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemAllocAsync(&second, most, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuMemFreeAsync(second, nullptr) == CUDA_SUCCESS);
}

namespace {

constexpr size_t unit = size_t(2) << 20;

CUmemAllocationProp on_device(int ordinal) {
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, ordinal};
    return properties;
}

} // namespace

TEST_CASE("Physical memory is mapped at reserved addresses, and accessible to the devices that "
          "were set") {
    const Current left(0);
    const CUmemAllocationProp properties = on_device(0);
    size_t step = 0;
    CHECK(cu().cuMemGetAllocationGranularity(&step, &properties,
                                             CU_MEM_ALLOC_GRANULARITY_MINIMUM) == CUDA_SUCCESS);
    REQUIRE(step == unit);
    CUmemGenericAllocationHandle memory[2] = {};
    CUdeviceptr address = 0;
    CHECK(cu().cuMemCreate(&memory[0], unit + 1, &properties, 0) == CUDA_ERROR_INVALID_VALUE);
    REQUIRE(cu().cuMemCreate(&memory[0], unit, &properties, 0) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemCreate(&memory[1], unit, &properties, 0) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemAddressReserve(&address, 2 * unit, 0, 0, 0) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8_v2(address, 1, 64) == CUDA_ERROR_INVALID_VALUE); // nothing is mapped
    REQUIRE(cu().cuMemMap(address, unit, 0, memory[0], 0) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemMap(address + unit, unit, 0, memory[1], 0) == CUDA_SUCCESS);
    CHECK(cu().cuMemMap(address, unit, 0, memory[1], 0) == CUDA_ERROR_INVALID_VALUE);
    {
        const Current right(1); // access was not set
        CHECK(cu().cuMemsetD8_v2(address, 1, 64) == CUDA_SUCCESS);
        CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cu().cuMemSetAccess(address, 2 * unit, &grant, 1) == CUDA_SUCCESS);
    // Adjacent mappings are one range.
    CHECK(cu().cuMemsetD8_v2(address + unit - 8, 1, 16) == CUDA_SUCCESS);
    const auto bytes = read(address + unit - 16, 32);
    CHECK(bytes[7] == 0xcb);
    CHECK(bytes[8] == 1);
    CHECK(bytes[23] == 1);
    CHECK(bytes[24] == 0xcb);
    CHECK(cu().cuMemAddressFree(address, 2 * unit) == CUDA_ERROR_INVALID_VALUE); // mapped
    CHECK(cu().cuMemRelease(memory[0]) == CUDA_SUCCESS); // the mapping keeps it
    CHECK(read(address + unit - 1, 1)[0] == 1);
    CHECK(cu().cuMemUnmap(address, 2 * unit) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8_v2(address, 1, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemAddressFree(address, 2 * unit) == CUDA_SUCCESS);
    CHECK(cu().cuMemRelease(memory[1]) == CUDA_SUCCESS);
    CHECK(cu().cuMemRelease(memory[1]) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("Imported physical memory has the exporter's bytes") {
    const Current left(0);
    const CUmemAllocationProp properties = on_device(1);
    CUmemGenericAllocationHandle made = 0, imported = 0;
    REQUIRE(cu().cuMemCreate(&made, unit, &properties, 0) == CUDA_SUCCESS);
    int file = -1;
    REQUIRE(cu().cuMemExportToShareableHandle(&file, made, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                              0) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemImportFromShareableHandle(
                &imported, reinterpret_cast<void *>(static_cast<intptr_t>(file)),
                CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == CUDA_SUCCESS);
    close(file);
    CUmemAllocationProp found{};
    CHECK(cu().cuMemGetAllocationPropertiesFromHandle(&found, imported) == CUDA_SUCCESS);
    CHECK(found.location.id == 1);
    CUdeviceptr address = 0;
    REQUIRE(cu().cuMemAddressReserve(&address, 2 * unit, 0, 0, 0) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemMap(address, unit, 0, made, 0) == CUDA_SUCCESS);
    REQUIRE(cu().cuMemMap(address + unit, unit, 0, imported, 0) == CUDA_SUCCESS);
    const CUmemAccessDesc grant{{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cu().cuMemSetAccess(address, 2 * unit, &grant, 1) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8_v2(address + 5, 3, 1) == CUDA_SUCCESS);
    CHECK(read(address + unit, 6)[5] == 3);
    CHECK(cu().cuMemUnmap(address, 2 * unit) == CUDA_SUCCESS);
    CHECK(cu().cuMemAddressFree(address, 2 * unit) == CUDA_SUCCESS);
    CHECK(cu().cuMemRelease(made) == CUDA_SUCCESS);
    CHECK(cu().cuMemRelease(imported) == CUDA_SUCCESS);
}
