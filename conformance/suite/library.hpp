// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>

#include <string>

namespace pi::suite {

/// The path of one of the suite's libraries, relative to this program in the build tree and when
/// installed. Throws Failure if it is missing.
std::string suite_library(const char *name);

/// Whether the device is of a simulated driver (plugins/cuda/simulator,
/// plugins/level_zero/simulator), and modules for such devices: a library of the suite, with the
/// lines that name its contents.
bool is_simulated(pi_device device);
std::string simulated_cuda_module(const char *library, const char *lines);
std::string simulated_level_zero_module(const char *library, const char *lines);

} // namespace pi::suite
