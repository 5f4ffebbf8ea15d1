// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a test asks of the plugin "lying", which stands before another plugin: its calls go there, but for those that
// lie or fail.
#pragma once

#include <pi/pi.h>

#include <cstdint>

/// The option with the path of the plugin behind it.
inline constexpr const char *lying_plugin_option = "PI_LYING_PLUGIN";
inline constexpr const char *lying_plugin_extension = "pi_test_lying_v1";

enum LyingWay : uint32_t {
    LYING_NOT = 0,
    LYING_COPIES = 1 << 0, ///< copies between two devices
    LYING_READS = 1 << 1,  ///< reads of another device's memory
    LYING_WRITES = 1 << 2, ///< writes into another device's memory
    LYING_KERNELS =
        1 << 3, ///< kernels: a launch runs the first half of its work-items; of whatever memory
    LYING_BUILDS = 1 << 4, ///< not a lie: no program builds
};

struct lying_plugin_table {
    uint32_t struct_size;
    /// From now on these commands leave every second 4 KiB page of the destination as it was, and succeed; those from
    /// `from`'s memory to others' only, or all (nullptr). Of kernels and builds `from` means nothing.
    void (*lie)(uint32_t ways, pi_device from);
    /// The N-th call from now on fails (0: none does), releases not counted.
    void (*fail_call)(uint64_t number);
    /// The calls since the last fail_call, and how many copies were among them.
    uint64_t (*calls)();
    uint64_t (*copies)();
};
