// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs files of cases, each with a loader of its own.
#pragma once

#include <pi/run/case.hpp>

#include <string>

namespace pi_run {

/// Runs the case of a file on the selector's devices; "" = those of PI_DEVICE_SELECTOR, else all.
/// Throws std::runtime_error for a file that is not a case, and for a machine that is missing.
CaseResult run_case_file(const std::string &path, const std::string &selector);

} // namespace pi_run
