// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "error.hpp"

#include "functions.hpp"

#include <cstdlib>
#include <cstring>

namespace pi::loader {
namespace {

// Trivially destructible, so that destructors that run later at the end of the thread or process
// can still set an error. The guard frees the text.
struct ThreadError {
    pi_result code;
    char *text;
    std::size_t capacity;
    bool lacks_text; // out of memory for the text
    bool closed;
};

constinit thread_local ThreadError thread_error{PI_SUCCESS, nullptr, 0, false, false};

struct ThreadErrorGuard {
    bool armed = false;
    ~ThreadErrorGuard() {
        std::free(thread_error.text);
        thread_error = {thread_error.code, nullptr, 0, thread_error.lacks_text, true};
    }
};

thread_local ThreadErrorGuard thread_error_guard;

// Makes room for a text of `size` bytes and its NUL. False without memory or at the thread's end.
bool reserve(std::size_t size) noexcept {
    if (thread_error.closed)
        return false;
    thread_error_guard.armed = true; // the first use registers its destructor
    if (size < thread_error.capacity)
        return true;
    const std::size_t capacity = size + 1 < 256 ? 256 : size + 1;
    auto *text = static_cast<char *>(std::realloc(thread_error.text, capacity));
    if (text == nullptr)
        return false;
    thread_error.text = text;
    thread_error.capacity = capacity;
    return true;
}

struct ResultName {
    pi_result code;
    const char *name;
};

constexpr ResultName result_names[] = {
// clang-format off
#define PI_LOADER_RESULT(name) {name, #name}
    PI_LOADER_RESULT(PI_SUCCESS),
    PI_LOADER_RESULT(PI_ERROR_INVALID_VALUE),
    PI_LOADER_RESULT(PI_ERROR_INVALID_NULL_POINTER),
    PI_LOADER_RESULT(PI_ERROR_INVALID_SIZE),
    PI_LOADER_RESULT(PI_ERROR_INVALID_ENUMERATION),
    PI_LOADER_RESULT(PI_ERROR_INVALID_DESCRIPTOR),
    PI_LOADER_RESULT(PI_ERROR_MISALIGNED_OFFSET),
    PI_LOADER_RESULT(PI_ERROR_MISALIGNED_POINTER),
    PI_LOADER_RESULT(PI_ERROR_INVALID_ALIGNMENT),
    PI_LOADER_RESULT(PI_ERROR_MEM_COPY_OVERLAP),
    PI_LOADER_RESULT(PI_ERROR_INVALID_WAIT_LIST),
    PI_LOADER_RESULT(PI_ERROR_INVALID_WORK_SIZE),
    PI_LOADER_RESULT(PI_ERROR_INVALID_ARGUMENTS),
    PI_LOADER_RESULT(PI_ERROR_INVALID_NAME),
    PI_LOADER_RESULT(PI_ERROR_INVALID_BINARY),
    PI_LOADER_RESULT(PI_ERROR_INVALID_OPERATION),
    PI_LOADER_RESULT(PI_ERROR_INVALID_NATIVE_HANDLE),
    PI_LOADER_RESULT(PI_ERROR_INVALID_LOADER),
    PI_LOADER_RESULT(PI_ERROR_INVALID_PLUGIN),
    PI_LOADER_RESULT(PI_ERROR_INVALID_PLATFORM),
    PI_LOADER_RESULT(PI_ERROR_INVALID_DEVICE),
    PI_LOADER_RESULT(PI_ERROR_INVALID_CONTEXT),
    PI_LOADER_RESULT(PI_ERROR_INVALID_QUEUE),
    PI_LOADER_RESULT(PI_ERROR_INVALID_MEM_OBJECT),
    PI_LOADER_RESULT(PI_ERROR_INVALID_EVENT),
    PI_LOADER_RESULT(PI_ERROR_INVALID_PROGRAM),
    PI_LOADER_RESULT(PI_ERROR_INVALID_KERNEL),
    PI_LOADER_RESULT(PI_ERROR_INVALID_SAMPLER),
    PI_LOADER_RESULT(PI_ERROR_INVALID_USM_POOL),
    PI_LOADER_RESULT(PI_ERROR_INVALID_USM_POINTER),
    PI_LOADER_RESULT(PI_ERROR_UNSUPPORTED_FEATURE),
    PI_LOADER_RESULT(PI_ERROR_OUT_OF_HOST_MEMORY),
    PI_LOADER_RESULT(PI_ERROR_OUT_OF_DEVICE_MEMORY),
    PI_LOADER_RESULT(PI_ERROR_OUT_OF_RESOURCES),
    PI_LOADER_RESULT(PI_ERROR_DEVICE_LOST),
    PI_LOADER_RESULT(PI_ERROR_UNAVAILABLE),
    PI_LOADER_RESULT(PI_ERROR_BUILD_FAILED),
    PI_LOADER_RESULT(PI_ERROR_DEPENDENCY_FAILED),
    PI_LOADER_RESULT(PI_ERROR_ABANDONED),
    PI_LOADER_RESULT(PI_ERROR_TIMEOUT),
    PI_LOADER_RESULT(PI_ERROR_WOULD_BLOCK),
    PI_LOADER_RESULT(PI_ERROR_PROFILING_UNAVAILABLE),
    PI_LOADER_RESULT(PI_ERROR_BACKEND),
    PI_LOADER_RESULT(PI_ERROR_INTERNAL),
#undef PI_LOADER_RESULT
    // clang-format on
};

constexpr const char *kind_names[] = {"object",  "loader",  "plugin", "platform", "device",
                                      "context", "queue",   "mem",    "event",    "program",
                                      "kernel",  "sampler", "pool"};

} // namespace

pi_result fail_text(pi_result code, std::string_view message) noexcept {
    thread_error.code = code;
    thread_error.lacks_text = !reserve(message.size());
    if (thread_error.lacks_text)
        return code;
    // The message may be the old text itself, passed back by a plugin.
    std::memmove(thread_error.text, message.data(), message.size());
    thread_error.text[message.size()] = '\0';
    return code;
}

LastError last_error() noexcept {
    if (thread_error.lacks_text)
        return {thread_error.code, "out of memory for the error's text"};
    return {thread_error.code, thread_error.text != nullptr ? thread_error.text : ""};
}

ErrorScope::ErrorScope() noexcept
    : code_(thread_error.code), text_(thread_error.text), capacity_(thread_error.capacity),
      lacks_text_(thread_error.lacks_text) {
    thread_error = {PI_SUCCESS, nullptr, 0, false, thread_error.closed};
}

ErrorScope::~ErrorScope() {
    std::free(thread_error.text);
    thread_error = {code_, text_, capacity_, lacks_text_, thread_error.closed};
}

std::string ErrorScope::text(pi_result code) {
    const LastError error = last_error();
    const char *name = result_name(code);
    if (error.code == code && error.message[0] != '\0')
        return error.message;
    return name != nullptr ? std::string(name) : fmt::format("unknown result {}", code);
}

const char *result_name(pi_result code) noexcept {
    for (const ResultName &row : result_names) {
        if (row.code == code)
            return row.name;
    }
    return nullptr;
}

std::optional<pi_result> find_result(std::string_view name) noexcept {
    constexpr std::string_view prefix = "PI_ERROR_";
    for (const ResultName &row : result_names) {
        const std::string_view known = row.name;
        if (known == name ||
            (known.substr(0, prefix.size()) == prefix && known.substr(prefix.size()) == name))
            return row.code;
    }
    return std::nullopt;
}

const char *kind_name(pi_kind kind) noexcept {
    return kind_names[kind < std::size(kind_names) ? kind : 0];
}

} // namespace pi::loader

pi_result piGetLastError(pi_result *out_code, const char **out_message) {
    const pi::loader::LastError error = pi::loader::last_error();
    if (out_code != nullptr)
        *out_code = error.code;
    if (out_message != nullptr)
        *out_message = error.message;
    return PI_SUCCESS;
}
