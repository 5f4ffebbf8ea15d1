// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's program in two parts (spirv.hpp) as native functions, for simulated devices that run
// SPIR-V.
#pragma once

#include <pi/pi_native_kernel.h>

namespace pi::suite {

extern const pi_native_program native_part_program;

} // namespace pi::suite
