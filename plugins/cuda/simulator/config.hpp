// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pi::cuda::simulated {

/// The behaviour of cuMemHostRegister.
enum class Registration { works, refused, none };

/// The settings from the environment; README.md lists the variables.
struct Config {
    std::string machine;                  ///< the machine file; empty: one device
    std::optional<std::uint64_t> reorder; ///< seed of the delays
    unsigned max_peers = 8;               ///< number of peers that a context may enable
    int pageable = 0; ///< number of devices, from the first, that use pageable memory
    Registration registration = Registration::works;
    bool one_queue = false;  ///< a device does all work in the order of submission
    bool strict = false;     ///< leaks make the process fail
    unsigned exit_sleep = 0; ///< milliseconds, in the driver's exit handler
};

Config read_config();

} // namespace pi::cuda::simulated
