// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The suite's programs in SPIR-V and PTX, compiled from spirv/*.cl when the suite is built.
//
//   constants(global ulong *out)   writes six specialization constants, of these ids and types:
//                                  10 uint = 42, 7 ulong = 0x123456789abcdef0, 300 ushort = 60000,
//                                  0 uchar = 200, 5 float = 1.5, 6 bool = true; the module also has
//                                  the kernel add
//   change(global uint *data)      of two modules to link: data[i] = data[i] * factor + 1; the
//                                  factor is the specialization constant 1, a uint = 3, of the
//                                  callee
//   fours(global uint *data)       requires groups of 4, which it reverses
//   sixteens(global uint *data)    requires sub-groups of 16: data[i] += 1
#pragma once

#include "fixture.hpp"

#include <cstddef>
#include <span>

namespace pi::suite {

using Embedded = std::span<const unsigned char>;

/// The suite's kernels in OpenCL C.
Embedded opencl_c_kernels();
Embedded opencl_c_image_kernels();
/// The same in PTX; empty where the suite was built without clang.
Embedded ptx_kernels();

/// All are empty where the suite was built without a compiler for SPIR-V.
namespace spirv {
Embedded kernels();
Embedded image_kernels();
Embedded broken(); ///< calls an undefined function
Embedded constants();
Embedded caller();
Embedded callee();
Embedded groups();
Embedded sub_groups();
} // namespace spirv

/// Skips the test unless the device runs SPIR-V and the suite has some.
void need_spirv(Fixture &fixture, pi_device device = nullptr);

/// A program of SPIR-V, not built.
Program create_spirv(pi_context context, Embedded module);

} // namespace pi::suite
