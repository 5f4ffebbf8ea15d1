// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verification kernel in the formats that several plugins offer.
#include "skip.hpp"

#include <pi/sdk/verification_kernel.hpp>

#include <catch2/catch.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

using namespace pi::sdk;

TEST_CASE("the native verification kernel copies the words of its work-group") {
    const pi_verification_kernel kernel = native_verification_kernel();
    const auto &program = *static_cast<const pi_native_program *>(kernel.data);
    REQUIRE(program.kernel_count == 1);
    CHECK(program.kernels->name == std::string(kernel.name));
    std::array<uint32_t, 8> from{1, 2, 3, 4, 5, 6, 7, 8}, to{};
    void *const arguments[] = {from.data(), to.data()};
    pi_native_group group{};
    group.begin[0] = 2;
    group.end[0] = 5;
    program.kernels->function(&group, arguments);
    CHECK(to == std::array<uint32_t, 8>{0, 0, 3, 4, 5, 0, 0, 0});
}

TEST_CASE("the verification kernel in SPIR-V is a valid module") {
    if (std::string(PI_TEST_SPIRV_VAL).find("NOTFOUND") != std::string::npos) {
        pi_test::skip("there is no spirv-val");
        return;
    }
    const pi_verification_kernel kernel = spirv_verification_kernel();
    for (const char *target : {"spv1.0", "opencl1.2", "opencl2.2"}) {
        CAPTURE(target);
        const std::string command = std::string(PI_TEST_SPIRV_VAL) + " --target-env " + target;
        std::FILE *const validator = ::popen(command.c_str(), "w");
        REQUIRE(validator != nullptr);
        CHECK(std::fwrite(kernel.data, 1, kernel.size, validator) == kernel.size);
        CHECK(::pclose(validator) == 0);
    }
}
