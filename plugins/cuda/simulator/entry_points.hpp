// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/cuda/driver_api.h>

/// Declares what the driver may define: a definition with another type than the list's does not compile. A definition in
/// namespace pi::cuda is one of the C function.
namespace pi::cuda {
extern "C" {
#define PI_CUDA_FUNCTION(name, symbol, since, need, parameters)                                    \
    __attribute__((visibility("default"))) CUresult symbol parameters;
#include <pi/cuda/driver_functions.def>

/// Not of CUDA: how many objects are leaked, and which, into `text` (ends with 0, cut at `size`; may be null). Leaked is what
/// lives now, and what lived when its context was destroyed. A context that an error has spoilt leaks nothing.
__attribute__((visibility("default"))) int pi_simulated_cuda_leaks(char *text, size_t size);
}
} // namespace pi::cuda
