// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The plugin's option.
#pragma once

#include <pi/pi_plugin.h>

#include <string>

namespace pi::sim {

struct Config {
    /// PI_SIM_MACHINE: the path of the machine's file.
    std::string machine;
};

/// Reads the option from the loader: plugins do not read the environment. PI_ERROR_UNAVAILABLE
/// without a machine.
Config read_config(const pi_host *host);

} // namespace pi::sim
