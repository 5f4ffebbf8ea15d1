// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace pi_bench {

struct Size {
    uint64_t bytes;
    const char *name;
};

/// "4 KiB"
inline std::string size_name(uint64_t bytes) {
    constexpr std::array units{"B", "KiB", "MiB", "GiB"};
    size_t unit = 0;
    while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < units.size()) {
        bytes /= 1024;
        ++unit;
    }
    return std::to_string(bytes) + " " + units[unit];
}

/// From sizes that fit a core's own cache to sizes that fit none.
inline constexpr std::array copy_sizes{
    Size{uint64_t{64} << 10, "64 KiB"}, Size{uint64_t{256} << 10, "256 KiB"},
    Size{uint64_t{1} << 20, "1 MiB"},   Size{uint64_t{4} << 20, "4 MiB"},
    Size{uint64_t{16} << 20, "16 MiB"}, Size{uint64_t{64} << 20, "64 MiB"}};

} // namespace pi_bench
