// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pi::cuda::simulated {

/// What becomes of cuMemHostRegister.
enum class Registration { works, refused, none };

/// What the environment says; README.md lists the variables.
struct Config {
    std::string machine;                  ///< the file; empty: one device
    std::optional<std::uint64_t> reorder; ///< the seed of the delays
    unsigned max_peers = 8;               ///< contexts that a context may use the memory of
    int pageable = 0;                     ///< devices, the first ones, that use pageable memory
    Registration registration = Registration::works;
    bool one_queue = false;  ///< a device does all work in the order it was given
    bool strict = false;     ///< leaks make the process fail
    unsigned exit_sleep = 0; ///< milliseconds, in the driver's exit handler
};

Config read_config();

} // namespace pi::cuda::simulated
