// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Host memory that one place imports: the host, that place and another one use it.
#pragma once

#include "verification.hpp"

#include <string>

namespace pi::loader {

/// What is seen of the memory that the request names, or of memory of the loader, when bytes do not arrive; "" if all do.
std::string verify_import(const pi_dispatch &plugin, const VerificationRequest &request);

} // namespace pi::loader
