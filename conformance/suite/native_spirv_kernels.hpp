// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's programs that are in SPIR-V alone (spirv.hpp) as native functions, for simulated
// devices that run SPIR-V.
#pragma once

#include <pi/pi_native_kernel.h>

namespace pi::suite {

extern const pi_native_program native_spirv_program;

} // namespace pi::suite
