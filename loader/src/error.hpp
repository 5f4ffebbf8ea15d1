// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calling thread's last error, one per thread for the whole process, and the boundary where
// exceptions end.
#pragma once

#include <pi/pi.h>

#include <fmt/format.h>

#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace pi::loader {

/// Sets the error for piGetLastError and returns the code. Never throws: without memory the text
/// says so.
pi_result fail_text(pi_result code, std::string_view message) noexcept;

/// The same with a formatted text.
template <typename... Arguments>
pi_result fail(pi_result code, fmt::format_string<Arguments...> format,
               Arguments &&...arguments) noexcept {
    try {
        return fail_text(code, fmt::format(format, std::forward<Arguments>(arguments)...));
    } catch (...) {
        return fail_text(code, "out of memory for the error's text");
    }
}

/// The current answer of piGetLastError; the text is valid until this thread's next error.
struct LastError {
    pi_result code;
    const char *message;
};
LastError last_error() noexcept;

/// Sets the thread's last error aside, so that calls inside the scope (for example of plugins) do
/// not change it. Pointers that piGetLastError returned before stay valid.
class ErrorScope {
public:
    ErrorScope() noexcept;
    ~ErrorScope();
    ErrorScope(const ErrorScope &) = delete;
    ErrorScope &operator=(const ErrorScope &) = delete;

    /// The error that a call with result `code` set inside the thread's innermost scope: its text,
    /// or the code's name if it set none.
    static std::string text(pi_result code);

private:
    pi_result code_;
    char *text_;
    std::size_t capacity_;
    bool lacks_text_;
};

/// "PI_ERROR_TIMEOUT"; nullptr for a code that pi.h does not have.
const char *result_name(pi_result code) noexcept;

/// The code of "PI_ERROR_TIMEOUT" or "TIMEOUT".
std::optional<pi_result> find_result(std::string_view name) noexcept;

/// Runs the body of an exported function and turns its exceptions into results.
template <typename Body>
pi_result guarded(const char *function, Body &&body) noexcept {
    try {
        return std::forward<Body>(body)();
    } catch (const std::bad_alloc &) {
        return fail(PI_ERROR_OUT_OF_HOST_MEMORY, "{}: out of host memory", function);
    } catch (const std::system_error &error) { // for example, no thread could be created
        const bool shortage = error.code() == std::errc::resource_unavailable_try_again;
        return fail(shortage ? PI_ERROR_OUT_OF_RESOURCES : PI_ERROR_INTERNAL, "{}: {}", function,
                    error.what());
    } catch (const std::exception &exception) {
        return fail(PI_ERROR_INTERNAL, "{}: {}", function, exception.what());
    } catch (...) {
        return fail(PI_ERROR_INTERNAL, "{}: unknown exception", function);
    }
}

} // namespace pi::loader
