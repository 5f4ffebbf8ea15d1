// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a statement of a case ends the case.
#pragma once

#include <pi/pi.h>

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

namespace pi_run {

/// A result or a byte is wrong.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// A command does not end: its memory cannot be freed.
struct Hang : Failure {
    using Failure::Failure;
};
/// The plugin has not what the case needs.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The text of this thread's last failed call.
std::string last_error();
/// "INVALID_SIZE".
std::string name_of_code(pi_result result);
/// Throws Failure, or Unsupported, unless the call succeeded; `what` names it.
void require_success(pi_result result, const std::string &what);
/// Throws Failure with the first byte that differs; `what` names the bytes, which begin at `offset`
/// of it.
void require_equal(const std::string &what, uint64_t offset,
                   std::span<const unsigned char> expected, std::span<const unsigned char> bytes);

/// The longest wait for a command of a case, in nanoseconds.
inline constexpr uint64_t case_patience = UINT64_C(20'000'000'000);

} // namespace pi_run
