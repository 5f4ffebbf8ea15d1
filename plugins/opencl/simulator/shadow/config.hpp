// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one environment variable that the layer of shadow copies reads.
#pragma once

#include <cstddef>

namespace simulated {

/// From PI_SIMULATED_OPENCL_SHADOW_BYTES: the size in bytes from which on buffers are shadow copies;
/// 65536 when it is not set. Ends the process with a message when it is not a number.
size_t read_shadow_size();

} // namespace simulated
