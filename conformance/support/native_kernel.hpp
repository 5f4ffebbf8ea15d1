// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs of native kernels, and the descriptors to launch them with.
#pragma once

#include "objects.hpp"

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
inline Owned<pi_kernel> make_kernel(pi_program program, const char *name) {
    Owned<pi_kernel> kernel;
    OK(piKernelCreate(program, name, nullptr, kernel.out()));
    return kernel;
}

inline pi_kernel_argument buffer(pi_mem mem, uint64_t offset = 0, uint64_t size = 0) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_BUFFER;
    argument.mem = mem;
    argument.offset = offset;
    argument.size = size;
    return argument;
}
template <class T>
pi_kernel_argument value(const T &of) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_VALUE;
    argument.value = &of;
    argument.size = sizeof of;
    return argument;
}
inline pi_kernel_argument local(uint64_t size) {
    pi_kernel_argument argument{};
    argument.kind = PI_ARGUMENT_LOCAL;
    argument.size = size;
    return argument;
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
