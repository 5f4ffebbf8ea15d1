// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arrays, and the textures and surfaces by which kernels access them.
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <utility>

using namespace pi_cuda_test;
using Catch::Contains;

namespace {

CUDA_ARRAY3D_DESCRIPTOR array_desc(size_t width, size_t height = 0, size_t depth = 0,
                                   unsigned flags = CUDA_ARRAY3D_SURFACE_LDST) {
    CUDA_ARRAY3D_DESCRIPTOR description{};
    description.Width = width;
    description.Height = height;
    description.Depth = depth;
    description.Format = CU_AD_FORMAT_UNSIGNED_INT8;
    description.NumChannels = 4;
    description.Flags = flags;
    return description;
}

CUresult create(const CUDA_ARRAY3D_DESCRIPTOR &description) {
    CUarray array = nullptr;
    const CUresult code = cu().cuArray3DCreate_v2(&array, &description);
    if (code == CUDA_SUCCESS)
        CHECK(cu().cuArrayDestroy(array) == CUDA_SUCCESS);
    return code;
}

struct Array {
    explicit Array(const CUDA_ARRAY3D_DESCRIPTOR &description = array_desc(4, 2)) {
        REQUIRE(cu().cuArray3DCreate_v2(&handle, &description) == CUDA_SUCCESS);
        resource.resType = CU_RESOURCE_TYPE_ARRAY;
        resource.res.array.hArray = handle;
    }
    Array(const Array &) = delete;
    ~Array() { destroy(); }
    void destroy() {
        if (handle)
            CHECK(cu().cuArrayDestroy(std::exchange(handle, nullptr)) == CUDA_SUCCESS);
    }
    CUarray handle = nullptr;
    CUDA_RESOURCE_DESC resource{};
};

/// What a kernel receives for the object; see kernels.c.
std::vector<std::uint8_t> describe(const char *pass, unsigned long long object) {
    const Module module(std::string("function describe_image ") + pass + " pointer\n");
    const Memory out(64);
    const Stream stream;
    CUdeviceptr address = out.address;
    CHECK(launch(module.function("describe_image"), 1, 1, {&object, &address}, stream.handle) ==
          CUDA_SUCCESS);
    stream.finish();
    return read(out.address, 64);
}

CUtexObject make_texture(const Array &array, const CUDA_TEXTURE_DESC &how = {}) {
    CUtexObject texture = 0;
    REQUIRE(cu().cuTexObjectCreate(&texture, &array.resource, &how, nullptr) == CUDA_SUCCESS);
    return texture;
}

} // namespace

TEST_CASE("An array has consistent axes, none longer than the device's limit") {
    const Current left(0);
    constexpr unsigned layers = CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_SURFACE_LDST;
    CHECK(create(array_desc(4)) == CUDA_SUCCESS);
    CHECK(create(array_desc(4, 2)) == CUDA_SUCCESS);
    CHECK(create(array_desc(4, 2, 3)) == CUDA_SUCCESS);
    CHECK(create(array_desc(4, 0, 3, layers)) == CUDA_SUCCESS);
    CHECK(create(array_desc(4, 2, 3, layers)) == CUDA_SUCCESS);
    CHECK(create(array_desc(4, 0, 3)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(create(array_desc(4, 2, 0, layers)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(create(array_desc(0, 2)) == CUDA_ERROR_INVALID_VALUE);
    CHECK(create(array_desc(4, 2, 2049, layers)) == CUDA_ERROR_INVALID_VALUE);
    // Surfaces have a smaller limit than textures.
    CHECK(create(array_desc(32769, 0, 0, 0)) == CUDA_SUCCESS);
    CHECK(create(array_desc(32769)) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("A copy of an array has whole elements, and is in the array's context") {
    const Current left(0);
    const Array array;
    const Memory memory(64);
    CUDA_MEMCPY3D copy{};
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array.handle;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = memory.address;
    copy.dstPitch = 16;
    copy.WidthInBytes = 8;
    copy.Height = copy.Depth = 1;
    CHECK(cu().cuMemcpy3D_v2(&copy) == CUDA_SUCCESS);
    copy.srcXInBytes = 2;
    CHECK(cu().cuMemcpy3D_v2(&copy) == CUDA_ERROR_INVALID_VALUE);
    copy.srcXInBytes = 4;
    copy.WidthInBytes = 6;
    CHECK(cu().cuMemcpy3D_v2(&copy) == CUDA_ERROR_INVALID_VALUE);
    copy.WidthInBytes = 8;
    const Current other(1);
    const Memory there(64);
    copy.dstDevice = there.address;
    CHECK(cu().cuMemcpy3D_v2(&copy) == CUDA_ERROR_INVALID_HANDLE);
}

TEST_CASE("A kernel reads a texture by its descriptor, and a surface's raw bytes") {
    const Current left(0);
    const Array array;
    CUDA_TEXTURE_DESC how{};
    for (CUaddress_mode &mode : how.addressMode)
        mode = CU_TR_ADDRESS_MODE_MIRROR;
    how.filterMode = CU_TR_FILTER_MODE_LINEAR;
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    const CUtexObject texture = make_texture(array, how);
    const auto read = describe("texture", texture);
    const auto word = [](const std::vector<std::uint8_t> &bytes, size_t i) {
        return bytes[4 * i]; // all values are small
    };
    CHECK(word(read, 0) == 2); // PI_IMAGE_2D
    CHECK(word(read, 1) == 3); // PI_CHANNEL_ORDER_RGBA
    CHECK(word(read, 2) == 1); // PI_CHANNEL_UNORM8
    CHECK(word(read, 3) == 4);
    CHECK(word(read, 4) == 2);
    CHECK(word(read, 6) == 0xcb); // fresh memory
    CHECK(word(read, 7) == 1);
    CHECK(word(read, 8) == 4); // PI_ADDRESSING_MIRRORED_REPEAT
    CHECK(word(read, 9) == 1);
    CUsurfObject surface = 0;
    REQUIRE(cu().cuSurfObjectCreate(&surface, &array.resource) == CUDA_SUCCESS);
    const auto loaded = describe("surface", surface);
    CHECK(word(loaded, 2) == 5); // PI_CHANNEL_UINT8
    CHECK(word(loaded, 7) == 99);
    CHECK(cu().cuSurfObjectDestroy(surface) == CUDA_SUCCESS);
    CHECK(cu().cuTexObjectDestroy(texture) == CUDA_SUCCESS);
}

TEST_CASE("An unsupported texture, or one of another context, is refused") {
    const Current left(0);
    const Array array;
    CUtexObject texture = 0;
    const auto refused = [&](auto change) {
        CUDA_TEXTURE_DESC how{};
        CUDA_RESOURCE_DESC resource = array.resource;
        change(how, resource);
        return cu().cuTexObjectCreate(&texture, &resource, &how, nullptr);
    };
    CHECK(refused([](auto &how, auto &) { // integers are not filtered
              how.filterMode = CU_TR_FILTER_MODE_LINEAR;
              how.flags = CU_TRSF_READ_AS_INTEGER;
              how.addressMode[0] = how.addressMode[1] = how.addressMode[2] =
                  CU_TR_ADDRESS_MODE_CLAMP;
          }) == CUDA_ERROR_INVALID_VALUE);
    // A zeroed descriptor wraps, which needs normalised coordinates.
    CHECK(refused([](auto &, auto &) {}) == CUDA_ERROR_INVALID_VALUE);
    CHECK(refused([](auto &, auto &resource) { resource.res.array.hArray = nullptr; }) ==
          CUDA_ERROR_INVALID_HANDLE);
    CHECK(refused([](auto &, auto &resource) {
              resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
          }) == CUDA_ERROR_NOT_SUPPORTED);
    CUsurfObject surface = 0;
    const Array plain(array_desc(4, 2, 0, 0));
    CHECK(cu().cuSurfObjectCreate(&surface, &plain.resource) == CUDA_ERROR_INVALID_VALUE);
    const Current other(1);
    CHECK(cu().cuSurfObjectCreate(&surface, &array.resource) == CUDA_ERROR_INVALID_HANDLE);
}

namespace {

CUDA_TEXTURE_DESC clamped() {
    CUDA_TEXTURE_DESC how{};
    for (CUaddress_mode &mode : how.addressMode)
        mode = CU_TR_ADDRESS_MODE_CLAMP;
    return how;
}

CUDA_RESOURCE_DESC row_of(CUdeviceptr address, size_t bytes) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear = {address, CU_AD_FORMAT_UNSIGNED_INT16, 2, bytes};
    return resource;
}

CUDA_RESOURCE_DESC rows_of(CUdeviceptr address, size_t width, size_t height, size_t pitch) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D = {address, CU_AD_FORMAT_FLOAT, 1, width, height, pitch};
    return resource;
}

CUresult try_texture(const CUDA_RESOURCE_DESC &resource, const CUDA_TEXTURE_DESC &how) {
    CUtexObject texture = 0;
    const CUresult code = cu().cuTexObjectCreate(&texture, &resource, &how, nullptr);
    if (code == CUDA_SUCCESS)
        CHECK(cu().cuTexObjectDestroy(texture) == CUDA_SUCCESS);
    return code;
}

} // namespace

TEST_CASE("A texture of linear memory has the device's alignments, and so do its rows") {
    const Current left(0);
    const Memory memory(4096);
    const CUdeviceptr at = memory.address;
    CHECK(try_texture(row_of(at, 64), clamped()) == CUDA_SUCCESS);
    CHECK(try_texture(row_of(at + 512, 64), clamped()) == CUDA_SUCCESS);
    CHECK(try_texture(row_of(at + 256, 64), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(row_of(at, 0), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(row_of(at, 4100), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(rows_of(at, 8, 4, 32), clamped()) == CUDA_SUCCESS);
    CHECK(try_texture(rows_of(at, 8, 4, 40), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(rows_of(at, 9, 4, 32), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(rows_of(at, 8, 0, 32), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(rows_of(at, 8, 129, 32), clamped()) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(rows_of(at + 32, 8, 4, 32), clamped()) == CUDA_ERROR_INVALID_VALUE);
    // One row can be fetched from, not sampled.
    CUDA_TEXTURE_DESC filters = clamped();
    filters.filterMode = CU_TR_FILTER_MODE_LINEAR;
    CHECK(try_texture(row_of(at, 64), filters) == CUDA_ERROR_INVALID_VALUE);
    CHECK(try_texture(rows_of(at, 8, 4, 32), filters) == CUDA_SUCCESS);
    CUsurfObject surface = 0;
    const CUDA_RESOURCE_DESC row = row_of(at, 64);
    CHECK(cu().cuSurfObjectCreate(&surface, &row) == CUDA_ERROR_INVALID_VALUE);
}

namespace {

/// The result of work that uses the object. It destroys the context, which the caller then leaves.
CUresult end_of_use(const char *pass, unsigned long long object) {
    const Module module(std::string("function describe_image ") + pass + " pointer\n");
    const Memory out(64);
    CUdeviceptr address = out.address;
    CHECK(launch(module.function("describe_image"), 1, 1, {&object, &address}, nullptr) ==
          CUDA_SUCCESS);
    return cu().cuCtxSynchronize();
}

CUDA_TEXTURE_DESC normalized() {
    CUDA_TEXTURE_DESC how{};
    how.flags = CU_TRSF_NORMALIZED_COORDINATES;
    return how;
}

} // namespace

TEST_CASE("Injected: a texture of a destroyed array is an illegal address to kernels") {
    const Current left(0);
    Array array;
    const CUtexObject texture = make_texture(array, normalized());
    array.destroy();
    CHECK(end_of_use("texture", texture) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("Injected: a texture of freed memory is an illegal address to kernels") {
    const Current left(0);
    CUdeviceptr address = 0;
    REQUIRE(cu().cuMemAlloc_v2(&address, 4096) == CUDA_SUCCESS);
    const CUDA_RESOURCE_DESC resource = rows_of(address, 8, 4, 32);
    const CUDA_TEXTURE_DESC how = clamped();
    CUtexObject texture = 0;
    REQUIRE(cu().cuTexObjectCreate(&texture, &resource, &how, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuMemFree_v2(address) == CUDA_SUCCESS);
    CHECK(end_of_use("texture", texture) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("Injected: a destroyed texture, or one used as a surface, is an illegal address") {
    const bool destroyed = GENERATE(false, true);
    const Current left(0);
    CUarray array = nullptr;
    const CUDA_ARRAY3D_DESCRIPTOR description = array_desc(4, 2);
    REQUIRE(cu().cuArray3DCreate_v2(&array, &description) == CUDA_SUCCESS);
    CUDA_RESOURCE_DESC resource{};
    resource.res.array.hArray = array;
    const CUDA_TEXTURE_DESC how = normalized();
    CUtexObject texture = 0;
    REQUIRE(cu().cuTexObjectCreate(&texture, &resource, &how, nullptr) == CUDA_SUCCESS);
    if (destroyed)
        CHECK(cu().cuTexObjectDestroy(texture) == CUDA_SUCCESS);
    CHECK(end_of_use(destroyed ? "texture" : "surface", texture) == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("Injected: a texture or surface that is not destroyed is reported") {
    const Current left(0);
    const Array array;
    const CUtexObject texture = make_texture(array, normalized());
    CUsurfObject surface = 0;
    REQUIRE(cu().cuSurfObjectCreate(&surface, &array.resource) == CUDA_SUCCESS);
    CHECK_THAT(leaks(), Contains("1 texture object of device 0"));
    CHECK_THAT(leaks(), Contains("1 surface object of device 0"));
    CHECK(cu().cuTexObjectDestroy(texture) == CUDA_SUCCESS);
    CHECK(cu().cuTexObjectDestroy(texture) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cu().cuSurfObjectDestroy(surface) == CUDA_SUCCESS);
    CHECK_THAT(leaks(), !Contains("object"));
}
