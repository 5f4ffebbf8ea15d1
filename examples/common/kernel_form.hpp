// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <pi/pi.h>

#include <cstdint>

namespace examples {

/// The kernels in one program format.
struct KernelForm {
    pi_program_format format = 0; ///< 0: none
    const void *data = nullptr;
    uint64_t size = 0;
};

} // namespace examples
