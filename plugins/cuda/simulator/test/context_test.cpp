// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <thread>

using namespace pi_cuda_test;

TEST_CASE("Calls that need a context refuse a thread that has none") {
    CUdeviceptr address = 0;
    CHECK(cu().cuMemAlloc_v2(&address, 64) == CUDA_ERROR_INVALID_CONTEXT);
    CUstream stream = nullptr;
    CHECK(cu().cuStreamCreate(&stream, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cu().cuCtxPopCurrent_v2(nullptr) == CUDA_ERROR_INVALID_CONTEXT);
    CUcontext context = reinterpret_cast<CUcontext>(1);
    CHECK(cu().cuCtxGetCurrent(&context) == CUDA_SUCCESS);
    CHECK(context == nullptr);
}

TEST_CASE("Each thread has its own current context") {
    const Current left(0);
    CUresult other = CUDA_SUCCESS;
    std::thread([&] { other = open_driver().cuCtxSynchronize(); }).join();
    CHECK(other == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("Contexts are pushed and popped like a stack, and set replaces the top") {
    const Current left(0);
    {
        const Current right(1);
        CUdevice device = -1;
        CHECK(cu().cuCtxGetDevice(&device) == CUDA_SUCCESS);
        CHECK(device == 1);
        CHECK(cu().cuCtxSetCurrent(left.context) == CUDA_SUCCESS);
        CHECK(cu().cuCtxGetDevice(&device) == CUDA_SUCCESS);
        CHECK(device == 0);
    }
    CUcontext now = nullptr;
    CHECK(cu().cuCtxGetCurrent(&now) == CUDA_SUCCESS);
    CHECK(now == left.context);
}

TEST_CASE("A primary context lives from the first retain to the last release") {
    unsigned flags = 1;
    int active = 1;
    CHECK(cu().cuDevicePrimaryCtxGetState(2, &flags, &active) == CUDA_SUCCESS);
    CHECK(active == 0);
    CUcontext first = nullptr, second = nullptr;
    CHECK(cu().cuDevicePrimaryCtxRetain(&first, 2) == CUDA_SUCCESS);
    CHECK(cu().cuDevicePrimaryCtxRetain(&second, 2) == CUDA_SUCCESS);
    CHECK(first == second);
    CHECK(cu().cuDevicePrimaryCtxRelease_v2(2) == CUDA_SUCCESS);
    CHECK(cu().cuCtxPushCurrent_v2(first) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(cu().cuDevicePrimaryCtxRelease_v2(2) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_CONTEXT_IS_DESTROYED);
    CHECK(cu().cuCtxPopCurrent_v2(nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuCtxPushCurrent_v2(first) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cu().cuDevicePrimaryCtxRelease_v2(2) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("A created context is current, and destroying it destroys its objects") {
    CUcontext context = nullptr;
    REQUIRE(cu().cuCtxCreate_v2(&context, 0, 0) == CUDA_SUCCESS);
    CUcontext now = nullptr;
    CHECK(cu().cuCtxGetCurrent(&now) == CUDA_SUCCESS);
    CHECK(now == context);
    CUstream stream = nullptr;
    CHECK(cu().cuStreamCreate(&stream, 0) == CUDA_SUCCESS);
    CHECK(cu().cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
    CHECK(cu().cuCtxDestroy_v2(context) == CUDA_SUCCESS);
    CHECK(cu().cuCtxDestroy_v2(context) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cu().cuCtxGetCurrent(&now) == CUDA_SUCCESS);
    CHECK(now == nullptr);
}

TEST_CASE("Work in another context than the current one is refused where the real driver does") {
    const Current left(0);
    const Stream stream;
    const Event event;
    Module module("function count_up pointer 4\n");
    const CUfunction function = module.function("count_up");
    const Memory memory(4096);
    std::uint32_t value = 0;
    CUdeviceptr address = memory.address;
    {
        const Current right(1);
        const Stream other;
        CHECK(launch(function, 1, 32, {&address, &value}, stream.handle) ==
              CUDA_ERROR_INVALID_HANDLE);
        CHECK(launch(function, 1, 32, {&address, &value}, other.handle) ==
              CUDA_ERROR_INVALID_CONTEXT);
        CHECK(cu().cuEventRecord(event.handle, other.handle) == CUDA_ERROR_INVALID_HANDLE);
        CHECK(cu().cuEventRecord(event.handle, stream.handle) == CUDA_SUCCESS);
        CHECK(cu().cuStreamWaitEvent(other.handle, event.handle, 0) == CUDA_SUCCESS);
        other.finish();
    }
    CHECK(launch(function, 1, 32, {&address, &value}, stream.handle) == CUDA_SUCCESS);
    stream.finish();
}

TEST_CASE("Peer access is enabled once, one way, where the machine has it") {
    const Current left(0);
    CUcontext lone = nullptr, right = nullptr;
    REQUIRE(cu().cuDevicePrimaryCtxRetain(&right, 1) == CUDA_SUCCESS);
    REQUIRE(cu().cuDevicePrimaryCtxRetain(&lone, 2) == CUDA_SUCCESS);
    CHECK(cu().cuCtxEnablePeerAccess(left.context, 0) == CUDA_ERROR_INVALID_CONTEXT);
    CHECK(cu().cuCtxEnablePeerAccess(right, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuCtxDisablePeerAccess(right) == CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    CHECK(cu().cuCtxEnablePeerAccess(right, 0) == CUDA_SUCCESS);
    CHECK(cu().cuCtxEnablePeerAccess(right, 0) == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    CHECK(cu().cuCtxEnablePeerAccess(lone, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    // on the same device, which counts as a peer; the environment allows one
    CUcontext second = nullptr;
    REQUIRE(cu().cuCtxCreate_v2(&second, 0, 0) == CUDA_SUCCESS);
    CHECK(cu().cuCtxPopCurrent_v2(nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuCtxEnablePeerAccess(second, 0) == CUDA_ERROR_TOO_MANY_PEERS);
    CHECK(cu().cuCtxDisablePeerAccess(right) == CUDA_SUCCESS);
    CHECK(cu().cuCtxEnablePeerAccess(second, 0) == CUDA_SUCCESS);
    CHECK(cu().cuCtxDestroy_v2(second) == CUDA_SUCCESS);
    CHECK(cu().cuDevicePrimaryCtxRelease_v2(1) == CUDA_SUCCESS);
    CHECK(cu().cuDevicePrimaryCtxRelease_v2(2) == CUDA_SUCCESS);
}

TEST_CASE("An illegal address destroys its context for good, and no other") {
    const Current left(0);
    const Memory memory(4096);
    {
        const Current right(1);
        const Memory own(4096);
        // Without peer access; the call itself cannot detect it.
        CHECK(cu().cuMemcpyDtoDAsync_v2(own.address, memory.address, 4096, nullptr) ==
              CUDA_SUCCESS);
        CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
        CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
        CUdeviceptr more = 0;
        CHECK(cu().cuMemAlloc_v2(&more, 64) == CUDA_ERROR_ILLEGAL_ADDRESS);
        CUstream stream = nullptr;
        CHECK(cu().cuStreamCreate(&stream, 0) == CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD8_v2(memory.address, 1, 4096) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    const Current again(1); // a new context is usable
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE(
    "With peer access a context uses the other's memory, and copies between peers need none") {
    const Current left(0);
    const Memory memory(256);
    CHECK(cu().cuMemsetD8_v2(memory.address, 7, 256) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    const Current right(1);
    const Memory own(256);
    CHECK(cu().cuMemcpyPeerAsync(own.address, right.context, memory.address, left.context, 128,
                                 nullptr) == CUDA_SUCCESS);
    const auto copied = read(own.address, 256);
    CHECK(copied[127] == 7);
    CHECK(copied[128] == 0xcb);
    CHECK(cu().cuCtxEnablePeerAccess(left.context, 0) == CUDA_SUCCESS);
    CHECK(cu().cuMemcpyDtoDAsync_v2(own.address, memory.address, 256, nullptr) == CUDA_SUCCESS);
    CHECK(read(own.address, 256)[255] == 7);
}
