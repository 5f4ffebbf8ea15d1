// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The control interface of the plugin "lying", which wraps another plugin and passes calls on to
// it, except for those that lie or fail.
#pragma once

#include <pi/pi.h>

#include <cstdint>

/// The option with the path of the underlying plugin.
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
    /// From now on these commands leave every second 4 KiB page of the destination unchanged, and
    /// succeed: only those from `from`'s memory to others', or all (nullptr). `from` is ignored for
    /// kernels and builds.
    void (*lie)(uint32_t ways, pi_device from);
    /// The N-th call from now on fails (0: none), not counting releases.
    void (*fail_call)(uint64_t number);
    /// The calls since the last fail_call, and the number of copies among them.
    uint64_t (*calls)();
    uint64_t (*copies)();
};
