// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's kernels (kernels.hpp) as native functions.
#pragma once

#include <pi/pi_native_kernel.h>

namespace pi::suite {

extern const pi_native_program native_program;

/// take_N(global uchar *out, N bytes)    out[i] = byte i; N is 1, 3, 1000 or 4096
/// count_groups(global ulong *counts)    counts[0] += groups, counts[1] += work-items, counts[2] =
///                                       the end of the last group
extern const pi_native_program native_value_program;

} // namespace pi::suite
