// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "program.hpp"

namespace pi::host {

/// A name in a program. Without state: many threads may launch it.
class Kernel : public sdk::Object<Kernel, pi_kernel> {
public:
    Kernel(Program &program, const NativeKernel &native)
        : Object(program.host()), program_(program), native_(native) {}

    Program &program() const { return *program_; }
    const NativeKernel &native() const { return native_; }

private:
    const sdk::Ref<Program> program_;
    const NativeKernel &native_; ///< of the program
};

} // namespace pi::host
