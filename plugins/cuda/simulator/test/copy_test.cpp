// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <numeric>

using namespace pi_cuda_test;

namespace {

/// Pinned host memory.
struct Pinned {
    explicit Pinned(size_t size) {
        REQUIRE(cu().cuMemHostAlloc(&pointer, size, 0) == CUDA_SUCCESS);
    }
    Pinned(const Pinned &) = delete;
    ~Pinned() { cu().cuMemFreeHost(pointer); }
    std::uint8_t *bytes() const { return static_cast<std::uint8_t *>(pointer); }
    void *pointer = nullptr;
};

} // namespace

TEST_CASE("A copy from pageable memory has read it when the call returns, one from pinned memory "
          "has not") {
    const Current left(0);
    const Stream stream;
    const Memory memory(128);
    const Pinned pinned(64);
    std::vector<std::uint8_t> pageable(64, 1);
    std::fill_n(pinned.bytes(), 64, std::uint8_t(1));
    {
        Gate gate(stream.handle);
        CHECK(cu().cuMemcpyHtoDAsync_v2(memory.address, pageable.data(), 64, stream.handle) ==
              CUDA_SUCCESS);
        CHECK(cu().cuMemcpyHtoDAsync_v2(memory.address + 64, pinned.bytes(), 64, stream.handle) ==
              CUDA_SUCCESS);
        std::fill_n(pageable.data(), 64, std::uint8_t(2));
        std::fill_n(pinned.bytes(), 64, std::uint8_t(2));
    }
    const auto bytes = read(memory.address, 128);
    CHECK(bytes[0] == 1);
    CHECK(bytes[64] == 2);
}

TEST_CASE("A copy to pinned memory is asynchronous, one to pageable memory is complete on return") {
    const Current left(0);
    const Stream stream;
    const Memory memory(64);
    const Pinned pinned(64);
    std::fill_n(pinned.bytes(), 64, std::uint8_t(5));
    CHECK(cu().cuMemsetD8Async(memory.address, 6, 64, stream.handle) == CUDA_SUCCESS);
    {
        Gate gate(stream.handle);
        CHECK(cu().cuMemcpyDtoHAsync_v2(pinned.bytes(), memory.address, 64, stream.handle) ==
              CUDA_SUCCESS);
        CHECK(pinned.bytes()[0] == 5);
    }
    stream.finish();
    CHECK(pinned.bytes()[0] == 6);
    std::vector<std::uint8_t> pageable(64, 0);
    CHECK(cu().cuMemcpyDtoHAsync_v2(pageable.data(), memory.address, 64, stream.handle) ==
          CUDA_SUCCESS);
    CHECK(pageable[63] == 6);
}

TEST_CASE("Copies within the device and fills do not wait, even on the default stream") {
    const Current left(0);
    const Stream blocking(CU_STREAM_DEFAULT);
    const Memory from(64), to(64);
    const Event event;
    Gate gate(blocking.handle);
    CHECK(cu().cuMemsetD8_v2(from.address, 8, 64) == CUDA_SUCCESS);
    CHECK(cu().cuMemcpyDtoD_v2(to.address, from.address, 64) == CUDA_SUCCESS);
    CHECK(cu().cuEventRecord(event.handle, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuEventQuery(event.handle) == CUDA_ERROR_NOT_READY);
    gate.open();
    CHECK(read(to.address, 64)[63] == 8);
}

TEST_CASE("A device address is not a host pointer, and vice versa") {
    const Current left(0);
    const Memory memory(64);
    char mine[64] = {};
    CHECK(cu().cuMemcpyHtoD_v2(memory.address, reinterpret_cast<void *>(memory.address), 64) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemcpyDtoH_v2(mine, reinterpret_cast<CUdeviceptr>(mine), 64) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemcpyDtoD_v2(memory.address, reinterpret_cast<CUdeviceptr>(mine), 64) ==
          CUDA_ERROR_INVALID_VALUE);
    // For calls that accept both, the address decides.
    CHECK(cu().cuMemcpy(memory.address, reinterpret_cast<CUdeviceptr>(mine), 64) == CUDA_SUCCESS);
    CHECK(read(memory.address, 64)[63] == 0);
}

TEST_CASE("Copies of two and three dimensions move the box and nothing else") {
    const Current left(0);
    // A box of 3 x 2 x 2 from a dense volume of 5 x 4 x 3, to another position in one of 8 x 4 x 3.
    std::vector<std::uint8_t> source(60), back(96);
    std::iota(source.begin(), source.end(), std::uint8_t(0));
    const Memory memory(96);
    CUDA_MEMCPY3D in{};
    in.srcMemoryType = CU_MEMORYTYPE_HOST;
    in.srcHost = source.data();
    in.srcXInBytes = in.srcY = in.srcZ = 1;
    in.srcPitch = 5;
    in.srcHeight = 4;
    in.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    in.dstDevice = memory.address;
    in.dstXInBytes = 2;
    in.dstY = 1;
    in.dstPitch = 8;
    in.dstHeight = 4;
    in.WidthInBytes = 3;
    in.Height = in.Depth = 2;
    CHECK(cu().cuMemcpy3D_v2(&in) == CUDA_SUCCESS);
    back = read(memory.address, 96);
    for (size_t z = 0; z < 3; ++z)
        for (size_t y = 0; y < 4; ++y)
            for (size_t x = 0; x < 8; ++x) {
                const bool inside = x >= 2 && x < 5 && y >= 1 && y < 3 && z < 2;
                const size_t expected = inside ? (z + 1) * 20 + y * 5 + (x - 1) : 0xcb;
                CAPTURE(x, y, z);
                CHECK(back[z * 32 + y * 8 + x] == expected);
            }
    CUDA_MEMCPY2D out{};
    out.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    out.srcDevice = memory.address;
    out.srcXInBytes = 2;
    out.srcY = 1;
    out.srcPitch = 8;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back.data();
    out.dstPitch = 3;
    out.WidthInBytes = 3;
    out.Height = 2;
    CHECK(cu().cuMemcpy2D_v2(&out) == CUDA_SUCCESS);
    CHECK(back[0] == 26);
    CHECK(back[5] == 33);
    out.dstPitch = 2;
    CHECK(cu().cuMemcpy2D_v2(&out) == CUDA_ERROR_INVALID_VALUE);
    out.dstPitch = (64 << 10) + 1;
    CHECK(cu().cuMemcpy2D_v2(&out) == CUDA_ERROR_INVALID_VALUE);
    out.dstPitch = 3;
    out.Height = 100;
    CHECK(cu().cuMemcpy2D_v2(&out) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("A box is copied to a device without peer access if both contexts are named") {
    const Current left(0);
    const Memory from(64);
    CHECK(cu().cuMemsetD8_v2(from.address, 4, 64) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
    const Current lone(2);
    const Memory to(64);
    CUDA_MEMCPY3D_PEER box{};
    box.srcMemoryType = box.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    box.srcDevice = from.address;
    box.srcContext = left.context;
    box.dstDevice = to.address;
    box.dstContext = lone.context;
    box.srcPitch = box.dstPitch = 8;
    box.srcHeight = box.dstHeight = 8;
    box.WidthInBytes = 4;
    box.Height = 8;
    box.Depth = 1;
    CHECK(cu().cuMemcpy3DPeerAsync(&box, nullptr) == CUDA_SUCCESS);
    const auto bytes = read(to.address, 64);
    CHECK(bytes[59] == 4);
    CHECK(bytes[60] == 0xcb);
    box.srcContext = nullptr;
    CHECK(cu().cuMemcpy3DPeerAsync(&box, nullptr) == CUDA_ERROR_INVALID_CONTEXT);
}

TEST_CASE("Fills write words, rows and pitches") {
    const Current left(0);
    const Memory memory(64);
    CHECK(cu().cuMemsetD32_v2(memory.address, 0x04030201, 2) == CUDA_SUCCESS);
    CHECK(cu().cuMemsetD2D16_v2(memory.address + 16, 16, 0x0605, 3, 2) == CUDA_SUCCESS);
    const auto bytes = read(memory.address, 64);
    CHECK(bytes[4] == 1);
    CHECK(bytes[7] == 4);
    CHECK(bytes[8] == 0xcb);
    CHECK(bytes[32] == 5);
    CHECK(bytes[37] == 6);
    CHECK(bytes[38] == 0xcb);
    CHECK(cu().cuMemsetD32_v2(memory.address + 2, 0, 1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuMemsetD2D8_v2(memory.address, 4, 0, 5, 2) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("Arrays are written and read by copies within their bounds") {
    const Current left(0);
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = 4;
    description.Height = 2;
    description.Format = CU_AD_FORMAT_UNSIGNED_INT16;
    description.NumChannels = 2;
    CUarray array = nullptr;
    REQUIRE(cu().cuArray3DCreate_v2(&array, &description) == CUDA_SUCCESS);
    std::vector<std::uint8_t> source(32), back(32);
    std::iota(source.begin(), source.end(), std::uint8_t(0));
    CUDA_MEMCPY2D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = source.data();
    copy.srcPitch = 16;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    copy.WidthInBytes = 16;
    copy.Height = 2;
    CHECK(cu().cuMemcpy2D_v2(&copy) == CUDA_SUCCESS);
    copy.WidthInBytes = 17;
    copy.srcPitch = 17;
    CHECK(cu().cuMemcpy2D_v2(&copy) == CUDA_ERROR_INVALID_VALUE);
    CUDA_MEMCPY2D out{};
    out.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    out.srcArray = array;
    out.dstMemoryType = CU_MEMORYTYPE_HOST;
    out.dstHost = back.data();
    out.dstPitch = 16;
    out.WidthInBytes = 16;
    out.Height = 2;
    CHECK(cu().cuMemcpy2D_v2(&out) == CUDA_SUCCESS);
    CHECK(back == source);
    CHECK(cu().cuArrayDestroy(array) == CUDA_SUCCESS);
    CHECK(cu().cuMemcpy2D_v2(&out) == CUDA_ERROR_INVALID_HANDLE);
}
