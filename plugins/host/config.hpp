// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The options of this plugin.
#pragma once

#include <pi/pi_plugin.h>

#include <optional>

namespace pi::host {

struct Config {
    /// PI_HOST_THREADS: the threads that run commands, and the most that one kernel uses; nullopt: one for each
    /// core.
    std::optional<unsigned> threads;
};

/// Reads the options from the loader, which alone reads the environment. A value that is not understood is a
/// warning in the log and counts as not set.
Config read_config(const pi_host *host);

} // namespace pi::host
