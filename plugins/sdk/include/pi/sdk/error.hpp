// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors inside a plugin are exceptions; at the ABI they become a code and a text.
#pragma once

#include <pi/sdk/pi_sdk.h>

#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace pi::sdk {

/// A failed call: the code that the function returns and the text of piGetLastError.
class Error : public std::exception {
public:
    Error(pi_result code, std::string text) : code_(code), text_(std::move(text)) {}
    pi_result code() const noexcept { return code_; }
    const std::string &text() const noexcept { return text_; }
    const char *what() const noexcept override { return text_.c_str(); }

private:
    pi_result code_;
    std::string text_;
};

/// The arguments written one after another: text("size is ", size, ", at most ", limit).
template <class... Parts>
std::string text(const Parts &...parts) {
    std::ostringstream stream;
    (stream << ... << parts);
    return stream.str();
}

/// Throws Error with a text made of the parts.
template <class... Parts>
[[noreturn]] void fail(pi_result code, const Parts &...parts) {
    throw Error(code, text(parts...));
}

/// An argument's name in messages: "mem", or {"arguments", 3, ".mem"} for "arguments[3].mem". It is written out
/// only when there is a message, so it costs a correct call nothing.
struct ArgumentName {
    constexpr ArgumentName(const char *plain) noexcept : name(plain) {}
    constexpr ArgumentName(const char *array, size_t element, const char *member = "") noexcept
        : name(array), index(element), field(member) {}

    const char *name;
    size_t index = 0;
    const char *field = nullptr; ///< NULL for a plain name

    friend std::ostream &operator<<(std::ostream &stream, const ArgumentName &self) {
        stream << self.name;
        return self.field ? stream << '[' << self.index << ']' << self.field : stream;
    }
};

/// PI_ERROR_INVALID_NULL_POINTER unless the pointer is set. `name` is the argument's.
template <class T>
T *require(T *pointer, const ArgumentName &name) {
    if (!pointer)
        fail(PI_ERROR_INVALID_NULL_POINTER, name, " is NULL");
    return pointer;
}

/// PI_ERROR_UNSUPPORTED_FEATURE when `flags` has a bit that is not in `known`.
inline void check_flags(uint64_t flags, uint64_t known, const char *name) {
    if (flags & ~known)
        fail(PI_ERROR_UNSUPPORTED_FEATURE, name, " has the unknown bits 0x", std::hex,
             flags & ~known, " (known are 0x", known, ")");
}

/// The exception in flight as an Error; call it inside a catch block.
inline Error current_error() {
    try {
        throw;
    } catch (const Error &error) {
        return error;
    } catch (const std::bad_alloc &) {
        return {PI_ERROR_OUT_OF_HOST_MEMORY, "out of host memory"};
    } catch (const std::system_error &error) {
        return {PI_ERROR_OUT_OF_RESOURCES, error.what()};
    } catch (const std::exception &error) {
        return {PI_ERROR_INTERNAL, error.what()};
    } catch (...) {
        return {PI_ERROR_INTERNAL, "an exception of an unknown type"};
    }
}

/// Runs `body`; exceptions end here, as this thread's last error. Every entry point goes through it.
template <class Body>
pi_result guard(const pi_host *host, Body &&body) noexcept {
    try {
        std::forward<Body>(body)();
        return PI_SUCCESS;
    } catch (...) {
        const Error error = current_error();
        host->set_error(host, error.code(), error.text().c_str());
        return error.code();
    }
}

} // namespace pi::sdk
