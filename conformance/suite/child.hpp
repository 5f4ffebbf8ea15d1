// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens in the processes in which the plugin is loaded: telling its devices, and running one
// test.
#pragma once

#include "options.hpp"

namespace pi::suite {

/// Prints {"status", "reason", "path", "version", "devices": [{"selector", "name"}]} on the result
/// descriptor. Returns the exit code.
int discover(const Options &options);

/// Runs options.run_test. With a result descriptor the verdict is told there as {"result", "reason"},
/// else on the terminal. Returns the exit code.
int run_test(const Options &options);

} // namespace pi::suite
