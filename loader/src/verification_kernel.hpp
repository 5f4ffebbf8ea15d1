// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A kernel of one place uses memory of another one, or of the host.
#pragma once

#include "verification.hpp"

#include <string>

namespace pi::loader {

/// Why kernels of a device cannot be tried.
struct NoKernel {
    std::string reason;
};

/// Returns how words differ that a kernel of dst reads or writes in memory of src; "" if all
/// arrive. The connection is UNIFIED. Throws NoKernel, and CallFailed as verify does.
std::string verify_kernels(const pi_dispatch &plugin, pi_plugin instance,
                           const VerificationRequest &request);

} // namespace pi::loader
