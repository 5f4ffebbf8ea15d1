// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The work of the processes that load the plugin: they list its devices or run one test.
#pragma once

#include "options.hpp"

namespace pi::suite {

/// Prints {"status", "reason", "path", "version", "devices": [{"selector", "name"}]} on the result
/// descriptor. Returns the exit code.
int discover(const Options &options);

/// Runs options.run_test. Writes the verdict to the result descriptor as {"result", "reason"}, or
/// prints it if there is none. Returns the exit code.
int run_test(const Options &options);

} // namespace pi::suite
