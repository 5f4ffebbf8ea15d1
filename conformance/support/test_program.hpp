// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What test programs without Catch2 share: descriptors, a native kernel, children.
#pragma once

#include <pi/describe/descriptor.hpp>
#include <pi/pi.h>
#include <pi/pi_native_kernel.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace pi_test {

inline pi_region linear(uint64_t size) {
    pi_region region{};
    region.extent[0] = size;
    return region;
}

/// "add_one": to each byte of the buffer that is its argument.
inline void PI_CALL add_one(const pi_native_group *group, void *const *arguments) {
    auto *bytes = static_cast<unsigned char *>(arguments[0]);
    for (uint64_t i = group->begin[0]; i < group->end[0]; ++i)
        ++bytes[i];
}
inline constexpr pi_native_kernel add_one_kernels[] = {{"add_one", add_one, 1, 0, {}}};
inline constexpr pi_native_program add_one_program = {sizeof add_one_program, 1, add_one_kernels};

/// Not built yet.
inline pi_result make_add_one(pi_context context, pi_program *out_program) {
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &add_one_program;
    desc.size = sizeof add_one_program;
    return piProgramCreate(context, &desc, out_program);
}

/// A launch of it on `size` bytes of `argument`, which must stay.
inline pi_kernel_launch_desc launch_of(pi_kernel kernel, const pi_kernel_argument &argument,
                                       uint64_t size) {
    auto launch = pi::desc<pi_kernel_launch_desc>();
    launch.kernel = kernel;
    launch.dimensions = 1;
    launch.argument_count = 1;
    launch.arguments = &argument;
    launch.global_size[0] = size;
    return launch;
}

/// The process goes on when a child has done this, and ended with 0.
template <class Work>
void in_child(const Work &work) {
    const pid_t child = fork();
    if (child == 0) {
        alarm(120); // so that one that hangs is seen
        work();
        std::exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) ||
        WEXITSTATUS(status) != 0) {
        std::fprintf(stderr, "the child ended with status %#x\n", static_cast<unsigned>(status));
        std::_Exit(1);
    }
}

} // namespace pi_test
