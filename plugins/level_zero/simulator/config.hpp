// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pi::level_zero::simulated {

/// A call that is to fail: the one of this number of the function.
struct Fault {
    std::string function;
    unsigned call = 1;
    unsigned code = 0;
};

/// What the environment says; README.md lists the variables.
struct Config {
    std::string machine;                  ///< the file; empty: one device
    std::string kernels;                  ///< the native library for SPIR-V
    std::optional<std::uint64_t> reorder; ///< the seed of the order of commands
    bool peers_disagree = false;    ///< devices claim an access to peers that they do not have
    bool units_of_one_tile = false; ///< devices that have tiles tell the units of one
    std::vector<Fault> faults;
    bool image_pitches = true; ///< copies between images and memory know pitches
    bool strict = false;       ///< leaks make the process fail
};

/// Of the first driver of a process, or of one whose file has this number: "_2", or empty.
Config read_config(const std::string &number);

} // namespace pi::level_zero::simulated
