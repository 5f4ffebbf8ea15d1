// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of native kernels, and the descriptors to launch them with.
#pragma once

#include "launch.hpp"

#include <pi/pi_native_kernel.h>

namespace pi_test {

/// The table must stay as long as what is made of it.
inline Owned<pi_program> make_unbuilt(pi_context context, const pi_native_program &table) {
    auto d = pi::desc<pi_program_desc>();
    d.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    d.data = &table;
    d.size = table.struct_size;
    Owned<pi_program> program;
    OK(piProgramCreate(context, &d, program.out()));
    return program;
}
inline Owned<pi_program> make_program(pi_context context, const pi_native_program &table) {
    Owned<pi_program> program = make_unbuilt(context, table);
    OK(piProgramBuild(program, nullptr));
    return program;
}
/// A one-dimensional launch with the plugin's choice of local size.
inline pi_kernel_launch_desc launch_desc(pi_kernel kernel, uint64_t global_size,
                                         const pi_kernel_argument *arguments, uint32_t count) {
    auto d = pi::desc<pi_kernel_launch_desc>();
    d.kernel = kernel;
    d.dimensions = 1;
    d.global_size[0] = global_size;
    d.arguments = arguments;
    d.argument_count = count;
    return d;
}

} // namespace pi_test
