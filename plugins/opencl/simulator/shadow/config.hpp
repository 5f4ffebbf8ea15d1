// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The layer's configuration: the one environment variable that it reads.
#pragma once

#include <cstddef>

namespace simulated {

/// From PI_SIMULATED_OPENCL_SHADOW_BYTES: the size in bytes from which on buffers are shadow
/// copies; 65536 by default. Exits with a message if it is not a number.
size_t read_shadow_size();

} // namespace simulated
