// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The simulated driver's linker.
#include "fixture.hpp"
#include "parts.hpp"

#include <catch2/catch.hpp>

#include <cstring>

using namespace pi_cuda_test;

namespace {

/// A link with a buffer for its log.
class Link {
public:
    Link() {
        names_[0] = CU_JIT_ERROR_LOG_BUFFER;
        names_[1] = CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES;
        values_[0] = log_;
        values_[1] = reinterpret_cast<void *>(sizeof log_);
        REQUIRE(cu().cuLinkCreate_v2(2, names_, values_, &handle) == CUDA_SUCCESS);
    }
    Link(const Link &) = delete;
    ~Link() { cu().cuLinkDestroy(handle); }
    CUresult add(const std::string &text, CUjitInputType type = CU_JIT_INPUT_PTX,
                 size_t left_out = 0) {
        return cu().cuLinkAddData_v2(handle, type, const_cast<char *>(text.c_str()),
                                     text.size() + 1 - left_out, "part", 0, nullptr, nullptr);
    }
    CUresult complete() { return cu().cuLinkComplete(handle, &cubin, &size); }
    std::string log() const { return log_; }

    CUlinkState handle = nullptr;
    void *cubin = nullptr;
    size_t size = 0;

private:
    char log_[256] = {};
    CUjit_option names_[2];
    void *values_[2];
};

} // namespace

TEST_CASE("Parts that are linked call each other") {
    const Current left(0);
    CUmodule module = nullptr;
    {
        Link link;
        CHECK(link.add(image(caller)) == CUDA_SUCCESS);
        CHECK(link.add(image(callee)) == CUDA_SUCCESS);
        REQUIRE(link.complete() == CUDA_SUCCESS);
        CHECK(link.log().empty());
        REQUIRE(cu().cuModuleLoadData(
                    &module, std::string(static_cast<char *>(link.cubin), link.size).c_str()) ==
                CUDA_SUCCESS);
        CHECK(cu().cuLinkAddData_v2(link.handle, CU_JIT_INPUT_PTX, const_cast<char *>("x"), 2, "",
                                    0, nullptr, nullptr) == CUDA_ERROR_INVALID_VALUE);
    }
    CUfunction function = nullptr;
    REQUIRE(cu().cuModuleGetFunction(&function, module, "change") == CUDA_SUCCESS);
    const Memory memory(16);
    CHECK(cu().cuMemsetD32_v2(memory.address, 5, 4) == CUDA_SUCCESS);
    CUdeviceptr address = memory.address;
    CHECK(launch(function, 1, 4, {&address}, nullptr) == CUDA_SUCCESS);
    std::uint32_t word = 0;
    std::memcpy(&word, read(memory.address, 4).data(), 4);
    CHECK(word == 16);
    CHECK(cu().cuModuleUnload(module) == CUDA_SUCCESS);
}

TEST_CASE("Parts that do not fit together fail to link, and the log says why") {
    const Current left(0);
    Link alone;
    CHECK(alone.add(image(caller)) == CUDA_SUCCESS);
    CHECK(alone.complete() == CUDA_ERROR_INVALID_IMAGE);
    CHECK_THAT(alone.log(), Catch::Contains("Undefined reference to 'changed'"));
    Link twins;
    for (int i = 0; i < 2; ++i)
        CHECK(twins.add(image(callee)) == CUDA_SUCCESS);
    CHECK(twins.complete() == CUDA_ERROR_INVALID_IMAGE);
    CHECK_THAT(twins.log(), Catch::Contains("Multiple definition of 'changed'"));
    CUmodule module = nullptr;
    CHECK(cu().cuModuleLoadData(&module, image(caller).c_str()) == CUDA_ERROR_INVALID_PTX);
}

TEST_CASE("An invalid part is refused when it is added; the other parts stay") {
    const Current left(0);
    Link link;
    CHECK(link.complete() == CUDA_ERROR_INVALID_VALUE);
    CHECK(link.add(image(callee)) == CUDA_SUCCESS);
    CHECK(link.add(image("nonsense\n")) == CUDA_ERROR_INVALID_IMAGE);
    CHECK_THAT(link.log(), Catch::Contains("nonsense"));
    CHECK(link.add(".version 8.0\n") == CUDA_ERROR_INVALID_PTX);
    CHECK(link.add(image(caller), CU_JIT_INPUT_PTX, 1) == CUDA_ERROR_INVALID_PTX);
    CHECK(link.add(image(caller), CU_JIT_INPUT_CUBIN, 1) == CUDA_SUCCESS);
    CUjit_option option = CU_JIT_ERROR_LOG_BUFFER;
    char log[8];
    void *value = log;
    CHECK(cu().cuLinkAddData_v2(link.handle, CU_JIT_INPUT_CUBIN,
                                const_cast<char *>(image(callee).c_str()), 4, "", 1, &option,
                                &value) == CUDA_ERROR_INVALID_VALUE);
    CHECK(link.complete() == CUDA_SUCCESS);
}

TEST_CASE("A destroyed link state is not a valid handle; one that is not destroyed is a leak") {
    const Current left(0);
    CUlinkState state = nullptr;
    REQUIRE(cu().cuLinkCreate_v2(0, nullptr, nullptr, &state) == CUDA_SUCCESS);
    CHECK_THAT(leaks(), Catch::Contains("1 link state of device 0"));
    CHECK(cu().cuLinkDestroy(state) == CUDA_SUCCESS);
    CHECK(cu().cuLinkDestroy(state) == CUDA_ERROR_INVALID_HANDLE);
    void *cubin = nullptr;
    CHECK(cu().cuLinkComplete(state, &cubin, nullptr) == CUDA_ERROR_INVALID_HANDLE);
}
