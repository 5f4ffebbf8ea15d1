// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/cuda/driver_api.h>

/// Declares all entry points that the driver may define, so that a definition with another type
/// does not compile. A definition in namespace pi::cuda defines the C function.
namespace pi::cuda {
extern "C" {
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    __attribute__((visibility("default"))) CUresult symbol parameters;
#include <pi/cuda/driver_functions.def>

/// Not part of CUDA: writes a description of leaked objects into `text` (0-terminated, cut at
/// `size`; may be null) and returns their number. Leaked are all live objects, and those that were
/// alive when their context was destroyed. A context destroyed by an error leaks nothing.
__attribute__((visibility("default"))) int pi_simulated_cuda_leaks(char *text, size_t size);
}
} // namespace pi::cuda
