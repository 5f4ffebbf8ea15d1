// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Texts for people: joined pieces, and the interface's numbers by their names.
#pragma once

#include <pi/pi.h>

#include <sstream>
#include <string>

namespace pi::suite {

/// Everything that can be streamed, one after the other.
template <typename... Parts>
std::string join(const Parts &...parts) {
    std::ostringstream stream;
    (stream << ... << parts);
    return stream.str();
}

/// "0x1f"
std::string hex(uint64_t number);

/// The text before the first line break.
std::string first_line(const std::string &text);

/// "PI_ERROR_INVALID_SIZE", or "the unknown result -1000".
std::string result_name(pi_result code);

/// The calling thread's newest error, "PI_ERROR_INVALID_SIZE: size is 0".
std::string last_error();

/// The plain text of piGetLastError.
std::string last_error_text();

} // namespace pi::suite
