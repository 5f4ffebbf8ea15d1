// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer's configuration: the two environment variables that it reads.
#pragma once

#include <string>

namespace simulated {

/// The way to USM that the devices have.
enum class UsmMode {
    INTEL,  ///< cl_intel_unified_shared_memory, and no shared virtual memory
    SYSTEM, ///< shared virtual memory, fine-grain over the whole system
    SVM,    ///< shared virtual memory in buffers
};

struct UsmConfig {
    /// From PI_SIMULATED_OPENCL_USM: "intel" (the default), "system" or "svm". Exits with a message
    /// for any other value.
    UsmMode mode = UsmMode::INTEL;
    std::string name; ///< the mode's
    /// From PI_SIMULATED_OPENCL_USM_MISSING: a function of the extension that is not found.
    std::string missing;
};
UsmConfig read_usm_config();

} // namespace simulated
