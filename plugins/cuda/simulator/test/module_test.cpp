// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fixture.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace pi_cuda_test;

namespace {

constexpr const char *all_kernels = "function count_up pointer 4\n"
                                    "function copy_words pointer pointer\n"
                                    "function look_at_shared pointer shared\n"
                                    "function read_counter pointer\n"
                                    "function meet pointer\n"
                                    "variable counter 16\n";

std::vector<std::uint32_t> words(CUdeviceptr address, size_t count) {
    const auto bytes = read(address, count * 4);
    std::vector<std::uint32_t> result(count);
    std::memcpy(result.data(), bytes.data(), bytes.size());
    return result;
}

} // namespace

TEST_CASE("A kernel runs over its grid, on values as they were at the launch") {
    const Current left(0);
    const Module module(all_kernels);
    const Stream stream;
    const Memory memory(400);
    CUdeviceptr address = memory.address;
    std::uint32_t value = 7;
    {
        Gate gate(stream.handle);
        CHECK(launch(module.function("count_up"), 2, 32, {&address, &value}, stream.handle) ==
              CUDA_SUCCESS);
        value = 1000;
        address = 0;
    }
    const auto numbers = words(memory.address, 65);
    CHECK(numbers[0] == 7);
    CHECK(numbers[63] == 70);
    CHECK(numbers[64] == 0xcbcbcbcb);
}

TEST_CASE("Parameters are passed one by one or in a buffer, and can be queried") {
    const Current left(0);
    const Module module(all_kernels);
    const CUfunction function = module.function("count_up");
    const Memory memory(128);
    struct {
        CUdeviceptr address;
        std::uint32_t value;
    } values = {memory.address, 3};
    size_t size = 12;
    void *extra[] = {reinterpret_cast<void *>(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT), &values,
                     reinterpret_cast<void *>(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT), &size, nullptr};
    CHECK(cu().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) ==
          CUDA_SUCCESS);
    CHECK(words(memory.address, 32)[31] == 34);
    size = 8;
    CHECK(cu().cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, nullptr, nullptr, extra) ==
          CUDA_ERROR_INVALID_VALUE);
    size_t offset = 0;
    CHECK(cu().cuFuncGetParamInfo(function, 1, &offset, &size) == CUDA_SUCCESS);
    CHECK(offset == 8);
    CHECK(size == 4);
    CHECK(cu().cuFuncGetParamInfo(function, 2, &offset, &size) == CUDA_ERROR_INVALID_VALUE);
}

TEST_CASE("A kernel that uses inaccessible memory destroys its context") {
    const Current left(0);
    const Memory memory(256);
    const Current right(1);
    const Module module(all_kernels);
    CUdeviceptr address = memory.address;
    std::uint32_t value = 0;
    CHECK(launch(module.function("count_up"), 1, 32, {&address, &value}, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
}

TEST_CASE("A kernel that uses unpinned host memory destroys its context") {
    const Current left(0);
    const Module module(all_kernels);
    std::vector<std::uint32_t> mine(32);
    auto address = reinterpret_cast<CUdeviceptr>(mine.data());
    std::uint32_t value = 0;
    CHECK(launch(module.function("count_up"), 1, 32, {&address, &value}, nullptr) == CUDA_SUCCESS);
    CHECK(cu().cuCtxSynchronize() == CUDA_ERROR_ILLEGAL_ADDRESS);
    CHECK(mine[31] == 0);
}

TEST_CASE("Invalid launch dimensions are refused") {
    const Current left(0);
    const Module module(all_kernels);
    const CUfunction function = module.function("look_at_shared");
    const Memory memory(64);
    CUdeviceptr address = memory.address;
    std::uint64_t offset = 16;
    const std::vector<void *> values = {&address, &offset};
    CHECK(launch(function, 0, 32, values, nullptr, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(function, 1, 1025, values, nullptr, 64) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(function, 1, 32, values, nullptr, 8) == CUDA_ERROR_INVALID_VALUE);
    CHECK(launch(function, 1, 32, values, nullptr, 64 * 1024) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu().cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  64 * 1024) == CUDA_SUCCESS);
    CHECK(launch(function, 1, 32, values, nullptr, 64 * 1024) == CUDA_SUCCESS);
    CHECK(launch(nullptr, 1, 32, values, nullptr) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(cu().cuCtxSynchronize() == CUDA_SUCCESS);
}

TEST_CASE("Shared memory is each block's own, and poisoned") {
    const Current left(0);
    const Module module(all_kernels);
    const Memory memory(8);
    CUdeviceptr address = memory.address;
    std::uint64_t offset = 16;
    CHECK(launch(module.function("look_at_shared"), 8, 32, {&address, &offset}, nullptr, 64) ==
          CUDA_SUCCESS);
    for (const std::uint8_t byte : read(memory.address, 8))
        CHECK(byte == 0xcb);
}

TEST_CASE("Each module has its own variables, in device memory") {
    const Current left(0);
    const Module first(all_kernels), second(all_kernels);
    const Memory memory(16);
    CUdeviceptr address = memory.address, variable = 0;
    size_t size = 0;
    REQUIRE(cu().cuModuleGetGlobal_v2(&variable, &size, first.handle, "counter") == CUDA_SUCCESS);
    CHECK(size == 16);
    CHECK(cu().cuMemsetD32_v2(variable, 40, 4) == CUDA_SUCCESS);
    CHECK(launch(first.function("read_counter"), 1, 4, {&address}, nullptr) == CUDA_SUCCESS);
    CHECK(words(memory.address, 4) == std::vector<std::uint32_t>{40, 40, 40, 40});
    CHECK(words(variable, 1)[0] == 41);
    CHECK(launch(second.function("read_counter"), 1, 4, {&address}, nullptr) == CUDA_SUCCESS);
    CHECK(words(memory.address, 4) == std::vector<std::uint32_t>{1, 2, 3, 4});
    CHECK(cu().cuModuleGetGlobal_v2(&variable, &size, first.handle, "none") ==
          CUDA_ERROR_NOT_FOUND);
}

TEST_CASE("Blocks of a cooperative launch run concurrently if all fit on the device") {
    const Current left(0);
    const Module module(all_kernels);
    const CUfunction function = module.function("meet");
    const Memory memory(4);
    CUdeviceptr address = memory.address;
    void *parameters[] = {&address};
    int fit = 0;
    CHECK(cu().cuOccupancyMaxActiveBlocksPerMultiprocessor(&fit, function, 1024, 0) ==
          CUDA_SUCCESS);
    CHECK(fit == 2);
    CHECK(cu().cuMemsetD32_v2(memory.address, 0, 1) == CUDA_SUCCESS);
    CHECK(cu().cuLaunchCooperativeKernel(function, 8, 1, 1, 1024, 1, 1, 0, nullptr, parameters) ==
          CUDA_SUCCESS);
    CHECK(words(memory.address, 1)[0] == 8);
    CHECK(cu().cuLaunchCooperativeKernel(function, 9, 1, 1, 1024, 1, 1, 0, nullptr, parameters) ==
          CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
}

TEST_CASE("Images of real devices are refused with a log") {
    const Current left(0);
    CUmodule module = nullptr;
    char log[200] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    const auto load = [&](const char *image) {
        void *values[] = {log, reinterpret_cast<void *>(sizeof log)};
        const CUresult result = cu().cuModuleLoadDataEx(&module, image, 2, options, values);
        CHECK(reinterpret_cast<size_t>(values[1]) == std::strlen(log));
        return result;
    };
    CHECK(load(".version 8.0\n.target sm_90\n") == CUDA_ERROR_INVALID_PTX);
    CHECK(std::string(log).find("PTX") != std::string::npos);
    CHECK(load(".version 8.0\n.entry pi_copy_words()\n.entry other()") == CUDA_ERROR_INVALID_PTX);
    CHECK(load("\x7f"
               "ELF\x02\x01\x01") == CUDA_ERROR_NO_BINARY_FOR_GPU);
    CHECK(std::string(log).find("cubin") != std::string::npos);
    CHECK(load("nonsense") == CUDA_ERROR_INVALID_IMAGE);
    CHECK(load(image("function nothing pointer\n").c_str()) == CUDA_ERROR_INVALID_IMAGE);
    CHECK(std::string(log).find("'nothing'") != std::string::npos);
    CHECK(load(image("function count_up pointer\n").c_str()) == CUDA_ERROR_INVALID_IMAGE);
    CHECK(load("PI simulated CUDA module 1\nlibrary /no/such.so\n") == CUDA_ERROR_INVALID_IMAGE);
    CHECK(std::string(log).find("/no/such.so") != std::string::npos);
}

TEST_CASE("Functions end with their module") {
    const Current left(0);
    CUmodule module = nullptr;
    REQUIRE(cu().cuModuleLoadData(&module, image(all_kernels).c_str()) == CUDA_SUCCESS);
    CUfunction function = nullptr;
    CHECK(cu().cuModuleGetFunction(&function, module, "none") == CUDA_ERROR_NOT_FOUND);
    REQUIRE(cu().cuModuleGetFunction(&function, module, "meet") == CUDA_SUCCESS);
    CHECK(cu().cuModuleUnload(module) == CUDA_SUCCESS);
    CHECK(cu().cuModuleUnload(module) == CUDA_ERROR_INVALID_HANDLE);
    void *none = nullptr;
    CHECK(launch(function, 1, 1, {&none}, nullptr) == CUDA_ERROR_INVALID_HANDLE);
}
