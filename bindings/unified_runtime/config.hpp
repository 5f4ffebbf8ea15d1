// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <string>

namespace pi::unified_runtime {

/// The adapter's own variables; the loader reads those of PI.
struct Config {
    /// PI_UR_STORAGE=1: every buffer is a storage, also in contexts of one device.
    bool always_storages = false;

    /// PI_UR_PLATFORM: the devices of one platform over everything. "all": all that accept SPIR-V;
    /// else a list of selectors. Empty: one platform for each of PI's.
    std::string platform{};

    static Config read();
};

} // namespace pi::unified_runtime
