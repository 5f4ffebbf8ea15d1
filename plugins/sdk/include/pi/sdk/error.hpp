// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within a plugin errors are exceptions; at the ABI they become a code and a text.
#pragma once

#include <pi/describe/checks/check.hpp>
#include <pi/sdk/pi_sdk.h>

#include <exception>
#include <new>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace pi::checks {
inline std::ostream &operator<<(std::ostream &stream, const Name &name) {
    return stream << text_of(name);
}
} // namespace pi::checks

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

/// Joins the arguments: text("size is ", size, ", at most ", limit). Throws std::bad_alloc.
template <class... Parts>
std::string text(const Parts &...parts) {
    std::ostringstream stream;
    (stream << ... << parts);
    if (!stream) // a stream swallows an exception of its buffer
        throw std::bad_alloc();
    return stream.str();
}

/// As text(), for error texts: without memory returns a fixed text instead of throwing.
template <class... Parts>
std::string message(const Parts &...parts) noexcept {
    try {
        return text(parts...);
    } catch (...) {
        return "out of memory"; // short enough to need no allocation
    }
}

/// Copies an error's text; without memory returns a fixed text.
inline std::string copy_message(std::string_view words) noexcept {
    try {
        return std::string(words);
    } catch (...) {
        return "out of memory";
    }
}

/// Throws Error with the joined parts as its text. Without memory for the text the code is the
/// same.
template <class... Parts>
[[noreturn]] void fail(pi_result code, const Parts &...parts) {
    throw Error(code, message(parts...));
}

/// An argument's name in messages: "mem", or {"arguments", 3, "mem"} for "arguments[3].mem". It is
/// formatted only for a message, so a correct call pays nothing.
using ArgumentName = checks::Name;

namespace detail {
[[noreturn, gnu::cold, gnu::noinline]] inline void throw_refusal(checks::Check &check) {
    throw Error(check.code(), std::move(check.text()));
}
} // namespace detail

/// Throws the refusal of `body(check)`, if there is one. Inlined, because a call without errors
/// costs as much as the comparisons themselves.
template <class Body>
[[gnu::always_inline]] inline void enforce(Body &&body) {
    checks::Check check;
    std::forward<Body>(body)(check);
    if (check.failed())
        detail::throw_refusal(check);
}

/// The same for one check of pi/describe/checks: enforce<checks::check_sampler>(desc).
template <auto function, class... Arguments>
[[gnu::always_inline]] inline void enforce(const Arguments &...arguments) {
    enforce([&](checks::Check &check) { function(check, arguments...); });
}

/// PI_ERROR_INVALID_NULL_POINTER if the pointer is NULL. `name` is the argument's.
template <class T>
T *require(T *pointer, const ArgumentName &name) {
    if (!pointer)
        enforce([&](checks::Check &check) {
            check.not_null(reinterpret_cast<const void *>(pointer), name);
        });
    return pointer;
}

/// PI_ERROR_UNSUPPORTED_FEATURE if `flags` has a bit that is not in `known`.
inline void check_flags(uint64_t flags, uint64_t known, const ArgumentName &name) {
    enforce([&](checks::Check &check) { check.flags(flags, known, name); });
}

/// Returns use(code, text) for the current exception; call it inside a catch block. Needs no
/// memory.
template <class Use>
auto with_current_error(Use &&use) noexcept {
    try {
        throw;
    } catch (const Error &error) {
        return use(error.code(), error.what());
    } catch (const std::bad_alloc &) {
        return use(PI_ERROR_OUT_OF_HOST_MEMORY, "out of host memory");
    } catch (const std::system_error &error) {
        return use(PI_ERROR_OUT_OF_RESOURCES, error.what());
    } catch (const std::exception &error) {
        return use(PI_ERROR_INTERNAL, error.what());
    } catch (...) {
        return use(PI_ERROR_INTERNAL, "an exception of an unknown type");
    }
}

/// The current exception as an Error; call it inside a catch block.
inline Error current_error() noexcept {
    return with_current_error(
        [](pi_result code, const char *words) { return Error(code, copy_message(words)); });
}

/// For a catch block that continues without what failed: rethrows the exception if the cause was
/// lack of memory, since a later call may have enough.
inline void rethrow_no_memory() {
    if (current_error().code() == PI_ERROR_OUT_OF_HOST_MEMORY)
        throw;
}

/// Runs `body` and turns an exception into this thread's last error. Every entry point uses it.
template <class Body>
pi_result guard(const pi_host *host, Body &&body) noexcept {
    try {
        std::forward<Body>(body)();
        return PI_SUCCESS;
    } catch (...) {
        return with_current_error([host](pi_result code, const char *words) {
            host->set_error(host, code, words);
            return code;
        });
    }
}

} // namespace pi::sdk
