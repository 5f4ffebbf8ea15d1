// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>

#include <string>

namespace pi::suite {

/// The path of a library of the suite's own, beside this program where it was built and where it is installed. Throws
/// Failure if it is missing.
std::string suite_library(const char *name);

/// Whether the device is one of a simulated driver (plugins/cuda/simulator, plugins/level_zero/simulator), and modules for
/// those: of a library of the suite, with the lines that say what is in it.
bool is_simulated(pi_device device);
std::string simulated_cuda_module(const char *library, const char *lines);
std::string simulated_level_zero_module(const char *library, const char *lines);

} // namespace pi::suite
