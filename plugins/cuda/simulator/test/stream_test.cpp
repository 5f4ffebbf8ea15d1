// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <atomic>

using namespace pi_cuda_test;

TEST_CASE("Work is asynchronous, and in the order of its stream") {
    const Current left(0);
    const Stream stream;
    const Memory memory(64);
    {
        Gate gate(stream.handle);
        CHECK(cu().cuMemsetD8Async(memory.address, 1, 64, stream.handle) == CUDA_SUCCESS);
        CHECK(cu().cuMemsetD8Async(memory.address, 2, 32, stream.handle) == CUDA_SUCCESS);
        CHECK(cu().cuStreamQuery(stream.handle) == CUDA_ERROR_NOT_READY);
        gate.open();
        stream.finish();
        CHECK(cu().cuStreamQuery(stream.handle) == CUDA_SUCCESS);
    }
    const auto bytes = read(memory.address, 64);
    CHECK(bytes[31] == 2);
    CHECK(bytes[32] == 1);
}

TEST_CASE("Streams do not wait for each other, unless an event says so") {
    const Current left(0);
    const Stream first, second;
    const Event event(CU_EVENT_DISABLE_TIMING);
    Gate gate(first.handle);
    CHECK(cu().cuEventRecord(event.handle, first.handle) == CUDA_SUCCESS);
    second.finish(); // it is not ordered behind the first
    CHECK(cu().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY);
    CHECK(cu().cuStreamWaitEvent(second.handle, event.handle, 0) == CUDA_SUCCESS);
    CHECK(cu().cuStreamQuery(second.handle) == CUDA_ERROR_NOT_READY);
    gate.open();
    second.finish();
    CHECK(cu().cuEventQuery(event.handle) == CUDA_SUCCESS);
}

TEST_CASE("Waiting for an event waits for its last record at the time of the call") {
    const Current left(0);
    const Stream first, second, third;
    const Event event;
    second.finish();
    CHECK(cu().cuEventQuery(event.handle) == CUDA_SUCCESS); // never recorded
    CHECK(cu().cuEventRecord(event.handle, first.handle) == CUDA_SUCCESS);
    CHECK(cu().cuStreamWaitEvent(third.handle, event.handle, 0) == CUDA_SUCCESS);
    Gate gate(second.handle);
    CHECK(cu().cuEventRecord(event.handle, second.handle) == CUDA_SUCCESS);
    third.finish(); // it waited for the first record
    CHECK(cu().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY);
    gate.open();
    CHECK(cu().cuEventSynchronize(event.handle) == CUDA_SUCCESS);
}

TEST_CASE("The legacy default stream and blocking streams wait for each other") {
    const Current left(0);
    const Stream blocking(CU_STREAM_DEFAULT), apart(CU_STREAM_NON_BLOCKING);
    const Event event;
    {
        Gate gate(blocking.handle);
        CHECK(cu().cuEventRecord(event.handle, nullptr) == CUDA_SUCCESS);
        CHECK(cu().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY);
        apart.finish();
        gate.open();
        CHECK(cu().cuEventSynchronize(event.handle) == CUDA_SUCCESS);
    }
    {
        Gate gate(PI_CUDA_STREAM_LEGACY);
        CHECK(cu().cuEventRecord(event.handle, blocking.handle) == CUDA_SUCCESS);
        CHECK(cu().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY);
        CHECK(cu().cuEventRecord(event.handle, PI_CUDA_STREAM_PER_THREAD) == CUDA_SUCCESS);
        CHECK(cu().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY);
        apart.finish();
    }
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("Synchronizing a context waits for all of its streams") {
    const Current left(0);
    const Stream first, second;
    std::atomic<int> done{0};
    const auto count = [](void *data) { ++*static_cast<std::atomic<int> *>(data); };
    CHECK(cu().cuLaunchHostFunc(first.handle, count, &done) == CUDA_SUCCESS);
    CHECK(cu().cuLaunchHostFunc(second.handle, count, &done) == CUDA_SUCCESS);
    CHECK(cu().cuLaunchHostFunc(nullptr, count, &done) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(done == 3);
}

TEST_CASE("A host function may not call the driver") {
    const Current left(0);
    const Stream stream;
    CUresult inside = CUDA_SUCCESS;
    const auto function = [](void *data) {
        *static_cast<CUresult *>(data) = open_driver().cuCtxSynchronize();
    };
    CHECK(cu().cuLaunchHostFunc(stream.handle, function, &inside) == CUDA_SUCCESS);
    stream.finish();
    CHECK(inside == CUDA_ERROR_NOT_PERMITTED);
}

TEST_CASE("Callbacks receive the context's error; host functions are not called after one") {
    CUresult status = CUDA_SUCCESS;
    std::atomic<bool> called{false};
    {
        const Current left(0);
        Memory memory(64);
        const Current right(1);
        const Stream stream;
        const Memory own(64);
        Gate gate(stream.handle);
        CHECK(cu().cuMemcpyDtoDAsync_v2(own.address, memory.address, 64, stream.handle) ==
              CUDA_SUCCESS);
        CHECK(cu().cuLaunchHostFunc(
                  stream.handle, [](void *data) { *static_cast<std::atomic<bool> *>(data) = true; },
                  &called) == CUDA_SUCCESS);
        CHECK(cu().cuStreamAddCallback(
                  stream.handle,
                  [](CUstream, CUresult result, void *data) {
                      *static_cast<CUresult *>(data) = result;
                  },
                  &status, 0) == CUDA_SUCCESS);
        gate.open();
        CHECK(cu().cuStreamSynchronize(stream.handle) == CUDA_ERROR_ILLEGAL_ADDRESS);
    }
    CHECK(status == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK_FALSE(called);
}

TEST_CASE("A destroyed stream or event is not a valid handle, but its work goes on") {
    const Current left(0);
    CUstream stream = nullptr;
    CUevent event = nullptr;
    REQUIRE(cu().cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -100) == CUDA_SUCCESS);
    REQUIRE(cu().cuEventCreate(&event, 0) == CUDA_SUCCESS);
    int priority = 0;
    CHECK(cu().cuStreamGetPriority(stream, &priority) == CUDA_SUCCESS);
    CHECK(priority == -5);
    const Memory memory(64);
    Gate gate(stream);
    CHECK(cu().cuMemsetD8Async(memory.address, 9, 64, stream) == CUDA_SUCCESS);
    CHECK(cu().cuEventRecord(event, stream) == CUDA_SUCCESS);
    CHECK(cu().cuStreamDestroy_v2(stream) == CUDA_SUCCESS);
    CHECK(cu().cuEventDestroy_v2(event) == CUDA_SUCCESS);
    gate.open();
    CHECK(read(memory.address, 64)[63] == 9);
    CHECK(cu().cuStreamSynchronize(stream) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cu().cuStreamDestroy_v2(stream) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cu().cuMemsetD8Async(memory.address, 9, 64, stream) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cu().cuEventQuery(event) == CUDA_ERROR_INVALID_HANDLE);
    // A handle is valid for its own kind only.
    CHECK(cu().cuEventQuery(reinterpret_cast<CUevent>(Stream().handle)) ==
          CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("Events measure the time between them, if both are complete and have timing") {
    const Current left(0);
    const Stream stream;
    const Event start, end, timeless(CU_EVENT_DISABLE_TIMING);
    float milliseconds = -1;
    CHECK(cu().cuEventElapsedTime(&milliseconds, start.handle, end.handle) ==
          CUDA_ERROR_INVALID_HANDLE);
    CHECK(cu().cuEventRecord(start.handle, stream.handle) == CUDA_SUCCESS);
    CHECK(cu().cuEventRecord(timeless.handle, stream.handle) == CUDA_SUCCESS);
    {
        Gate gate(stream.handle);
        CHECK(cu().cuEventRecord(end.handle, stream.handle) == CUDA_SUCCESS);
        CHECK(cu().cuEventSynchronize(start.handle) == CUDA_SUCCESS);
        CHECK(cu().cuEventElapsedTime(&milliseconds, start.handle, end.handle) ==
              CUDA_ERROR_NOT_READY);
    }
    stream.finish();
    CHECK(cu().cuEventElapsedTime_v2(&milliseconds, start.handle, end.handle) == CUDA_SUCCESS);
    CHECK(milliseconds >= 0);
    CHECK(cu().cuEventElapsedTime(&milliseconds, start.handle, timeless.handle) ==
          CUDA_ERROR_INVALID_HANDLE);
}
