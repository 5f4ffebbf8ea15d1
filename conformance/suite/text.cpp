// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "text.hpp"

#include <array>

namespace pi::suite {
namespace {

struct ResultName {
    pi_result code;
    const char *name;
};

#define PI_SUITE_RESULT(name)                                                                      \
    ResultName {                                                                                   \
        name, #name                                                                                \
    }
constexpr std::array result_names{
    PI_SUITE_RESULT(PI_SUCCESS),
    PI_SUITE_RESULT(PI_ERROR_INVALID_VALUE),
    PI_SUITE_RESULT(PI_ERROR_INVALID_NULL_POINTER),
    PI_SUITE_RESULT(PI_ERROR_INVALID_SIZE),
    PI_SUITE_RESULT(PI_ERROR_INVALID_ENUMERATION),
    PI_SUITE_RESULT(PI_ERROR_INVALID_DESCRIPTOR),
    PI_SUITE_RESULT(PI_ERROR_MISALIGNED_OFFSET),
    PI_SUITE_RESULT(PI_ERROR_MISALIGNED_POINTER),
    PI_SUITE_RESULT(PI_ERROR_INVALID_ALIGNMENT),
    PI_SUITE_RESULT(PI_ERROR_MEM_COPY_OVERLAP),
    PI_SUITE_RESULT(PI_ERROR_INVALID_WAIT_LIST),
    PI_SUITE_RESULT(PI_ERROR_INVALID_WORK_SIZE),
    PI_SUITE_RESULT(PI_ERROR_INVALID_ARGUMENTS),
    PI_SUITE_RESULT(PI_ERROR_INVALID_NAME),
    PI_SUITE_RESULT(PI_ERROR_INVALID_BINARY),
    PI_SUITE_RESULT(PI_ERROR_INVALID_OPERATION),
    PI_SUITE_RESULT(PI_ERROR_INVALID_NATIVE_HANDLE),
    PI_SUITE_RESULT(PI_ERROR_INVALID_LOADER),
    PI_SUITE_RESULT(PI_ERROR_INVALID_PLUGIN),
    PI_SUITE_RESULT(PI_ERROR_INVALID_PLATFORM),
    PI_SUITE_RESULT(PI_ERROR_INVALID_DEVICE),
    PI_SUITE_RESULT(PI_ERROR_INVALID_CONTEXT),
    PI_SUITE_RESULT(PI_ERROR_INVALID_QUEUE),
    PI_SUITE_RESULT(PI_ERROR_INVALID_MEM_OBJECT),
    PI_SUITE_RESULT(PI_ERROR_INVALID_EVENT),
    PI_SUITE_RESULT(PI_ERROR_INVALID_PROGRAM),
    PI_SUITE_RESULT(PI_ERROR_INVALID_KERNEL),
    PI_SUITE_RESULT(PI_ERROR_INVALID_SAMPLER),
    PI_SUITE_RESULT(PI_ERROR_INVALID_USM_POOL),
    PI_SUITE_RESULT(PI_ERROR_INVALID_USM_POINTER),
    PI_SUITE_RESULT(PI_ERROR_UNSUPPORTED_FEATURE),
    PI_SUITE_RESULT(PI_ERROR_OUT_OF_HOST_MEMORY),
    PI_SUITE_RESULT(PI_ERROR_OUT_OF_DEVICE_MEMORY),
    PI_SUITE_RESULT(PI_ERROR_OUT_OF_RESOURCES),
    PI_SUITE_RESULT(PI_ERROR_DEVICE_LOST),
    PI_SUITE_RESULT(PI_ERROR_UNAVAILABLE),
    PI_SUITE_RESULT(PI_ERROR_BUILD_FAILED),
    PI_SUITE_RESULT(PI_ERROR_DEPENDENCY_FAILED),
    PI_SUITE_RESULT(PI_ERROR_ABANDONED),
    PI_SUITE_RESULT(PI_ERROR_TIMEOUT),
    PI_SUITE_RESULT(PI_ERROR_WOULD_BLOCK),
    PI_SUITE_RESULT(PI_ERROR_PROFILING_UNAVAILABLE),
    PI_SUITE_RESULT(PI_ERROR_BACKEND),
    PI_SUITE_RESULT(PI_ERROR_INTERNAL),
};
#undef PI_SUITE_RESULT

} // namespace

std::string hex(uint64_t number) {
    return join("0x", std::hex, number);
}

std::string first_line(const std::string &text) {
    return text.substr(0, text.find('\n'));
}

std::string result_name(pi_result code) {
    for (const ResultName &row : result_names) {
        if (row.code == code)
            return row.name;
    }
    return join("the unknown result ", code);
}

std::string last_error_text() {
    const char *message = "";
    piGetLastError(nullptr, &message);
    return message != nullptr ? message : "";
}

std::string last_error() {
    pi_result code = PI_SUCCESS;
    piGetLastError(&code, nullptr);
    return join(result_name(code), ": ", last_error_text());
}

} // namespace pi::suite
