// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Common parts of the tests of the layer validate.
#pragma once

#include "equipment.hpp"

#include <pi/pi_native_kernel.h>

namespace layer_test {

// The layer fault below it counts the calls that reach the plugin.
inline Description counted(const std::string &faults = "", CapturedLog *log = nullptr) {
    return with_layers({"validate", "fault"}, {{"PI_FAULT", faults}}, log);
}

inline void PI_CALL no_work(const pi_native_group *, void *const *) {}

struct Kernel {
    pi_program program = nullptr;
    pi_kernel kernel = nullptr;
};

inline pi_program make_program(const Machine &machine) {
    static const pi_native_kernel kernels[] = {{"nothing", no_work, 2, 0}};
    static const pi_native_program table = {sizeof table, 1, kernels};
    auto desc = pi::desc<pi_program_desc>();
    desc.format = PI_PROGRAM_FORMAT_NATIVE_TABLE;
    desc.data = &table;
    desc.size = sizeof table;
    pi_program program = nullptr;
    OK(piProgramCreate(machine.context, &desc, &program));
    return program;
}

inline Kernel make_kernel(const Machine &machine) {
    Kernel made;
    made.program = make_program(machine);
    OK(piProgramBuild(made.program, nullptr));
    OK(piKernelCreate(made.program, "nothing", nullptr, &made.kernel));
    return made;
}

} // namespace layer_test
