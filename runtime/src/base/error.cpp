// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <pi/runtime/error.hpp>

#include <array>
#include <string_view>

namespace pi::runtime {
namespace {

struct ResultName {
    pi_result result;
    const char *name;
};

#define PI_RESULT_NAME(result)                                                                     \
    ResultName {                                                                                   \
        result, #result                                                                            \
    }
constexpr std::array result_names{
    PI_RESULT_NAME(PI_SUCCESS),
    PI_RESULT_NAME(PI_ERROR_INVALID_VALUE),
    PI_RESULT_NAME(PI_ERROR_INVALID_NULL_POINTER),
    PI_RESULT_NAME(PI_ERROR_INVALID_SIZE),
    PI_RESULT_NAME(PI_ERROR_INVALID_ENUMERATION),
    PI_RESULT_NAME(PI_ERROR_INVALID_DESCRIPTOR),
    PI_RESULT_NAME(PI_ERROR_MISALIGNED_OFFSET),
    PI_RESULT_NAME(PI_ERROR_MISALIGNED_POINTER),
    PI_RESULT_NAME(PI_ERROR_INVALID_ALIGNMENT),
    PI_RESULT_NAME(PI_ERROR_MEM_COPY_OVERLAP),
    PI_RESULT_NAME(PI_ERROR_INVALID_WAIT_LIST),
    PI_RESULT_NAME(PI_ERROR_INVALID_WORK_SIZE),
    PI_RESULT_NAME(PI_ERROR_INVALID_ARGUMENTS),
    PI_RESULT_NAME(PI_ERROR_INVALID_NAME),
    PI_RESULT_NAME(PI_ERROR_INVALID_BINARY),
    PI_RESULT_NAME(PI_ERROR_INVALID_OPERATION),
    PI_RESULT_NAME(PI_ERROR_INVALID_NATIVE_HANDLE),
    PI_RESULT_NAME(PI_ERROR_INVALID_LOADER),
    PI_RESULT_NAME(PI_ERROR_INVALID_PLUGIN),
    PI_RESULT_NAME(PI_ERROR_INVALID_PLATFORM),
    PI_RESULT_NAME(PI_ERROR_INVALID_DEVICE),
    PI_RESULT_NAME(PI_ERROR_INVALID_CONTEXT),
    PI_RESULT_NAME(PI_ERROR_INVALID_QUEUE),
    PI_RESULT_NAME(PI_ERROR_INVALID_MEM_OBJECT),
    PI_RESULT_NAME(PI_ERROR_INVALID_EVENT),
    PI_RESULT_NAME(PI_ERROR_INVALID_PROGRAM),
    PI_RESULT_NAME(PI_ERROR_INVALID_KERNEL),
    PI_RESULT_NAME(PI_ERROR_INVALID_SAMPLER),
    PI_RESULT_NAME(PI_ERROR_INVALID_USM_POOL),
    PI_RESULT_NAME(PI_ERROR_INVALID_USM_POINTER),
    PI_RESULT_NAME(PI_ERROR_UNSUPPORTED_FEATURE),
    PI_RESULT_NAME(PI_ERROR_OUT_OF_HOST_MEMORY),
    PI_RESULT_NAME(PI_ERROR_OUT_OF_DEVICE_MEMORY),
    PI_RESULT_NAME(PI_ERROR_OUT_OF_RESOURCES),
    PI_RESULT_NAME(PI_ERROR_DEVICE_LOST),
    PI_RESULT_NAME(PI_ERROR_UNAVAILABLE),
    PI_RESULT_NAME(PI_ERROR_BUILD_FAILED),
    PI_RESULT_NAME(PI_ERROR_DEPENDENCY_FAILED),
    PI_RESULT_NAME(PI_ERROR_ABANDONED),
    PI_RESULT_NAME(PI_ERROR_TIMEOUT),
    PI_RESULT_NAME(PI_ERROR_WOULD_BLOCK),
    PI_RESULT_NAME(PI_ERROR_PROFILING_UNAVAILABLE),
    PI_RESULT_NAME(PI_ERROR_BACKEND),
    PI_RESULT_NAME(PI_ERROR_INTERNAL),
};
#undef PI_RESULT_NAME

} // namespace

Error::Error(pi_result code, const std::string &text) : std::runtime_error(text), code_(code) {}

const char *result_name(pi_result result) noexcept {
    for (const ResultName &entry : result_names) {
        if (entry.result == result) {
            return entry.name;
        }
    }
    return "unknown result";
}

std::string last_error_text(pi_result result) {
    pi_result code = PI_SUCCESS;
    const char *message = nullptr;
    if (piGetLastError(&code, &message) != PI_SUCCESS || code != result || message == nullptr) {
        return {};
    }
    return message;
}

void check(pi_result result, const char *what) {
    if (result == PI_SUCCESS) {
        return;
    }
    const std::string name = std::string(what) + ": ";
    const std::string last = last_error_text(result);
    std::string_view detail = last;
    if (detail.starts_with(name)) { // as the loader's own texts do
        detail.remove_prefix(name.size());
    }
    std::string text = name + result_name(result);
    if (!detail.empty()) {
        text.append(": ").append(detail);
    }
    throw Error(result, text);
}

} // namespace pi::runtime
