// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Specialization constants. No backend that the suite has met takes them yet: what can be held is the refusal.

#include "checks.hpp"
#include "kernels.hpp"
#include "registry.hpp"

namespace pi::suite {
namespace {

LAW("program", "specialization constants that the device does not have are unsupported") {
    bench.need(PI_CAPABILITY_PROGRAM, "PI_CAPABILITY_PROGRAM");
    if (bench.can(PI_CAPABILITY_SPECIALIZATION))
        skip("the device has PI_CAPABILITY_SPECIALIZATION");
    const Program program = make_program(bench);
    const uint32_t value = 7;
    pi_specialization_constant constant{};
    constant.size = sizeof value;
    constant.value = &value;
    require_error(piProgramSetSpecializationConstants(program, 1, &constant),
                  PI_ERROR_UNSUPPORTED_FEATURE, "piProgramSetSpecializationConstants");
    // The refusal has left the program as it was.
    require(make_kernel(program, "add").get() != nullptr, "there is no kernel add");
}

} // namespace
} // namespace pi::suite
