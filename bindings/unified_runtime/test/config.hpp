// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdlib>

namespace jit {

/// The file of the layer "trace"; NULL if the environment names none.
inline const char *trace_file() {
    return std::getenv("PI_TRACE_FILE");
}

/// Whether the programs use two sub-devices instead of whole devices.
inline bool uses_sub_devices() {
    return std::getenv("PI_TEST_SUB_DEVICES") != nullptr;
}

} // namespace jit
