// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of this plugin.
#pragma once

#include <pi/pi_plugin.h>

#include <optional>

namespace pi::host {

struct Config {
    /// PI_HOST_THREADS: the number of threads that run commands, and the most for one kernel;
    /// nullopt: one for each core.
    std::optional<unsigned> threads;
};

/// Reads the options from the loader: plugins do not read the environment. A value that cannot be
/// parsed is logged as a warning and counts as not set.
Config read_config(const pi_host *host);

} // namespace pi::host
