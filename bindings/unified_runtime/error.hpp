// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors: PI's codes as UR's, and exceptions that never leave the adapter.
#pragma once

#include <pi/runtime/error.hpp>
#include <unified-runtime/ur_api.h>

#include <exception>
#include <new>
#include <string>
#include <type_traits>

namespace pi::unified_runtime {

/// An error that has a UR code of its own.
class Refusal : public std::exception {
public:
    Refusal(ur_result_t code, std::string text) : code_(code), text_(std::move(text)) {}
    ur_result_t code() const noexcept { return code_; }
    const char *what() const noexcept override { return text_.c_str(); }

private:
    ur_result_t code_;
    std::string text_;
};

inline void refuse_if(bool condition, ur_result_t code, const char *text) {
    if (condition) {
        throw Refusal(code, text);
    }
}

/// UR_RESULT_ERROR_ADAPTER_SPECIFIC if UR has no code for it.
ur_result_t to_ur(pi_result result) noexcept;

/// Keeps the calling thread's error for urAdapterGetLastError, passes it to the logger, and returns
/// the code.
ur_result_t report(ur_result_t code, pi_result pi_code, const char *text) noexcept;

/// Trivial, so that threads may report errors while the process exits.
struct LastError {
    char text[1024];
    pi_result code;
};
/// Of the calling thread.
const LastError &last_error() noexcept;

/// Calls the function, and turns its exception into a code. The function returns nothing, or a
/// code.
template <class Function>
ur_result_t boundary(Function &&function) noexcept {
    try {
        if constexpr (std::is_void_v<std::invoke_result_t<Function>>) {
            function();
            return UR_RESULT_SUCCESS;
        } else {
            return function();
        }
    } catch (const Refusal &refusal) {
        return report(refusal.code(), PI_SUCCESS, refusal.what());
    } catch (const runtime::Error &error) {
        return report(to_ur(error.code()), error.code(), error.what());
    } catch (const std::bad_alloc &) {
        return report(UR_RESULT_ERROR_OUT_OF_HOST_MEMORY, PI_ERROR_OUT_OF_HOST_MEMORY,
                      "out of host memory");
    } catch (const std::exception &error) {
        return report(UR_RESULT_ERROR_ADAPTER_SPECIFIC, PI_ERROR_INTERNAL, error.what());
    } catch (...) { // of a function that the caller gave
        return report(UR_RESULT_ERROR_ADAPTER_SPECIFIC, PI_ERROR_INTERNAL,
                      "an exception that is not a std::exception");
    }
}

} // namespace pi::unified_runtime
