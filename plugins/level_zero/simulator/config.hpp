// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pi::level_zero::simulated {

/// A call that must fail: the `number`-th call of the function.
struct Fault {
    std::string function;
    unsigned call = 1;
    unsigned code = 0;
};

/// The settings from the environment; README.md lists the variables.
struct Config {
    std::string machine;                  ///< the machine file; empty: one device
    std::string kernels;                  ///< the native library for SPIR-V
    std::optional<std::uint64_t> reorder; ///< seed of the order of commands
    bool peers_disagree = false;          ///< devices report access to peers that they do not have
    bool units_of_one_tile = false;       ///< devices with tiles report the units of one tile
    std::vector<Fault> faults;
    bool image_pitches = true; ///< copies between images and memory support pitches
    bool strict = false;       ///< leaks make the process fail
};

/// For the first driver of a process (`number` empty), or the one whose file ends with "_2".
Config read_config(const std::string &number);

} // namespace pi::level_zero::simulated
