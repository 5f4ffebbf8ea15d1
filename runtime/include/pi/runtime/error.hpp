// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>
#include <pi/runtime/export.hpp>

#include <stdexcept>
#include <string>

namespace pi::runtime {

/// The exception of the runtime: a pi_result and a text. The text names the argument, its value and
/// what would be right, or repeats the plugin's error. A public function that throws has changed
/// nothing.
class PI_RUNTIME_EXPORT Error : public std::runtime_error {
public:
    Error(pi_result code, const std::string &text);
    pi_result code() const noexcept { return code_; }

private:
    pi_result code_;
};

/// "PI_ERROR_OUT_OF_DEVICE_MEMORY"; "unknown result" for a code that is not in the list.
PI_RUNTIME_EXPORT const char *result_name(pi_result result) noexcept;

/// The text of the calling thread's most recent failed PI call if its code is `result`, else "".
PI_RUNTIME_EXPORT std::string last_error_text(pi_result result);

/// Throws Error("<what>: <result's name>: <text of piGetLastError>") unless result is PI_SUCCESS.
/// Call it on the thread of the PI call, before the next one.
PI_RUNTIME_EXPORT void check(pi_result result, const char *what);

} // namespace pi::runtime
