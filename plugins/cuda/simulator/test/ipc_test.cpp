// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which memory can be exported by IPC, within one process; the plugin's ipc_test.cpp uses two.
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace pi_cuda_test;

namespace {

CUresult get_handle(CUdeviceptr address) {
    CUipcMemHandle handle{};
    return cu().cuIpcGetMemHandle(&handle, address);
}

bool capable(CUdeviceptr address) {
    bool answer = false;
    REQUIRE(cu().cuPointerGetAttribute(&answer, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                       address) == CUDA_SUCCESS);
    return answer;
}

} // namespace

TEST_CASE("An IPC handle exists for the beginning of plain memory only") {
    const Current left(0);
    CUdeviceptr freed = 0;
    {
        const Memory memory(4096);
        CHECK(get_handle(memory.address) == CUDA_SUCCESS);
        CHECK(capable(memory.address));
        CHECK(get_handle(memory.address + 64) == CUDA_ERROR_INVALID_VALUE);
        freed = memory.address;
    }
    CHECK(get_handle(freed) == CUDA_ERROR_INVALID_VALUE);

    const Stream stream;
    CUdeviceptr pooled = 0, managed = 0;
    REQUIRE(cu().cuMemAllocAsync(&pooled, 4096, stream.handle) == CUDA_SUCCESS);
    stream.finish();
    CHECK(get_handle(pooled) == CUDA_ERROR_INVALID_VALUE);
    CHECK_FALSE(capable(pooled));
    REQUIRE(cu().cuMemFreeAsync(pooled, stream.handle) == CUDA_SUCCESS);
    stream.finish();
    REQUIRE(cu().cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(get_handle(managed) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemFree_v2(managed) == CUDA_SUCCESS);
}

TEST_CASE("An IPC handle is for one allocation, and is opened with the only flag") {
    const Current left(0);
    const Memory one(4096), other(4096);
    CUipcMemHandle first{}, again{}, second{};
    REQUIRE(cu().cuIpcGetMemHandle(&first, one.address) == CUDA_SUCCESS);
    REQUIRE(cu().cuIpcGetMemHandle(&again, one.address) == CUDA_SUCCESS);
    REQUIRE(cu().cuIpcGetMemHandle(&second, other.address) == CUDA_SUCCESS);
    CHECK(std::memcmp(&first, &again, sizeof first) == 0);
    CHECK(std::memcmp(&first, &second, sizeof first) != 0);
    CUdeviceptr address = 0;
    CHECK(cu().cuIpcOpenMemHandle_v2(&address, first, 0) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuIpcOpenMemHandle_v2(&address, first, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) ==
          CUDA_ERROR_INVALID_CONTEXT); // in the exporter's own process
    CHECK(cu().cuIpcOpenMemHandle_v2(&address, CUipcMemHandle{},
                                     CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuIpcCloseMemHandle(one.address) == CUDA_ERROR_INVALID_VALUE);
}
