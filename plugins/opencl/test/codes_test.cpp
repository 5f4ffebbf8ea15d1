// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table of the vendor's error codes.
#include <opencl.hpp>

#include <catch2/catch.hpp>

#include <string>

using namespace pi::opencl;

TEST_CASE("each OpenCL error code has a name and a pi_result") {
    // -1 to -19 and -30 to -72, without gaps.
    for (cl_int code = -1; code >= CL_MAX_SIZE_RESTRICTION_EXCEEDED; --code) {
        if (code < CL_KERNEL_ARG_INFO_NOT_AVAILABLE && code > CL_INVALID_VALUE)
            continue;
        INFO("code " << code);
        CHECK(std::string(error_name(code)).rfind("CL_", 0) == 0);
    }
    CHECK(std::string(error_name(-29)).rfind("CL_", 0) != 0);
    CHECK(to_result(CL_INVALID_IMAGE_DESCRIPTOR) == PI_ERROR_INVALID_VALUE);
    CHECK(to_result(CL_INVALID_SPEC_ID) == PI_ERROR_INVALID_VALUE);
    CHECK(to_result(CL_MAX_SIZE_RESTRICTION_EXCEEDED) == PI_ERROR_INVALID_ARGUMENTS);
    CHECK(to_result(-29) == PI_ERROR_BACKEND);
}
